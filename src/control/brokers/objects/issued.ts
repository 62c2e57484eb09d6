/** What cert-manager is asked for. */
import type { AnyObject } from '../../../kube/object.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { issuedAuthorities } from '../certificates/issuer.ts';
import type { AuthorityPolicies } from '../certificates/seen.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { metadataOf, ownedByKafka } from './metadata.ts';

/** Certificates, in the version that the cluster has. */
export const issuedCertificates = (
  kafka: Kafka,
  cluster: BrokerCluster,
  policies: AuthorityPolicies,
  apiVersion: string | undefined,
): AnyObject[] =>
  apiVersion === undefined
    ? []
    : issuedAuthorities(kafka, policies).map(({ name, spec }) => ({
        apiVersion,
        kind: 'Certificate',
        metadata: { ...metadataOf(cluster, name), ownerReferences: ownedByKafka(cluster) },
        spec,
      }));
