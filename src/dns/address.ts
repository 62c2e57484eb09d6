import { isIPv4, isIPv6 } from 'node:net';
import { parseName } from './name.ts';
import type { Name } from './name.ts';

/** The four or sixteen bytes of an address, one character a byte; undefined if it is not an address. */
export function parseAddress(text: string): string | undefined {
  if (isIPv4(text)) return String.fromCharCode(...text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return parseIPv6(text);
}

function parseIPv6(text: string): string {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (dotted) {
    const [high, low] = [
      Number(dotted[2]) * 256 + Number(dotted[3]),
      Number(dotted[4]) * 256 + Number(dotted[5]),
    ];
    return parseIPv6(`${dotted[1]}${high.toString(16)}:${low.toString(16)}`);
  }
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return String.fromCharCode(...all.flatMap((group) => [group >> 8, group & 0xff]));
}

/** Writes an address from its bytes. IPv6 in the canonical form of RFC 5952. */
export function formatAddress(bytes: string): string {
  const codes = Array.from(bytes, (char) => char.charCodeAt(0));
  if (codes.length === 4) return codes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((codes[2 * i]! << 8) | codes[2 * i + 1]!).toString(16));
  // The longest run of zeros becomes `::`, the first of several, and never a single one.
  let [from, length] = [0, 1];
  for (let start = 0, end = 0; start < 8; start = end + 1) {
    for (end = start; groups[end] === '0';) end++;
    if (end - start > length) [from, length] = [start, end - start];
  }
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, from).join(':')}::${groups.slice(from + length).join(':')}`;
}

/** The name under which PTR records of an address live. */
export function reverseName(address: string): Name | undefined {
  const bytes = parseAddress(address);
  if (bytes === undefined) return undefined;
  const codes = Array.from(bytes, (char) => char.charCodeAt(0)).toReversed();
  if (bytes.length === 4) return parseName(`${codes.join('.')}.in-addr.arpa`);
  const nibbles = codes.flatMap((code) => [(code & 15).toString(16), (code >> 4).toString(16)]);
  return parseName(`${nibbles.join('.')}.ip6.arpa`);
}

/** A client's address in the form the hot path wants: a reused buffer, IPv4 in its first four bytes. */
export interface ClientAddress {
  readonly bytes: Uint8Array;
  length: 4 | 16;
}

export function createClientAddress(): ClientAddress {
  return { bytes: new Uint8Array(16), length: 4 };
}

/** Sets a client address from sixteen bytes; one that was mapped from IPv4 (::ffff:0:0/96) becomes IPv4 again. */
export function setAddress6(client: ClientAddress, source: Uint8Array, at: number): void {
  let mapped = source[at + 10] === 0xff && source[at + 11] === 0xff;
  for (let i = 0; mapped && i < 10; i++) mapped = source[at + i] === 0;
  client.length = mapped ? 4 : 16;
  const from = mapped ? at + 12 : at;
  for (let i = 0; i < client.length; i++) client.bytes[i] = source[from + i]!;
}

/** Sets a client address from text, as node gives it. */
export function setAddressText(client: ClientAddress, text: string): void {
  const zone = text.indexOf('%'); // fe80::1%eth0: the interface is no part of the address
  const bytes = parseAddress(zone < 0 ? text : text.slice(0, zone)) ?? '\0\0\0\0';
  if (bytes.length === 16) {
    setAddress6(
      client,
      Uint8Array.from(bytes, (char) => char.charCodeAt(0)),
      0,
    );
    return;
  }
  client.length = 4;
  for (let i = 0; i < 4; i++) client.bytes[i] = bytes.charCodeAt(i);
}

/** A network in CIDR notation. */
export interface Network {
  bytes: string;
  prefix: number;
}

/** Reads `10.0.0.0/8`, `fc00::/7` or a single address; undefined if it is none of them. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const bytes = parseAddress(address);
  if (bytes === undefined || rest.length > 0) return undefined;
  const width = bytes.length * 8;
  if (prefix !== undefined && (!/^\d{1,3}$/.test(prefix) || Number(prefix) > width)) return undefined;
  return { bytes, prefix: prefix === undefined ? width : Number(prefix) };
}

/** Whether the client is in any of the networks. */
export function inNetworks(client: ClientAddress, networks: readonly Network[]): boolean {
  for (const network of networks) if (inNetwork(client, network)) return true;
  return false;
}

function inNetwork(client: ClientAddress, network: Network): boolean {
  if (network.bytes.length !== client.length) return false;
  const whole = network.prefix >> 3;
  for (let i = 0; i < whole; i++) if (client.bytes[i] !== network.bytes.charCodeAt(i)) return false;
  const rest = network.prefix & 7;
  if (rest === 0) return true;
  return (client.bytes[whole]! ^ network.bytes.charCodeAt(whole)) >> (8 - rest) === 0;
}
