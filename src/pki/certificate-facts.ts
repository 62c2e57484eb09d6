import { createHash, createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { alternativeNamesOf } from './alternative-names.ts';

/** What is wrong with something that was read, as a value: input that is broken throws nothing here. Quotes none of it. */
export interface Fault {
  fault: string;
}

export const isFault = (value: object): value is Fault => 'fault' in value;

/** What decisions need to know of a certificate. */
export interface CertificateFacts {
  /** SHA-256 of the certificate, in hex: which certificate it is. */
  thumbprint: string;
  /** Which key it is of: the same in all certificates of one key. */
  keyId: string;
  /** As RFC 2253 has it, the last part first: `CN=cluster-ca v0,O=io.strimzi`. */
  subject: string;
  notBefore: Date;
  notAfter: Date;
  /** DNS names and addresses in their one spelling, sorted. */
  names: readonly string[];
  isAuthority: boolean;
  isSelfSigned: boolean;
  pem: string;
}

/** More than any chain or bundle has; a Secret could hold a thousand. */
const MOST_CERTIFICATES = 64;
const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** All certificates of a PEM text, in their order; a text without any is a fault. */
export function readCertificates(pem: string): CertificateFacts[] | Fault {
  const blocks = pem.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0) return { fault: 'has no certificate in PEM' };
  if (blocks.length > MOST_CERTIFICATES) return { fault: `has more than ${MOST_CERTIFICATES} certificates` };
  try {
    return blocks.map(factsOf);
  } catch {
    return { fault: 'has a certificate that cannot be read' };
  }
}

function factsOf(pem: string): CertificateFacts {
  const certificate = new X509Certificate(pem);
  return {
    thumbprint: createHash('sha256').update(certificate.raw).digest('hex'),
    keyId: keyIdOf(certificate.publicKey),
    subject: certificate.subject.split('\n').toReversed().join(','),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    names: alternativeNamesOf(certificate),
    isAuthority: certificate.ca,
    isSelfSigned: certificate.checkIssued(certificate),
    pem: `${certificate.toString().trimEnd()}\n`,
  };
}

/** A short name of a public key: the first 64 bits of the SHA-256 over it. */
export function keyIdOf(key: KeyObject): string {
  const spki = key.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex').slice(0, 16);
}

/** A private key, and which one it is. */
export interface PrivateKey {
  keyId: string;
  key: KeyObject;
}

/** The private key of a PEM text; PKCS8, or what OpenSSL wrote before it. */
export function readPrivateKey(pem: string): PrivateKey | Fault {
  try {
    const key = createPrivateKey(pem);
    return { keyId: keyIdOf(createPublicKey(key)), key };
  } catch {
    return { fault: 'has no private key in PEM that can be read without a password' };
  }
}

/** Which of some authorities signed a certificate: the id of its key. */
export function signerOf(
  certificate: CertificateFacts,
  authorities: readonly CertificateFacts[],
): string | undefined {
  const signed = new X509Certificate(certificate.pem);
  return authorities.find(({ pem }) => {
    const authority = new X509Certificate(pem);
    return signed.checkIssued(authority) && signed.verify(authority.publicKey);
  })?.keyId;
}
