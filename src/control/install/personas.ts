/**
 * Who may do what with our resources: a ClusterRole a persona, part of Kubernetes' own `admin`, `edit` and `view`. They grant
 * nothing by themselves; whoever is bound to one of them, or to one of those, has these rights where the binding says.
 */
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import type { Kind } from '../../resources/kind.ts';
import { kafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import type { PolicyRule } from '../kernel/rights.ts';
import { labelsOf } from './objects.ts';
import type { Manifest } from './objects.ts';

/** A kind as far as rights go. */
type Granted = Pick<Kind, 'group' | 'plural' | 'kind'>;

/** The proxy tier, how it is reached, and who may have which names. */
export const ADMIN_KINDS: readonly Granted[] = [kafkaProxy, kafkaProxyIngress, namePolicy];
/** What a virtual cluster is made of. */
export const DEVELOPER_KINDS: readonly Granted[] = [
  virtualKafkaCluster,
  kafkaClusterRef,
  kafkaProtocolFilter,
];

/** Kinds of other projects that have no persona of their own. */
export const FOREIGN_KINDS: readonly Granted[] = [redpandaCluster];

/** What the operator keeps for itself: a mistake in it can cost data. */
export const OPERATOR_KINDS: readonly Granted[] = [kafkaAnchor];

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** Nobody but the operator writes a status, so no persona may. */
export function personaManifests(): Manifest[] {
  const all = [...ADMIN_KINDS, ...DEVELOPER_KINDS];
  const read = rules([...all, ...FOREIGN_KINDS, ...OPERATOR_KINDS], READ);
  const scale = { apiGroups: [kafkaProxy.group], resources: [`${kafkaProxy.plural}/scale`] };
  return [
    persona('isthmus-viewer', 'view', read),
    // Both repeat what a viewer may: they may be bound alone.
    persona('isthmus-developer', 'edit', [...read, ...rules(DEVELOPER_KINDS, WRITE)]),
    persona('isthmus-admin', 'admin', [
      ...read,
      ...rules([...all, ...FOREIGN_KINDS], WRITE),
      { ...scale, verbs: ['get', 'update', 'patch'] },
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
