import type { FilterModule } from '../../ops/filter-module.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Gateway } from '../../resources/gateway/gateway.ts';
import type { ReferenceGrant } from '../../resources/gateway/reference-grant.ts';
import type { KafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import type { KafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import type { KafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import type { KafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { VirtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import type { IngressController } from '../../resources/openshift/ingress-controller.ts';
import type { KafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';

/** A Secret or ConfigMap, its values as text. */
export interface KeyedText {
  metadata: { name: string; namespace: string };
  data: Readonly<Record<string, string>>;
  /** The same of a Secret, in base64: not all values are text. */
  base64?: Readonly<Record<string, string>>;
}

/** What is under a key. Developers choose keys, so one like `constructor` must not find what every object has. */
export const entryOf = (entries: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(entries, key) ? entries[key] : undefined;

/** Everything that decisions about proxies depend on, read before they are made. */
export interface ProxySnapshot {
  proxies: readonly KafkaProxy[];
  ingresses: readonly KafkaProxyIngress[];
  virtualClusters: readonly VirtualKafkaCluster[];
  clusterRefs: readonly KafkaClusterRef[];
  filters: readonly KafkaProtocolFilter[];
  secrets: readonly KeyedText[];
  configMaps: readonly KeyedText[];
  /** Packages that filters of all proxies may come from, beside those that a proxy allows itself. */
  filterModules?: readonly FilterModule[];
  /** Resources among these that an API server took, but which mean nothing. */
  unreadable?: readonly Unreadable[];
  /** What only a Kubernetes cluster has. */
  cluster?: ClusterSnapshot;
}

/** The part of the snapshot that is in a Kubernetes cluster only. A list is absent where the cluster does not serve the kind. */
export interface ClusterSnapshot {
  kafkas?: readonly Kafka[];
  nodePools?: readonly KafkaNodePool[];
  grants?: readonly ReferenceGrant[];
  gateways?: readonly Gateway[];
  ingressControllers?: readonly IngressController[];
  /** Labels of the namespace that the proxy is in; absent where they may not be read. */
  namespaceLabels?: Readonly<Record<string, string>>;
}

export interface Unreadable {
  object: KubeObject;
  /** What is wrong, for people. */
  problem: string;
}

/** What is wrong with the resource of that name, if it is there and cannot be read. */
export function unreadableIn(
  { unreadable = [] }: ProxySnapshot,
  kind: string,
  namespace: string,
  name: string,
): string | undefined {
  return unreadable.find(
    ({ object }) =>
      object.kind === kind && object.metadata.namespace === namespace && object.metadata.name === name,
  )?.problem;
}

interface Named {
  metadata: { name: string; namespace: string };
}

/** The object of that name and namespace. */
export function find<T extends Named>(objects: readonly T[], namespace: string, name: string): T | undefined {
  return objects.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
}
