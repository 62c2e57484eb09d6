/** The Secrets of a cluster: authorities, what nodes trust, and their certificates. */
import type { AnyObject } from '../../../kube/object.ts';
import type { SecretContent } from '../../../pki/secrets.ts';
import { AUTHORITY_LABEL, authorityOfSecret } from '../certificates/authorities.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { metadataOf, ownedByKafka } from './metadata.ts';

export function secretsOf(cluster: BrokerCluster, contents: ReadonlyMap<string, SecretContent>): AnyObject[] {
  return [...contents].map(([name, { data, annotations }]) => {
    const authority = authorityOfSecret(cluster.name, name);
    const { labels, ...metadata } = metadataOf(cluster, name);
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...metadata,
        labels: { ...labels, ...(authority && { [AUTHORITY_LABEL]: authority }) },
        annotations,
        ...(!(authority && cluster.keptAuthorities.includes(authority)) && {
          ownerReferences: ownedByKafka(cluster),
        }),
      },
      type: 'Opaque',
      data,
    };
  });
}
