/** The Secrets of a cluster: authorities, what nodes trust, and their certificates. */
import type { AnyObject } from '../../../kube/object.ts';
import type { SecretContent } from '../../../pki/secrets.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { metadataOf, ownedByKafka } from './metadata.ts';

export function secretsOf(cluster: BrokerCluster, contents: ReadonlyMap<string, SecretContent>): AnyObject[] {
  return [...contents].map(([name, { data, annotations }]) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadataOf(cluster, name), annotations, ownerReferences: ownedByKafka(cluster) },
    type: 'Opaque',
    data,
  }));
}
