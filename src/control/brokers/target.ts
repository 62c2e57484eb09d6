/** The objects of a cluster in one Kubernetes cluster, and what of those before them goes. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import { referenceOf } from '../../kube/write/apply-decision.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Target } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';
import { AUTHORITY_LABEL } from './certificates/authorities.ts';
import type { Certificates } from './certificates/authorities.ts';
import type { Charter } from './model/charter.ts';
import { nodesOf } from './model/cluster.ts';
import type { BrokerCluster } from './model/cluster.ts';
import { ownerLabels, podName } from './model/names.ts';
import { nodeConfigMap } from './objects/node-files.ts';
import { podSet } from './objects/pod-sets.ts';
import { secretsOf } from './objects/secrets.ts';
import {
  bootstrapService,
  headlessService,
  networkPolicy,
  podDisruptionBudget,
  serviceAccount,
} from './objects/services.ts';
import type { OperatorPods } from './objects/services.ts';
import { claimsOf } from './objects/volumes.ts';

/** The pods that a set lists. */
export const podsIn = (set: AnyObject): AnyObject[] => (set['spec'] as { pods: AnyObject[] }).pods;

/**
 * Only nodes that have a certificate: without one a pod could not even be made. The set of one that runs and has lost its certificate
 * stays as it is until it has a new one: a pod that is not listed is deleted.
 */
export function podSetsOf(
  cluster: BrokerCluster,
  charter: Charter,
  { annotations }: Certificates,
  live: readonly AnyObject[],
): AnyObject[] {
  const lacking = new Set(live.flatMap(({ metadata: { name } }) => (annotations.has(name) ? [] : [name])));
  return cluster.pools.flatMap((pool) => {
    if (pool.nodes.some(({ id }) => lacking.has(podName(cluster.name, pool.name, id)))) return [];
    const nodes = pool.nodes.filter(({ id }) => annotations.has(podName(cluster.name, pool.name, id)));
    // Of a pool that has no nodes any more the set is empty, so that the last pod goes.
    return nodes.length === 0 && pool.nodes.length > 0
      ? []
      : [podSet(cluster, { ...pool, nodes }, charter.epoch, annotations)];
  });
}

/** All that is to be there. */
export interface Wanted {
  cluster: BrokerCluster;
  charter: Charter;
  certificates: Certificates;
  sets: readonly AnyObject[];
  /** Those that are there. */
  pods: readonly AnyObject[];
}

export function targetOf(
  { cluster, charter, certificates, sets, pods }: Wanted,
  operator: OperatorPods | undefined,
  { taken }: Pick<Learned<never>, 'taken'>,
): Target {
  const objects = [
    ...secretsOf(cluster, certificates.secrets),
    serviceAccount(cluster),
    headlessService(cluster),
    bootstrapService(cluster),
    networkPolicy(cluster, operator),
    podDisruptionBudget(cluster),
    ...nodesOf(cluster).map(({ pool, node }) => nodeConfigMap(cluster, pool, node)),
    ...claimsOf(cluster),
    ...sets,
  ];
  return {
    cluster: LOCAL,
    labels: ownerLabels(cluster.name),
    namespaces: [cluster.namespace],
    objects: objects.filter((object) => !taken.has(referenceOf(object))),
    // A pod that runs and is not listed would be deleted: nothing goes while something is missing.
    prune: coversAll(pods, { name: cluster.name, charter }, sets),
    kinds: PRUNED,
    // An authority that its owner takes over was ours, and is what everybody trusts.
    keeps: (['cluster-ca', 'clients-ca'] as const).map((name) => ({ [AUTHORITY_LABEL]: name })),
  };
}

/** Data stays: claims are not among them. */
const PRUNED = [
  { group: '', version: 'v1', kind: 'Secret' },
  { group: '', version: 'v1', kind: 'ConfigMap' },
  { group: '', version: 'v1', kind: 'Service' },
  { group: 'core.strimzi.io', version: 'v1', kind: 'StrimziPodSet' },
];

/** Whether every node that has a pod is listed: pods of nodes that are gone for good need not be. */
function coversAll(
  pods: readonly AnyObject[],
  { name, charter }: { name: string; charter: Charter },
  sets: readonly AnyObject[],
): boolean {
  const listed = new Set(sets.flatMap(podsIn).map(({ metadata }) => metadata.name));
  const live = new Set(pods.map(({ metadata }) => metadata.name));
  const expected = charter.nodes.map(({ pool, id }) => podName(name, pool, id));
  return expected.every((pod) => listed.has(pod) || !live.has(pod));
}
