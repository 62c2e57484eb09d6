import type { Road } from '../roads.ts';
import { OPERATOR_NAME } from './names.ts';

/** One rule of a Role, as Kubernetes spells it. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** What the operator does in its own namespace, whatever its roads: take the lead. */
export const LEADER_RULES: PolicyRule[] = [
  // A Lease that does not exist yet cannot be named in a rule for create.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [OPERATOR_NAME],
    verbs: ['get', 'patch'],
  },
];

/** What the operator does anywhere, whatever its roads: say what happened. */
const EVENT_RULES: PolicyRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** Kept in a cache, and never asked for one by one. */
const FOLLOW = ['list', 'watch'];
/** Asked for anew when somebody else was quicker to write their status. */
const READ = ['get', ...FOLLOW];
/**
 * For objects it makes: applied with patch, which the API server counts as create where there was nothing; replaced with
 * update where an apply cannot undo what a stranger did.
 */
const OWN = [...READ, 'create', 'patch', 'update', 'delete'];

const PROXY_RULES: PolicyRule[] = [
  {
    apiGroups: ['kroxylicious.io'],
    resources: ['kafkaproxies', 'kafkaproxyingresses', 'virtualkafkaclusters'],
    verbs: READ,
  },
  { apiGroups: ['kroxylicious.io'], resources: ['kafkaclusterrefs'], verbs: FOLLOW },
  {
    apiGroups: ['kroxylicious.io'],
    resources: ['kafkaproxies/status', 'kafkaproxyingresses/status', 'virtualkafkaclusters/status'],
    verbs: ['patch'],
  },
  { apiGroups: ['filter.kroxylicious.io'], resources: ['kafkaprotocolfilters'], verbs: READ },
  { apiGroups: ['filter.kroxylicious.io'], resources: ['kafkaprotocolfilters/status'], verbs: ['patch'] },
  // Secrets are read wherever resources refer to them (certificates, values in filter configs), and written for the
  // configuration of proxies. Kubernetes cannot grant less than all of a namespace; --watch-namespaces narrows which.
  { apiGroups: [''], resources: ['secrets', 'services', 'serviceaccounts'], verbs: OWN },
  { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: FOLLOW },
  // Patched for one annotation, which makes the kubelet refresh a proxy's configuration at once.
  { apiGroups: [''], resources: ['pods'], verbs: [...FOLLOW, 'patch'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: OWN },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: OWN },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: OWN },
  { apiGroups: ['externaldns.k8s.io'], resources: ['dnsendpoints'], verbs: OWN },
  { apiGroups: ['gateway.networking.k8s.io'], resources: ['tlsroutes'], verbs: OWN },
  { apiGroups: ['gateway.networking.k8s.io'], resources: ['gateways', 'referencegrants'], verbs: FOLLOW },
  { apiGroups: ['route.openshift.io'], resources: ['routes'], verbs: OWN },
  { apiGroups: ['operator.openshift.io'], resources: ['ingresscontrollers'], verbs: FOLLOW },
  { apiGroups: ['kafka.strimzi.io'], resources: ['kafkas', 'kafkanodepools'], verbs: FOLLOW },
];

/** What each road needs on top. A road that is not served grants nothing. */
const ROAD_RULES: Record<Road, PolicyRule[]> = {
  proxy: PROXY_RULES,
  expose: [],
  stretch: [],
  discover: [],
};

/** What the operator may do for the roads it serves, wherever it may do it. */
export function operatorRules(roads: readonly Road[]): PolicyRule[] {
  return [...EVENT_RULES, ...roads.flatMap((road) => ROAD_RULES[road])];
}

/** Kinds that are in no namespace. Of namespaces it reads labels, which it does without where it has only some of them. */
const CLUSTER_SCOPED = new Set(['namespaces']);

/** The same within one namespace, for an operator that watches only some. */
export function namespacedRules(roads: readonly Road[]): PolicyRule[] {
  return operatorRules(roads).flatMap((rule) => {
    const resources = rule.resources.filter((resource) => !CLUSTER_SCOPED.has(resource));
    return resources.length > 0 ? [{ ...rule, resources }] : [];
  });
}
