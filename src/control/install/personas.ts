/**
 * Who may do what with our resources: a ClusterRole a persona, part of Kubernetes' own `admin`, `edit` and `view`. They grant
 * nothing by themselves; whoever is bound to one of them, or to one of those, has these rights where the binding says.
 */
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import { redpandaAnchor } from '../../resources/isthmus/redpanda-anchor.ts';
import type { Kind } from '../../resources/kind.ts';
import { kafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafkaTopic } from '../../resources/strimzi/kafka-topic.ts';
import { kafkaUser } from '../../resources/strimzi/kafka-user.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import type { PolicyRule } from '../kernel/rights.ts';
import { labelsOf } from './objects.ts';
import type { Manifest } from './objects.ts';

/** A kind as far as rights go. */
type Granted = Pick<Kind, 'group' | 'plural' | 'kind'>;

/** The proxy tier, how it is reached, who may have which names, and the Kafka clusters. */
export const ADMIN_KINDS: readonly Granted[] = [
  kafkaProxy,
  kafkaProxyIngress,
  namePolicy,
  kafka,
  kafkaNodePool,
  redpandaCluster,
];
/** What a virtual cluster is made of, and what is in a Kafka cluster. */
export const DEVELOPER_KINDS: readonly Granted[] = [
  virtualKafkaCluster,
  kafkaClusterRef,
  kafkaProtocolFilter,
  kafkaTopic,
  kafkaUser,
];

/**
 * What the operator writes down and must not forget. Admins may delete it, which sets ports free that are kept for clusters
 * which are gone, and no more: a charter that is written by hand can cost data.
 */
const ANCHOR_KINDS: readonly Granted[] = [kafkaAnchor, redpandaAnchor];
/** What the operator keeps for itself: a mistake in it can cost data. */
export const OPERATOR_KINDS: readonly Granted[] = [...ANCHOR_KINDS, strimziPodSet];

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** Nobody but the operator writes a status, so no persona may. */
export function personaManifests(): Manifest[] {
  const all = [...ADMIN_KINDS, ...DEVELOPER_KINDS];
  const read = rules([...all, ...OPERATOR_KINDS], READ);
  const scalable = [kafkaProxy, kafkaNodePool].map(({ group, plural }) => ({
    apiGroups: [group],
    resources: [`${plural}/scale`],
    verbs: ['get', 'update', 'patch'],
  }));
  return [
    persona('isthmus-viewer', 'view', read),
    // Both repeat what a viewer may: they may be bound alone.
    persona('isthmus-developer', 'edit', [...read, ...rules(DEVELOPER_KINDS, WRITE)]),
    persona('isthmus-admin', 'admin', [
      ...read,
      ...rules(all, WRITE),
      ...rules(ANCHOR_KINDS, ['delete']),
      ...scalable,
    ]),
  ];
}

function persona(name: string, partOf: 'admin' | 'edit' | 'view', rules: PolicyRule[]): Manifest {
  const aggregated = { [`rbac.authorization.k8s.io/aggregate-to-${partOf}`]: 'true' };
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: { ...labelsOf('personas'), ...aggregated } },
    rules,
  };
}

/** One rule a group. */
function rules(kinds: readonly Granted[], verbs: string[]): PolicyRule[] {
  const groups = [...new Set(kinds.map(({ group }) => group))];
  return groups.map((group) => ({
    apiGroups: [group],
    resources: kinds.flatMap((kind) => (kind.group === group ? [kind.plural] : [])),
    verbs,
  }));
}
