import { rightsOf, rulesOf } from '../kernel/rights.ts';
import type { PolicyRule, Right } from '../kernel/rights.ts';
import { KAFKA_WATCHES } from '../brokers/watches.ts';
import { POD_SET_WATCHES } from '../pod-sets/watches.ts';
import { PROXY_WATCHES } from '../proxy/watches.ts';
import { REDPANDA_WATCHES } from '../redpanda/watches.ts';
import type { OperatorRoad } from '../roads.ts';
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
