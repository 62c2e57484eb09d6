import { createHash } from 'node:crypto';
import type { Authority, HeldLeaf } from './authority-state.ts';
import type { AuthorityMaterial } from './authority-secrets.ts';
import type { Leaf, Signer } from './certificate.ts';
import { isFault, readCertificates, readPrivateKey, signerOf } from './certificate-facts.ts';
import type { CertificateFacts, Fault } from './certificate-facts.ts';
import { writeKeyStore } from './pkcs12-writer.ts';
import { encoded, textOf } from './secrets.ts';
import type { SecretView } from './secrets.ts';

/** Certificates in the Secrets of those who present them: nodes, the operator, users. */

/** A certificate in a Secret, and which one it is. */
export interface StoredLeaf extends HeldLeaf {
  hash: string;
  /** Itself, and what is presented with it. */
  chain: readonly CertificateFacts[];
}

/** Reads `NAME.crt` and `NAME.key`. One whose key is missing or another's is a fault: nothing could present it. */
export function readLeaf(
  name: string,
  secret: SecretView | undefined,
  authorities: readonly CertificateFacts[],
): StoredLeaf | Fault | undefined {
  const chain = textOf(secret, `${name}.crt`);
  const keyPem = textOf(secret, `${name}.key`);
  if (chain === undefined || keyPem === undefined) return undefined;
  const certificates = readCertificates(chain);
  if (isFault(certificates)) return certificates;
  const key = readPrivateKey(keyPem);
  if (isFault(key)) return key;
  const [own] = certificates as [CertificateFacts];
  if (own.keyId !== key.keyId) return { fault: 'has a key that is not that of its certificate' };
  const { names, notAfter, notBefore } = own;
  const signedBy = signerOf(own, authorities);
  return { names, notAfter, notBefore, signedBy, hash: certificateHash(chain), chain: certificates };
}

/** Changes whenever the certificate does; the value of `strimzi.io/server-cert-hash`. */
export const certificateHash = (chain: string): string =>
  createHash('sha256').update(chain).digest('hex').slice(0, 16);

/** What signs in a `sign` step, with its key; undefined where the Secrets have changed since the step was decided. */
export function signerFrom(material: AuthorityMaterial, { thumbprint }: Authority): Signer | undefined {
  const { certificate, above, former, key, formerKeys } = material;
  const current = certificate && !isFault(certificate) ? [certificate] : [];
  const signing = [...current, ...former].find((one) => one.thumbprint === thumbprint);
  const keys = key === undefined || isFault(key) ? formerKeys : [key, ...formerKeys];
  const own = keys.find(({ keyId }) => keyId === signing?.keyId);
  if (!signing || !own) return undefined;
  return { certificate: signing, key: own, above: signing === certificate ? above : [] };
}

/** The Secret of a client: certificate and key in PEM and as PKCS12, as Strimzi names them. */
export function clientData(name: string, leaf: Leaf, password: string): Record<string, string> {
  return encoded({
    [`${name}.crt`]: leaf.chain,
    [`${name}.key`]: leaf.key,
    [`${name}.p12`]: writeKeyStore({ alias: name, ...leaf }, password),
    [`${name}.password`]: password,
  });
}
