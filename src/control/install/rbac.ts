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
    verbs: ['get', 'update'],
  },
];

/** What the operator does anywhere, whatever its roads: say what happened. */
const EVENT_RULES: PolicyRule[] = [
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** What each road needs on top. A road that is not served grants nothing. */
const ROAD_RULES: Record<Road, PolicyRule[]> = {
  proxy: [],
  expose: [],
  stretch: [],
  discover: [],
};

/** The rules of the operator's ClusterRole for the roads it serves. */
export function clusterRules(roads: readonly Road[]): PolicyRule[] {
  return [...EVENT_RULES, ...roads.flatMap((road) => ROAD_RULES[road])];
}
