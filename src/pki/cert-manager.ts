import { isIP } from 'node:net';
import type { LeafRequest, Leaf } from './certificate.ts';
import { isFault, readCertificates } from './certificate-facts.ts';
import type { CertificateFacts, Fault } from './certificate-facts.ts';
import { readLeaf } from './leaf.ts';
import type { StoredLeaf } from './leaf.ts';
import { textOf } from './secrets.ts';
import type { SecretView } from './secrets.ts';

/**
 * Certificates that cert-manager issues instead of us. It writes a Secret of its own, which nothing mounts: what is in there is copied to
 * the node's Secret when all others trust its authority, as a certificate of ours would be signed then.
 */

/** Who issues; a ClusterIssuer, an Issuer, or a kind of somebody else's. */
export interface IssuerRef {
  name: string;
  kind?: string;
  group?: string;
}

export interface CertManagerRequest extends Omit<LeafRequest, 'now'> {
  issuer: IssuerRef;
  namespace: string;
  /** Of the Certificate, and of the Secret that cert-manager writes. */
  name: string;
  renewalMs: number;
}

/** cert-manager refuses shorter ones. */
const SHORTEST_MS = 60 * 60 * 1000;

/** The `Certificate` that asks cert-manager for what we would sign. */
export function certManagerCertificate(request: CertManagerRequest) {
  const { issuer, name, namespace, names, subject } = request;
  const durationMs = Math.max(request.validityMs, SHORTEST_MS);
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name, namespace },
    spec: {
      secretName: name,
      issuerRef: { kind: 'Issuer', group: 'cert-manager.io', ...issuer },
      commonName: subject.commonName,
      ...(subject.organization === undefined ? {} : { subject: { organizations: [subject.organization] } }),
      dnsNames: names.filter((one) => !isIP(one)),
      ipAddresses: names.filter((one) => isIP(one)),
      duration: seconds(durationMs),
      // Not before half its life is over, whatever the policy, as with certificates of ours.
      renewBefore: seconds(Math.min(request.renewalMs, durationMs / 2)),
      usages: ['digital signature', 'server auth', 'client auth'],
      // Kafka's PEM key stores read PKCS8 only.
      privateKey: { algorithm: 'ECDSA', size: 256, encoding: 'PKCS8', rotationPolicy: 'Always' },
    },
  } as const;
}

const seconds = (ms: number) => `${Math.floor(ms / 1000)}s`;

/** What cert-manager has issued. */
export interface IssuedLeaf extends Leaf {
  facts: StoredLeaf;
  /** What is to be trusted for it. */
  authorities: readonly CertificateFacts[];
}

/** Reads the Secret back; undefined until cert-manager has written it. */
export function readIssued(secret: SecretView | undefined): IssuedLeaf | Fault | undefined {
  const [chain, key, trusted] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => textOf(secret, name));
  if (!chain || !key) return undefined;
  if (!trusted) return { fault: 'has no ca.crt; its issuer must be one that says which CA it signs by' };
  const authorities = readCertificates(trusted);
  const above = readCertificates(chain);
  if (isFault(authorities)) return { fault: `has a ca.crt that ${authorities.fault}` };
  if (isFault(above)) return { fault: `has a tls.crt that ${above.fault}` };
  const facts = readLeaf('tls', secret, [...authorities, ...above.slice(1)]);
  if (!facts || isFault(facts)) return facts;
  return { chain, key, facts, authorities };
}
