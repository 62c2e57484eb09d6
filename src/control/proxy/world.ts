import type { KafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import type { KafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import type { KafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import type { KafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { VirtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';

/** A Secret or ConfigMap, its values as text. */
export interface KeyedText {
  metadata: { name: string; namespace: string };
  data: Readonly<Record<string, string>>;
}

/** Everything that decisions about proxies depend on, read before they are made. */
export interface ProxyWorld {
  proxies: readonly KafkaProxy[];
  ingresses: readonly KafkaProxyIngress[];
  virtualClusters: readonly VirtualKafkaCluster[];
  clusterRefs: readonly KafkaClusterRef[];
  filters: readonly KafkaProtocolFilter[];
  secrets: readonly KeyedText[];
  configMaps: readonly KeyedText[];
}

interface Named {
  metadata: { name: string; namespace: string };
}

/** The object of that name and namespace. */
export function find<T extends Named>(objects: readonly T[], namespace: string, name: string): T | undefined {
  return objects.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
}
