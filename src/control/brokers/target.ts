/** All objects that a cluster has in a Kubernetes cluster, and what of those before may go. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Target } from '../kernel/plan.ts';
import { AUTHORITY_LABEL } from './certificates/authorities.ts';
import type { Certificates } from './certificates/authorities.ts';
import type { Charter } from './model/charter.ts';
import { nodesOf } from './model/cluster.ts';
import type { BrokerCluster } from './model/cluster.ts';
import { ownerLabels, podName } from './model/names.ts';
import type { Reservation } from './front/exposed-listeners.ts';
import { dnsEndpointsOf } from './expose/endpoints.ts';
import { KEPT_PORT, hostPortService } from './objects/exposed.ts';
import { formerNodes } from './objects/former-node.ts';
import { nodeConfigMap } from './objects/node-files.ts';
import { podSet, podsIn } from './objects/pod-sets.ts';
import { secretsOf } from './objects/secrets.ts';
import {
  bootstrapService,
  headlessService,
  loadBalancers,
  networkPolicy,
  podDisruptionBudget,
  serviceAccount,
} from './objects/services.ts';
import type { OperatorPods } from './objects/services.ts';
import { claimsOf } from './objects/volumes.ts';
import type { Observed } from './observe.ts';

/** Pods that there are, or are about to be because a set lists them. */
const madeBefore = ({ pods, podSets }: Pick<Observed, 'pods' | 'podSets'>): ReadonlySet<string> =>
  new Set([...pods, ...podSets.flatMap(podsIn)].map(({ metadata }) => metadata.name));

/**
 * Only nodes that have a certificate: without one a pod could not even be made. The set of one that was made and has lost its
 * certificate stays as it is until it has a new one: a pod that is not listed is deleted.
 */
export function podSetsOf(
  observed: Pick<Observed, 'pods' | 'podSets'>,
  cluster: BrokerCluster,
  { epoch }: Charter,
  { annotations }: Certificates,
): AnyObject[] {
  const made = madeBefore(observed);
  const formerly = formerNodes(observed.pods, observed.podSets.flatMap(podsIn), cluster);
  return cluster.pools.flatMap((pool) => {
    const nameOf = ({ id }: { id: number }) => podName(cluster.name, pool.name, id);
    const nodes = pool.nodes.filter((node) => annotations.has(nameOf(node)));
    const isLost = pool.nodes.some((node) => made.has(nameOf(node)) && !annotations.has(nameOf(node)));
    // Of a pool that has no nodes any more the set is empty, so that the last pod goes.
    const isEarly = nodes.length === 0 && pool.nodes.length > 0;
    return isLost || isEarly ? [] : [podSet(cluster, { ...pool, nodes }, epoch, annotations, formerly)];
  });
}

/** What a target is made from. */
export interface Wanted {
  cluster: BrokerCluster;
  charter: Charter;
  certificates: Certificates;
  sets: readonly AnyObject[];
  reservations: readonly Reservation[];
  operator: OperatorPods | undefined;
}

export function targetOf(observed: Observed, wanted: Wanted): Target {
  const { cluster, charter, certificates, sets, reservations, operator } = wanted;
  return {
    cluster: LOCAL,
    labels: ownerLabels(cluster.name),
    namespaces: [cluster.namespace],
    objects: [
      ...secretsOf(cluster, certificates.secrets),
      serviceAccount(cluster),
      headlessService(cluster),
      bootstrapService(cluster),
      ...loadBalancers(cluster),
      ...reservations.map((one) => hostPortService(cluster, one, one.hostPort)),
      networkPolicy(cluster, operator),
      podDisruptionBudget(cluster, charter.nodes.length),
      ...nodesOf(cluster).map(({ pool, node }) => nodeConfigMap(cluster, pool, node)),
      ...claimsOf(cluster),
      ...sets,
      ...dnsEndpointsOf(observed, cluster),
    ],
    prune: listsAll(observed, cluster.name, charter, sets),
    keeps: [
      // An authority that its owner takes over was ours, and is what everybody trusts.
      ...(['cluster-ca', 'clients-ca'] as const).map((name) => ({ [AUTHORITY_LABEL]: name })),
      KEPT_PORT,
    ],
  };
}

/**
 * Whether every node that was made and is still in the charter is listed. While one is not (its pool was deleted and it is not empty
 * yet, or its certificate is lost) nothing goes: with its set the pod would.
 */
function listsAll(
  observed: Observed,
  cluster: string,
  { nodes }: Charter,
  sets: readonly AnyObject[],
): boolean {
  const made = madeBefore(observed);
  const listed = new Set(sets.flatMap(podsIn).map(({ metadata }) => metadata.name));
  return nodes
    .map(({ pool, id }) => podName(cluster, pool, id))
    .every((name) => !made.has(name) || listed.has(name));
}
