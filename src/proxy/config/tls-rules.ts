import { DEFAULT_CIPHERS, getCiphers } from 'node:tls';
import type { TlsRules, TlsVersion } from './model.ts';
import type { AllowDeny } from './schema.ts';

const VERSIONS: readonly TlsVersion[] = ['TLSv1.2', 'TLSv1.3'];
const TLS13_SUITES = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];

/** CCM suites of TLS 1.2 are not in Node's OpenSSL. */
const NEVER_SPOKEN = /-CCM8?$/;

/** Turns lists of allowed and denied names into what Node's TLS takes; a sentence says what is wrong with them. */
export function tlsRules(
  protocols: AllowDeny | undefined,
  cipherSuites: AllowDeny | undefined,
): TlsRules | { problem: string; key: 'protocols' | 'cipherSuites' } {
  const versions = allowedVersions(protocols);
  if (typeof versions === 'string') return { problem: versions, key: 'protocols' };
  const ciphers = allowedCiphers(cipherSuites);
  if (typeof ciphers === 'object') return { ...ciphers, key: 'cipherSuites' };
  return { ...versions, ciphers };
}

function allowedVersions(list: AllowDeny | undefined): Pick<TlsRules, 'minVersion' | 'maxVersion'> | string {
  if (!list) return { minVersion: undefined, maxVersion: undefined };
  const wanted = VERSIONS.filter(
    (version) => (list.allowed?.includes(version) ?? true) && !list.denied?.includes(version),
  );
  if (wanted.length === 0) return `leaves no protocol version; known are ${VERSIONS.join(' and ')}`;
  return { minVersion: wanted[0], maxVersion: wanted.at(-1) };
}

function allowedCiphers(list: AllowDeny | undefined): string | undefined | { problem: string } {
  if (!list) return undefined;
  const known = new Set(getCiphers().map((cipher) => cipher.toUpperCase()));
  const names = (suites: string[]) => suites.map(opensslName);
  const allowed = list.allowed ? names(list.allowed) : [...TLS13_SUITES, ...defaultCiphers(known)];
  const denied = new Set(names(list.denied ?? []));
  // A misspelt name must not look denied; but suites that OpenSSL never speaks may be denied all the same.
  const unknown = [...allowed, ...[...denied].filter((name) => !NEVER_SPOKEN.test(name))].find(
    (name) => !known.has(name.toUpperCase()),
  );
  if (unknown !== undefined) return { problem: `has an unknown cipher suite: ${unknown}` };
  const left = allowed.filter((name) => !denied.has(name));
  return left.length > 0 ? left.join(':') : { problem: 'leaves no cipher suite' };
}

/** The default is a list of names, groups and exclusions; only the names can be taken out one by one. */
function defaultCiphers(known: ReadonlySet<string>): string[] {
  return DEFAULT_CIPHERS.split(':').filter((name) => known.has(name) && !name.startsWith('TLS_'));
}

/** TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 is ECDHE-RSA-AES128-GCM-SHA256 to OpenSSL; TLS 1.3 names are the same. */
export function opensslName(suite: string): string {
  const match = /^TLS_(.+)_WITH_(.+)$/.exec(suite);
  if (!match) return suite;
  const exchange = match[1] === 'RSA' ? '' : `${match[1]!.replaceAll('_', '-')}-`;
  const cipher = match[2]!
    .replace(/AES_(\d+)/, 'AES$1')
    .replace(/_CBC/, '')
    .replace(/CCM_8/, 'CCM8')
    .replace(/CHACHA20_POLY1305_SHA256/, 'CHACHA20_POLY1305')
    .replaceAll('_', '-');
  return `${exchange}${cipher}`;
}
