import { randomBytes } from 'node:crypto';
import { authoritySubject, canSign, certifyAuthority, newPrivateKey } from './authority.ts';
import type { Authority, ObservedAuthority } from './authority-state.ts';
import { isFault, readCertificates, readPrivateKey } from './certificate-facts.ts';
import type { CertificateFacts, Fault, PrivateKey } from './certificate-facts.ts';
import { writeTrustStore } from './pkcs12-writer.ts';
import type { Step } from './renewal.ts';
import { encoded, textOf } from './secrets.ts';
import type { SecretContent, SecretView } from './secrets.ts';

/**
 * An authority in its two Secrets, which have Strimzi's names and keys: `C-cluster-ca-cert` has `ca.crt`, `ca.p12` and `ca.password` for
 * clients, `C-cluster-ca` has `ca.key`. While a key is replaced they also have the former certificate and key, which still sign until
 * everybody trusts the new one. An authority that cert-manager issued is in one Secret, that of the key, as `tls.crt`, `tls.key` and `ca.crt`.
 */

export const CERTIFICATE_GENERATION = 'strimzi.io/ca-cert-generation';
export const KEY_GENERATION = 'strimzi.io/ca-key-generation';
export const FORCE_RENEW = 'strimzi.io/force-renew';
export const FORCE_REPLACE = 'strimzi.io/force-replace';

const FORMER_CERTIFICATE = /^ca-.+\.crt$/;
const FORMER_KEY = /^ca-.+\.key$/;

/** The two Secrets, read; keys in it are private. */
export interface AuthorityMaterial {
  certificate: CertificateFacts | Fault | undefined;
  above: readonly CertificateFacts[];
  former: readonly CertificateFacts[];
  key: PrivateKey | Fault | undefined;
  formerKeys: readonly PrivateKey[];
  certificateGeneration: number;
  keyGeneration: number;
  force: { renew: boolean; replace: boolean };
  /** Of `ca.p12`: stays the same, because clients may have it in their configuration. */
  password: string | undefined;
}

/** Reads the Secrets of an authority; what cannot be read among the former is passed over. */
export function readAuthority(
  certificateSecret: SecretView | undefined,
  keySecret: SecretView | undefined,
): AuthorityMaterial {
  const { certificates, key } = currentTexts(certificateSecret, keySecret);
  const [certificate, ...above] = currentCertificates(certificates);
  const former = keysOf(certificateSecret, FORMER_CERTIFICATE).flatMap((key) =>
    usable(currentCertificates(textOf(certificateSecret, key))),
  );
  return {
    certificate,
    above: usable(above),
    former,
    key: signingKeyOf(key),
    formerKeys: usable(
      keysOf(keySecret, FORMER_KEY).flatMap((key) => signingKeyOf(textOf(keySecret, key)) ?? []),
    ),
    certificateGeneration: generationOf(certificateSecret, CERTIFICATE_GENERATION),
    keyGeneration: generationOf(keySecret, KEY_GENERATION),
    force: {
      renew: certificateSecret?.annotations?.[FORCE_RENEW] === 'true',
      replace: keySecret?.annotations?.[FORCE_REPLACE] === 'true',
    },
    password: textOf(certificateSecret, 'ca.password'),
  };
}

/** Its certificate, with what is above it, and its key. */
function currentTexts(certificateSecret: SecretView | undefined, keySecret: SecretView | undefined) {
  const own = { certificates: textOf(certificateSecret, 'ca.crt'), key: textOf(keySecret, 'ca.key') };
  const [issued, root] = [textOf(keySecret, 'tls.crt'), textOf(keySecret, 'ca.crt')];
  if (own.certificates !== undefined || own.key !== undefined || issued === undefined) return own;
  return { certificates: `${issued}\n${root ?? ''}`, key: textOf(keySecret, 'tls.key') };
}

const usable = <T extends object>(values: readonly (T | Fault)[]): T[] =>
  values.flatMap((value) => (isFault(value) ? [] : [value]));

const keysOf = (secret: SecretView | undefined, pattern: RegExp) =>
  Object.keys(secret?.data ?? {}).filter((key) => pattern.test(key));

function currentCertificates(pem: string | undefined): (CertificateFacts | Fault)[] {
  if (pem === undefined) return [];
  const certificates = readCertificates(pem);
  if (isFault(certificates)) return [certificates];
  return certificates.every(({ isAuthority }) => isAuthority)
    ? [...new Map(certificates.map((one) => [one.thumbprint, one])).values()]
    : [{ fault: 'is not the certificate of a CA (basicConstraints CA:TRUE)' }];
}

function signingKeyOf(pem: string | undefined): PrivateKey | Fault | undefined {
  if (pem === undefined) return undefined;
  const key = readPrivateKey(pem);
  if (isFault(key) || canSign(key.key)) return key;
  return { fault: 'is of a kind that Kafka clients do not verify; use RSA, or EC on P-256, P-384 or P-521' };
}

/** -1 where there is none yet, so that the first is 0. */
function generationOf(secret: SecretView | undefined, annotation: string): number {
  const text = secret?.annotations?.[annotation] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : -1;
}

/** What decisions need of it: keys by their ids, and nothing that is secret. */
export function authorityFacts(
  material: AuthorityMaterial,
): Omit<AuthorityMaterial, 'key' | 'formerKeys' | 'password'> &
  Pick<ObservedAuthority, 'key' | 'formerKeys'> {
  const { key, formerKeys, certificate, above, former, force } = material;
  return {
    key: key === undefined || isFault(key) ? key : key.keyId,
    formerKeys: formerKeys.map(({ keyId }) => keyId),
    certificate,
    above,
    former,
    certificateGeneration: material.certificateGeneration,
    keyGeneration: material.keyGeneration,
    force,
  };
}

/** What a new authority is called and how long it lasts. */
export interface AuthorityRequest {
  /** `cluster-ca` or `clients-ca`. */
  name: string;
  now: Date;
  validityMs: number;
}

/** The Secret that a step is to write. Annotations that asked for it are answered in the same write, or a crash would repeat it. */
export type AuthorityWrite = { secret: 'key' | 'certificate'; content: SecretContent };

/** Carries out the steps that change an authority: makes its key or certificate, or leaves out what is former. In the order of writing. */
export async function authorityWrites(
  step: Step,
  material: AuthorityMaterial,
  request: AuthorityRequest,
): Promise<AuthorityWrite[]> {
  if (step.do === 'make key') return [keyWrite(newPrivateKey(), allKeys(material), step.generation)];
  if (step.do === 'remove') return removal(step, material);
  const { key, password } = material;
  if (step.do !== 'make certificate' || key === undefined || isFault(key)) return [];
  const subject = authoritySubject(request.name, step.keyGeneration);
  const pem = await certifyAuthority(key.key, subject, request);
  return [certificateWrite(pem, pick(material, step.former), step.generation, password)];
}

const allKeys = ({ key, formerKeys }: AuthorityMaterial) =>
  key === undefined || isFault(key) ? formerKeys : [key, ...formerKeys];

function pick({ certificate, former }: AuthorityMaterial, wanted: readonly Authority[]): CertificateFacts[] {
  const known = certificate && !isFault(certificate) ? [certificate, ...former] : former;
  const thumbprints = new Set(wanted.map(({ thumbprint }) => thumbprint));
  return known.filter(({ thumbprint }) => thumbprints.has(thumbprint));
}

function removal(step: Extract<Step, { do: 'remove' }>, material: AuthorityMaterial): AuthorityWrite[] {
  const { certificate, above, former, key, formerKeys } = material;
  if (!certificate || isFault(certificate) || key === undefined || isFault(key)) return [];
  const gone = new Set(step.authorities.map(({ thumbprint }) => thumbprint));
  const kept = former.filter(({ thumbprint }) => !gone.has(thumbprint));
  const pem = [certificate, ...above].map(({ pem }) => pem).join('');
  const keys = formerKeys.filter(({ keyId }) => !step.keys.includes(keyId));
  return [
    // What clients are given has changed.
    certificateWrite(pem, kept, material.certificateGeneration + 1, material.password),
    keyWrite(pemOf(key), keys, material.keyGeneration),
  ];
}

const pemOf = ({ key }: PrivateKey) => key.export({ type: 'pkcs8', format: 'pem' });

function keyWrite(pem: string, former: readonly PrivateKey[], generation: number): AuthorityWrite {
  const others = former.map((one) => [`ca-${one.keyId}.key`, pemOf(one)]);
  const data = encoded({ 'ca.key': pem, ...Object.fromEntries(others) });
  const annotations = { [KEY_GENERATION]: `${generation}`, [FORCE_REPLACE]: 'false' };
  return { secret: 'key', content: { data, annotations } };
}

function certificateWrite(
  pem: string,
  former: readonly CertificateFacts[],
  generation: number,
  password = newPassword(),
): AuthorityWrite {
  const certificates: Record<string, string> = { 'ca.crt': pem };
  for (const one of former) {
    const name = `ca-${one.notAfter.toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
    certificates[`${name}.crt` in certificates ? `${name}-${one.keyId}.crt` : `${name}.crt`] = one.pem;
  }
  const data = encoded({
    ...certificates,
    'ca.p12': writeTrustStore(certificates, password),
    'ca.password': password,
  });
  const annotations = { [CERTIFICATE_GENERATION]: `${generation}`, [FORCE_RENEW]: 'false' };
  return { secret: 'certificate', content: { data, annotations } };
}

/** For a store whose password stands beside it. */
export const newPassword = (): string => randomBytes(18).toString('base64url');
