// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 asks for it to be loaded first
import 'reflect-metadata';
import { createPublicKey, generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/**
 * Makes certificate authorities. Keys are P-256: every Java that runs Kafka 4 and every client in use verifies them, signing, which a
 * broker does in each handshake, costs a twentieth of RSA 2048 (0.04 ms and 0.8 ms with OpenSSL), and one is made in no time, where
 * RSA 4096 takes 0.3 s of a fast core and sometimes several times that. Authorities that users bring, or that another operator left, may be
 * RSA; they are signed with as they are.
 */

x509.cryptoProvider.set(webcrypto);

/** Clocks differ: what was made just now is valid for a machine that is a little behind. */
export const CLOCK_SKEW_MS = 5 * 60 * 1000;

/** Longer than anybody means it; dates after the year 9999 cannot be written. */
const LONGEST_MS = 100 * 365 * 24 * 60 * 60 * 1000;

/** Organization and common name; Kafka calls it `CN=…,O=…`. */
export interface Subject {
  organization?: string;
  commonName: string;
}

/** From now on, so long. */
export interface Validity {
  now: Date;
  validityMs: number;
}

/** A new private key, as PKCS8 in PEM. */
export function newPrivateKey(): string {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;
}

/** The subject of an authority: the generation of its key is in it, so that no two keys have one name. */
export const authoritySubject = (name: string, keyGeneration: number): Subject => ({
  organization: 'io.strimzi',
  commonName: `${name} v${keyGeneration}`,
});

/** A self-signed certificate, in PEM, for the key of an authority that issues to servers and clients only. */
export async function certifyAuthority(
  key: KeyObject,
  subject: Subject,
  validity: Validity,
): Promise<string> {
  const keys = { privateKey: signingKey(key), publicKey: verifyingKey(key) };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    name: distinguishedName(subject),
    ...validityOf(validity),
    keys,
    signingAlgorithm: algorithmOf(key),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Beginning and end; certificates count in seconds, and the end is cut down to one. */
export function validityOf({ now, validityMs }: Validity): { notBefore: Date; notAfter: Date } {
  return {
    notBefore: wholeSeconds(now.getTime() - CLOCK_SKEW_MS),
    notAfter: wholeSeconds(now.getTime() + Math.min(validityMs, LONGEST_MS)),
  };
}

const wholeSeconds = (ms: number) => new Date(Math.floor(ms / 1000) * 1000);

/** Organization first: names are written from the last part to the first. */
export function distinguishedName({ organization, commonName }: Subject): x509.JsonName {
  return [...(organization === undefined ? [] : [{ O: [organization] }]), { CN: [commonName] }];
}

/** 127 random bits; the first bit is 0 because DER would read a 1 as a minus sign, and the next 1 so that none is stripped. */
export function newSerialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return bytes.toString('hex');
}

type SigningAlgorithm = { name: string; hash: string; namedCurve?: string };

const CURVES: Record<string, SigningAlgorithm> = {
  prime256v1: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
};

/** How a key signs; throws for kinds of keys that Kafka's clients do not verify. `canSign` asks before. */
export function algorithmOf(key: KeyObject): SigningAlgorithm {
  const algorithm = knownAlgorithm(key);
  if (!algorithm)
    throw new Error(`a key of type ${key.asymmetricKeyType} cannot sign certificates for Kafka`);
  return algorithm;
}

/** Whether a key is of a kind that certificates are signed with: RSA, or EC on a curve of NIST. */
export const canSign = (key: KeyObject): boolean => knownAlgorithm(key) !== undefined;

function knownAlgorithm(key: KeyObject): SigningAlgorithm | undefined {
  if (key.asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  return CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
}

export const signingKey = (key: KeyObject): webcrypto.CryptoKey =>
  key.toCryptoKey(algorithmOf(key), false, ['sign']);

export const verifyingKey = (key: KeyObject): webcrypto.CryptoKey =>
  createPublicKey(key).toCryptoKey(algorithmOf(key), true, ['verify']);
