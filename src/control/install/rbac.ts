import { rightsOf, rulesOf } from '../kernel/rights.ts';
import type { PolicyRule, Right } from '../kernel/rights.ts';
import { TARGET_WATCHES } from '../brokers/stretch/watches.ts';
import { KAFKA_WATCHES } from '../brokers/watches.ts';
import { POD_SET_WATCHES } from '../pod-sets/watches.ts';
import { PROXY_WATCHES } from '../proxy/watches.ts';
import { REDPANDA_WATCHES } from '../redpanda/watches.ts';
import type { OperatorRoad } from '../roads.ts';
import { CLUSTERS_MAP } from '../targets/cluster-report.ts';
import { JOIN_WATCHES } from '../targets/watches.ts';
import { OPERATOR_NAME } from './objects.ts';

/** What the operator does in its own namespace, whatever its roads: take the lead. */
export const LEADER_RULES = leaderRules(OPERATOR_NAME);

/** The rights to take part in an election by the Lease of this name. */
export function leaderRules(lease: string): PolicyRule[] {
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  // A Lease that does not exist yet cannot be named in a rule for create.
  return [
    { ...leases, verbs: ['create'] },
    { ...leases, resourceNames: [lease], verbs: ['get', 'patch'] },
  ];
}

/** The roads that work in other clusters, too. */
export const worksElsewhere = (roads: readonly OperatorRoad[]): boolean => roads.includes('kafka');

/** What the operator does in its own namespace: take the lead, and read how joined clusters are reached, where a road works in them. */
export function homeRules(roads: readonly OperatorRoad[]): PolicyRule[] {
  return [...LEADER_RULES, ...(worksElsewhere(roads) ? TARGET_RULES : [])];
}

/** The kubeconfigs of joined clusters, and what is said of them. */
const TARGET_RULES: PolicyRule[] = [
  ...rulesOf(rightsOf(JOIN_WATCHES)),
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  { apiGroups: [''], resources: ['configmaps'], resourceNames: [CLUSTERS_MAP], verbs: ['patch'] },
];

/** What is done in a cluster that brokers of a Kafka of this one run in. */
export const STRETCH_RIGHTS: readonly Right[] = rightsOf(TARGET_WATCHES);

/** What is done in a cluster that exposed brokers are looked at from, in a namespace of our own: pods look, and their status is what they saw. */
export const VANTAGE_RIGHTS: readonly Right[] = [
  { group: '', resource: 'pods', verbs: ['get', 'create', 'delete'], scope: 'Namespaced' },
];

/** What is done anywhere, whatever the roads: say what happened. */
export const EVENT_RIGHTS: Right[] = [
  { group: 'events.k8s.io', resource: 'events', verbs: ['create', 'patch'], scope: 'Namespaced' },
];

/** What each road needs on top: the rights that its table of watched kinds amounts to. */
const ROAD_RIGHTS: Record<OperatorRoad, Right[]> = {
  proxy: rightsOf(PROXY_WATCHES),
  kafka: rightsOf(KAFKA_WATCHES),
  redpanda: rightsOf(REDPANDA_WATCHES),
  'pod-sets': rightsOf(POD_SET_WATCHES),
};

const rightsFor = (roads: readonly OperatorRoad[]) => [
  ...EVENT_RIGHTS,
  ...roads.flatMap((road) => ROAD_RIGHTS[road]),
];

/** What the operator may do for the roads it serves, wherever it may do it. A road that is not served grants nothing. */
export function operatorRules(roads: readonly OperatorRoad[]): PolicyRule[] {
  return rulesOf(rightsFor(roads));
}

/** The same within one namespace, for an operator that watches only some. */
export function namespacedRules(roads: readonly OperatorRoad[]): PolicyRule[] {
  return rulesOf(rightsFor(roads).filter(({ scope }) => scope === 'Namespaced'));
}

/** What such an operator may read that is in no namespace. It does without most such kinds. */
export function everywhereRules(roads: readonly OperatorRoad[]): PolicyRule[] {
  return rulesOf(rightsFor(roads).filter(({ everywhere }) => everywhere));
}
