import { isIP, isIPv6 } from 'node:net';
import type { X509Certificate } from 'node:crypto';

/** The names that a certificate is good for: DNS names and addresses, each in one spelling, so that two sets can be compared. */

const DNS_NAME = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?$/;
const MOST_DNS_CHARACTERS = 253;

/** The one spelling of a DNS name or an address; undefined for what is neither. */
export function canonicalName(name: string): string | undefined {
  // What looks like an address but is none, such as 10.0.0.256, is nobody's DNS name either.
  if (isIPv6(name)) return name.includes('%') ? undefined : new URL(`http://[${name}]`).hostname.slice(1, -1);
  if (isIP(name)) return name;
  const lower = name.toLowerCase().replace(/\.$/, '');
  const isNumeric = /^[0-9.]+$/.test(lower);
  return lower.length <= MOST_DNS_CHARACTERS && DNS_NAME.test(lower) && !isNumeric ? lower : undefined;
}

/** Names in their one spelling, sorted, each once; those that cannot be put into a certificate apart. */
export function sortNames(names: readonly string[]): { names: string[]; unusable: string[] } {
  const spelled = names.map((name) => ({ name, canonical: canonicalName(name) }));
  return {
    names: [...new Set(spelled.flatMap(({ canonical }) => canonical ?? []))].toSorted(),
    unusable: spelled.filter(({ canonical }) => canonical === undefined).map(({ name }) => name),
  };
}

/** The DNS names and addresses of a certificate, as `sortNames` has them. */
export function alternativeNamesOf(certificate: X509Certificate): string[] {
  const parts = certificate.subjectAltName?.split(', ') ?? [];
  return sortNames(parts.flatMap((part) => /^(?:DNS|IP Address):(.*)$/.exec(part)?.[1] ?? [])).names;
}
