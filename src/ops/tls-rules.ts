import { DEFAULT_CIPHERS, getCiphers } from 'node:tls';

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** What Node's TLS takes. */
export interface TlsRules {
  minVersion: TlsVersion | undefined;
  maxVersion: TlsVersion | undefined;
  ciphers: string | undefined;
}

/** Names that are allowed, and names that are not even then. */
export interface AllowDeny {
  allowed?: string[] | undefined;
  denied?: string[] | undefined;
}

export interface TlsProblem {
  problem: string;
  key: 'protocols' | 'cipherSuites';
}

const VERSIONS: readonly TlsVersion[] = ['TLSv1.2', 'TLSv1.3'];
const TLS13_SUITES = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];

/** Turns lists of allowed and denied names into what Node's TLS takes; a sentence says what is wrong with them. */
export function tlsRules(
  protocols: AllowDeny | undefined,
  cipherSuites: AllowDeny | undefined,
): TlsRules | TlsProblem {
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
  const unknown = list.allowed?.find((suite) => !known.has(opensslName(suite).toUpperCase()));
  if (unknown !== undefined) return { problem: `allows a cipher suite that is not spoken here: ${unknown}` };
  const allowed = list.allowed?.map(opensslName) ?? [...TLS13_SUITES, ...defaultCiphers(known)];
  // Most that people deny is gone from OpenSSL already, and not spoken for that.
  const denied = new Set(list.denied?.map((suite) => opensslName(suite).toUpperCase()));
  const left = allowed.filter((name) => !denied.has(name.toUpperCase()));
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
