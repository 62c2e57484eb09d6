/** A CA that cert-manager issues: who is asked for it, and what for. Pure. */
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Fault } from '../faults.ts';
import { CLUSTER_LABEL, clientsCaName, clusterCaName } from '../model/names.ts';
import type { AuthorityPolicies } from './seen.ts';

/** `NAME` of an Issuer in the namespace of the Kafka, or `ClusterIssuer/NAME`. */
const ISSUER_ANNOTATION = 'isthmus.dev/ca-issuer';
const ISSUER = /^(?:(Issuer|ClusterIssuer)\/)?([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)$/;

/** Whether somebody else than the operator is to make the CAs. */
export const hasIssuer = ({ metadata }: Kafka): boolean =>
  metadata.annotations[ISSUER_ANNOTATION] !== undefined;

/** Why nobody can be asked. */
export function issuerFaults(kafka: Kafka, isInstalled: boolean): Fault[] {
  if (!hasIssuer(kafka)) return [];
  const path = ['metadata', 'annotations', ISSUER_ANNOTATION];
  if (!ISSUER.test(kafka.metadata.annotations[ISSUER_ANNOTATION] ?? ''))
    return [{ reason: 'Invalid', path, message: `${ISSUER_ANNOTATION} has to be the name of an Issuer, or ClusterIssuer/NAME` }]; // prettier-ignore
  if (isInstalled) return [];
  const message = `${ISSUER_ANNOTATION} names an issuer, and this cluster does not have the kind Certificate of cert-manager, or the operator may not read it; install cert-manager, or remove the annotation`;
  return [{ reason: 'NotSupported', path, message }];
}

const HOUR_MS = 60 * 60 * 1000;
const hours = (ms: number) => `${Math.floor(ms / HOUR_MS)}h0m0s`;

/**
 * Certificates of the CAs that the Kafka does not bring itself; none where no issuer is named. The key stays the same when one is renewed,
 * because a new one has all nodes restarted three times.
 */
export function issuedAuthorities(
  kafka: Kafka,
  policies: AuthorityPolicies,
): { name: string; spec: object }[] {
  const [, kind = 'Issuer', issuer] = ISSUER.exec(kafka.metadata.annotations[ISSUER_ANNOTATION] ?? '') ?? [];
  if (issuer === undefined) return [];
  const { name } = kafka.metadata;
  const wanted = [
    { secret: clusterCaName(name), policy: policies.cluster, brought: kafka.spec.clusterCa },
    { secret: clientsCaName(name), policy: policies.clients, brought: kafka.spec.clientsCa },
  ].filter(({ brought }) => brought?.generateCertificateAuthority !== false);
  return wanted.map(({ secret, policy: { validityMs, renewalMs } }) => ({
    name: secret,
    spec: {
      secretName: secret,
      // By which the operator follows it.
      secretTemplate: { labels: { [CLUSTER_LABEL]: name } },
      isCA: true,
      commonName: secret,
      duration: hours(validityMs),
      // Before it is said that somebody should see to it.
      renewBefore: hours(Math.min(2 * renewalMs, validityMs / 2)),
      usages: ['cert sign', 'crl sign', 'digital signature'],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Never' },
      issuerRef: { group: 'cert-manager.io', kind, name: issuer },
    },
  }));
}
