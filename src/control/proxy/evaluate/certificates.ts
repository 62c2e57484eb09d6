/** Reads certificates as a client would: whether the key fits, which hosts they are good for, and until when. */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Fault } from '../faults.ts';

/** PEM texts; the certificate may be followed by its chain. */
export interface KeyPair {
  certificate: string;
  privateKey: string;
}

type CheckedKeyPair = { certificate: X509Certificate } | { problem: string };

const MAX_REMEMBERED = 4096;
/** The same Secrets are looked at for every change of a proxy, and reading a key costs more than all else about it. */
const remembered = new BoundedMap<string, CheckedKeyPair>(MAX_REMEMBERED);

/** The first certificate of a chain, if it can be read and belongs to the key. */
function readKeyPair(pair: KeyPair): CheckedKeyPair {
  const text = `${pair.certificate}\0${pair.privateKey}`;
  const known = remembered.get(text);
  if (known) return known;
  const checked = checkKeyPair(pair);
  remembered.set(text, checked);
  return checked;
}

/** What is wrong with a pair; undefined if nothing is. */
export function keyPairProblem(pair: KeyPair): string | undefined {
  const read = readKeyPair(pair);
  return 'problem' in read ? read.problem : undefined;
}

function checkKeyPair({ certificate, privateKey }: KeyPair): CheckedKeyPair {
  let read: X509Certificate;
  try {
    read = new X509Certificate(certificate);
  } catch {
    return { problem: 'tls.crt is not a certificate in PEM' };
  }
  try {
    if (read.checkPrivateKey(createPrivateKey(privateKey))) return { certificate: read };
    return { problem: 'tls.key does not belong to the certificate in tls.crt; replace both together' };
  } catch (error) {
    // OpenSSL's words name its own functions, never the key.
    return { problem: `tls.key is not a private key in PEM (${messageOf(error)})` };
  }
}

const PEM_BLOCK = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]*-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** What is wrong with certificates that are to be trusted; undefined if nothing is. TLS itself would skip them without a word. */
export function readTrustBundle(bundle: string): string | undefined {
  const blocks = bundle.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0) return 'there is no certificate in PEM in it';
  for (const [index, block] of blocks.entries()) {
    try {
      void new X509Certificate(block);
    } catch {
      return `certificate ${index + 1} of ${blocks.length} cannot be read`;
    }
  }
  return undefined;
}

export interface Coverage {
  /** What clients will stumble over. */
  faults: Omit<Fault, 'path'>[];
  /** When this will be evaluated differently without anything having changed. */
  changesAt: number | undefined;
}

const MAX_HOSTS_NAMED = 5;

/**
 * What clients will find wrong with the certificates of an ingress. Its proxy serves them all the same: some clients do not
 * care, and a certificate that has just expired is better than a port that has gone.
 */
export function evaluateCertificates(
  keys: readonly KeyPair[],
  hosts: readonly string[],
  now: number,
): Coverage {
  const certificates = keys.flatMap((key) => {
    const read = readKeyPair(key);
    return 'certificate' in read ? [read.certificate] : [];
  });
  // As the proxy does it: the first that has the name.
  const chosen = hosts.map((host) => certificates.find((one) => one.checkHost(host) !== undefined));
  const uncovered = hosts.filter((_, index) => chosen[index] === undefined);
  const used = new Set(chosen.filter((one) => one !== undefined));
  const coverage = lifetimes([...used], now);
  if (uncovered.length > 0) coverage.faults.push(hostFault(uncovered, certificates));
  return coverage;
}

/** The same of the certificate that the proxy shows to brokers. */
export function evaluateClientCertificate(key: KeyPair, now: number): Coverage {
  const read = readKeyPair(key);
  return lifetimes('certificate' in read ? [read.certificate] : [], now);
}

function lifetimes(certificates: readonly X509Certificate[], now: number): Coverage {
  const faults = certificates.flatMap((one) => lifetimeFault(one, now));
  const times = certificates.flatMap((one) => [
    one.validFromDate.getTime(),
    expiringFrom(one),
    one.validToDate.getTime(),
  ]);
  const future = times.filter((time) => time > now);
  return { faults, changesAt: future.length > 0 ? Math.min(...future) : undefined };
}

/** Whoever renews certificates by machine does so with a third of their time left; with a fifth left, it has failed. */
const RENEWED_BY = 1 / 5;
const WARN_AT_MOST_MS = 14 * 24 * 60 * 60_000;

function expiringFrom({ validFromDate, validToDate }: X509Certificate): number {
  const lifetime = validToDate.getTime() - validFromDate.getTime();
  return validToDate.getTime() - Math.min(WARN_AT_MOST_MS, lifetime * RENEWED_BY);
}

function lifetimeFault(certificate: X509Certificate, now: number): Coverage['faults'] {
  const { validFromDate, validToDate } = certificate;
  const name = certificate.subject.replaceAll('\n', ', ') || certificate.subjectAltName || 'without a name';
  if (validToDate.getTime() <= now) {
    const message = `the certificate ${name} expired at ${validToDate.toISOString()}; renew it in its Secret`;
    return [{ reason: 'CertificateExpired', message }];
  }
  if (expiringFrom(certificate) <= now) {
    const message = `the certificate ${name} expires at ${validToDate.toISOString()}; renew it in its Secret`;
    return [{ reason: 'CertificateExpiring', message }];
  }
  if (validFromDate.getTime() <= now) return [];
  const message = `the certificate ${name} is not valid before ${validFromDate.toISOString()}`;
  return [{ reason: 'CertificateNotYetValid', message }];
}

function hostFault(
  hosts: readonly string[],
  certificates: readonly X509Certificate[],
): Coverage['faults'][0] {
  const more = hosts.length > MAX_HOSTS_NAMED ? ` and ${hosts.length - MAX_HOSTS_NAMED} more` : '';
  const names = certificates.flatMap(({ subjectAltName }) => subjectAltName ?? []).join(', ') || 'no names';
  const message = `no certificate is good for ${hosts.slice(0, MAX_HOSTS_NAMED).join(', ')}${more} (they have ${names}); add the host names as SANs`;
  return { reason: 'CertificateHostMismatch', message };
}
