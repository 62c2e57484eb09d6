/** All objects that a cluster has in each Kubernetes cluster, and what of those before may go. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Target } from '../kernel/plan.ts';
import { AUTHORITY_LABEL } from './certificates/authorities.ts';
import type { Certificates } from './certificates/authorities.ts';
import type { Charter } from './model/charter.ts';
import { nodesOf } from './model/cluster.ts';
import type { BrokerCluster } from './model/cluster.ts';
import { ownerLabels, podName, podSetName, trustBundleName } from './model/names.ts';
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
  serviceExports,
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

/** What targets are made from. */
export interface Wanted {
  cluster: BrokerCluster;
  charter: Charter;
  /** What cert-manager is asked for. */
  issued: readonly AnyObject[];
  certificates: Certificates;
  sets: readonly AnyObject[];
  reservations: readonly Reservation[];
  operator: OperatorPods | undefined;
  /** Whether there are NetworkPolicies at all. */
  networkPolicies: boolean;
  /** The networks of nodes that are in other Kubernetes clusters than one; undefined where nobody knows them. */
  networksBeside: (cluster: string) => readonly string[] | undefined;
}

/** What the central Kubernetes cluster has: all that there is once, authorities and DNS records included, and what its own nodes need. */
export const centralTarget = (observed: Observed, wanted: Wanted): Target =>
  targetInCentral(observed, wanted, partIn(LOCAL, wanted));

/** What another one has, by name: what its nodes need, and no key of an authority. */
export const remoteTarget = (name: string, wanted: Wanted): Target =>
  targetElsewhere(name, wanted, partIn(name, wanted));

/** Of a cluster what is in one Kubernetes cluster. */
interface Part {
  cluster: BrokerCluster;
  charter: Charter;
  sets: readonly AnyObject[];
}

function partIn(name: string, { cluster, charter, sets }: Wanted): Part {
  const pools = cluster.pools.filter(({ target }) => target === name);
  const own = new Set(pools.map((pool) => podSetName(cluster.name, pool.name)));
  return {
    cluster: { ...cluster, pools },
    charter: { ...charter, nodes: charter.nodes.filter(({ target }) => target === name) },
    sets: sets.filter(({ metadata }) => own.has(metadata.name)),
  };
}

const scopeOf = ({ name, namespace }: BrokerCluster) => ({
  labels: ownerLabels(name),
  namespaces: [namespace],
});

/** Who may connect to the nodes of a part, and how they find each other. */
const commonObjects = (
  { cluster, charter }: Part,
  { operator, networkPolicies, networksBeside }: Wanted,
  place: string,
) => ({
  network: [
    serviceAccount(cluster),
    headlessService(cluster),
    bootstrapService(cluster),
    ...serviceExports(cluster),
  ],
  balancers: loadBalancers(cluster),
  guards: [
    ...(networkPolicies ? [networkPolicy(cluster, operator, networksBeside(place))] : []),
    podDisruptionBudget(cluster, charter.nodes.length),
  ],
});

/** The configuration of a node names all others, wherever they are. */
const nodeObjects = (all: BrokerCluster, { cluster, sets }: Part): AnyObject[] => [
  ...nodesOf(cluster).map(({ pool, node }) => nodeConfigMap(all, pool, node)),
  ...claimsOf(cluster),
  ...sets,
];

function targetInCentral(observed: Observed, wanted: Wanted, part: Part): Target {
  const { cluster, issued, certificates, reservations } = wanted;
  const { network, balancers, guards } = commonObjects(part, wanted, LOCAL);
  const anchorUid = observed.anchor?.metadata.uid;
  return {
    cluster: LOCAL,
    ...scopeOf(cluster),
    objects: [
      // Also those of nodes elsewhere: what is renewed when is decided by these.
      ...secretsOf(cluster, certificates.secrets),
      ...issued,
      ...network,
      ...balancers,
      ...(anchorUid === undefined ? [] : reservations.map((one) => hostPortService(cluster, one, anchorUid))),
      ...guards,
      ...nodeObjects(cluster, part),
      ...dnsEndpointsOf(observed, cluster),
    ].map((object) => asServed(object, observed)),
    prune: listsAll(madeBefore(observed), cluster.name, part),
    keeps: [
      // An authority that its owner takes over was ours, and is what everybody trusts.
      ...(['cluster-ca', 'clients-ca'] as const).map((name) => ({ [AUTHORITY_LABEL]: name })),
      KEPT_PORT,
    ],
  };
}

/** In the version that the cluster has. */
const asServed = (object: AnyObject, { exportVersion }: Observed): AnyObject =>
  object.kind === 'ServiceExport' && exportVersion !== undefined
    ? { ...object, apiVersion: exportVersion }
    : object;

/** The number that the central cluster has given, and no other; none before there is one. */
const keptPortsElsewhere = (cluster: BrokerCluster, reservations: readonly Reservation[]): AnyObject[] =>
  reservations.flatMap((one) =>
    one.elsewhere === undefined
      ? []
      : [hostPortService(cluster, { ...one, hostPort: one.elsewhere, isReturned: false }, '')],
  );

/** Owned by the Kafka, as all others are: whoever writes it there hangs it off what is there instead. */
function targetElsewhere(name: string, wanted: Wanted, part: Part): Target {
  const { cluster, certificates, reservations } = wanted;
  const { network, balancers, guards } = commonObjects(part, wanted, name);
  const pods = nodesOf(part.cluster).map(({ pool, node }) => podName(cluster.name, pool.name, node.id));
  const needed = new Set([trustBundleName(cluster.name), ...pods]);
  const secrets = [...certificates.secrets].filter(([secret]) => needed.has(secret));
  const made = new Set(part.charter.nodes.map(({ pool, id }) => podName(cluster.name, pool, id)));
  return {
    cluster: name,
    ...scopeOf(cluster),
    objects: [
      ...secretsOf(cluster, new Map(secrets)),
      ...network,
      ...balancers,
      ...keptPortsElsewhere(cluster, reservations),
      ...guards,
      ...nodeObjects(cluster, part),
    ],
    keeps: [KEPT_PORT],
    // Of those that are not seen now each counts as made.
    prune: listsAll(made, cluster.name, part),
  };
}

/**
 * Whether every node that was made and is still in the charter is listed. While one is not (its pool was deleted and it is not empty
 * yet, or its certificate is lost) nothing goes: with its set the pod would.
 */
function listsAll(made: ReadonlySet<string>, cluster: string, { charter, sets }: Part): boolean {
  const listed = new Set(sets.flatMap(podsIn).map(({ metadata }) => metadata.name));
  return charter.nodes
    .map(({ pool, id }) => podName(cluster, pool, id))
    .every((name) => !made.has(name) || listed.has(name));
}
