import { isIP, isIPv6 } from 'node:net';
import { InvalidArgumentError, Option } from 'commander';
import { duration } from '../ops/duration.ts';
import { PACKAGE_NAME } from '../ops/filter-module.ts';
import { LOG_LEVELS } from '../ops/log.ts';
import type { LogLevel } from '../ops/log.ts';

/** The `--log-level` option, the same on every command that runs on. */
export function logLevelOption(fallback: LogLevel = 'info'): Option {
  return new Option('--log-level <level>', 'how much is logged').choices(LOG_LEVELS).default(fallback);
}

/** Reads a port number; anything else is a usage error. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is 0 to 65535.');
  return port;
}

/** Reads `90s` or `5m`, as milliseconds. */
export function parseDuration(text: string): number {
  const parsed = duration.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError('a duration such as 90s or 5m.');
  return parsed.data;
}

/** Reads a whole number of at least one. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('a whole number of at least 1.');
  return count;
}

/** Reads `one,two`: each once, and at least one of them. */
export function parseList(text: string): string[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (words.length === 0) throw new InvalidArgumentError('name at least one, several separated by commas.');
  return [...new Set(words)];
}

/** What can be a part of a DNS name. */
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Reads the name of a namespace. */
export function parseNamespace(text: string): string {
  if (!LABEL.test(text))
    throw new InvalidArgumentError(
      `"${text}" cannot be a namespace: at most 63 lower-case letters, digits and hyphens inside.`,
    );
  return text;
}

/** Reads the id of a cluster, which is a part of DNS names. */
export function parseClusterId(text: string): string {
  if (!LABEL.test(text))
    throw new InvalidArgumentError(
      `"${text}" cannot be the id of a cluster: at most 63 lower-case letters, digits and hyphens inside.`,
    );
  return text;
}

/** As many as a status has. */
const MAX_CLUSTERS = 8;

/** Reads ids of clusters. */
export function parseClusterIds(text: string): string[] {
  const ids = parseList(text).map(parseClusterId);
  if (ids.length > MAX_CLUSTERS) throw new InvalidArgumentError(`at most ${MAX_CLUSTERS}.`);
  return ids;
}

/**
 * Reads the names of namespaces. None at all, as of a variable that is not set, is an error: it must not be taken for all
 * of them, to which it would grant rights.
 */
export function parseNamespaces(text: string): string[] {
  return parseList(text).map(parseNamespace);
}

/** Reads networks (`127.0.0.0/8`) and addresses. */
export function parseNetworks(text: string): string[] {
  const networks = parseList(text);
  const wrong = networks.find((one) => {
    const [address = '', bits, ...rest] = one.split('/');
    const most = isIPv6(address) ? 128 : 32;
    const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
    return isIP(address) === 0 || !isPrefix || rest.length > 0;
  });
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is no network, as 127.0.0.0/8 is.`);
  return networks;
}

/** Reads the names of npm packages. */
export function parsePackages(text: string): string[] {
  const names = parseList(text);
  const wrong = names.find((name) => !PACKAGE_NAME.test(name));
  if (wrong !== undefined)
    throw new InvalidArgumentError(`"${wrong}" is not the name of an npm package; paths are not taken.`);
  return names;
}

/** Reads the reference of a container image. */
export function parseImage(text: string): string {
  if (!/^\S+$/.test(text))
    throw new InvalidArgumentError('name an image, e.g. registry.example.com/isthmus:1.0.');
  return text;
}

/** Reads `VERSION=IMAGE` of one of several options of the same name, on top of those before. */
export function parseVersionedImage(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const [, version, image] = /^(\d+\.\d+\.\d+)=(\S+)$/.exec(text) ?? [];
  if (version === undefined || image === undefined)
    throw new InvalidArgumentError(
      'name a version and an image, e.g. 4.3.1=registry.example.com/kafka:4.3.1.',
    );
  return { ...before, [version]: image };
}

/** Reads an address such as `http://external-dns.dns:7979/metrics`. */
export function parseHttpUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' && url.hostname !== '' && url.username === '') return url.href;
  throw new InvalidArgumentError('a URL, as in http://external-dns.dns:7979/metrics.');
}

/** Reads the address of a DNS server, as `192.0.2.53` or `[2001:db8::53]:5353`. */
export function parseResolver(text: string): string {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(text);
  const address = isIP(text) === 0 ? (match?.[1] ?? match?.[2] ?? '') : text;
  if (isIP(address) === 0)
    throw new InvalidArgumentError('an address, as in 192.0.2.53 or [2001:db8::53]:5353.');
  return isIPv6(text) ? `[${text}]` : text;
}
