/** In which Kubernetes clusters the pools of a Kafka are, and by which network their nodes find each other. Pure. */
import { STRETCH_ANNOTATIONS, stretchOf } from '../../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { networkIdOf } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import { LOCAL } from '../../kernel/plan.ts';
import type { Fault } from '../faults.ts';
import { hasRun } from '../model/charter.ts';
import type { Charter } from '../model/charter.ts';
import type { NetworkKind } from '../model/cluster.ts';
import { NETWORK_KINDS, isNetworkKind } from '../stretch/network.ts';
import { LABEL, refusal } from './node-faults.ts';

/** The clusters that the operator may use; undefined for one that was joined with none. */
export interface Joined {
  clusters: ReadonlySet<string>;
  /** The id of the cluster that the operator runs in, if it has one. */
  central: string | undefined;
}

/** Where the nodes of a pool are. */
export interface PoolPlace {
  target: string;
  networkId: string | undefined;
}

export interface Placement {
  network: NetworkKind | undefined;
  /** Of every pool, also of one that is refused. */
  placeOf: (pool: KafkaNodePool) => PoolPlace;
  /** The clusters that may have something of it, as they are to be written down. */
  targets: Charter['targets'];
  faults: Fault[];
}

interface Asked {
  kafka: Kafka;
  pools: readonly KafkaNodePool[];
  charter: Charter;
  joined: Joined | undefined;
}

export function placementOf(asked: Asked): Placement {
  const { pools, joined, charter } = asked;
  const targetOf = ({ spec: { cluster } }: KafkaNodePool) =>
    cluster === undefined || cluster === LOCAL || cluster === joined?.central ? LOCAL : cluster;
  const { network, faults: networkFaults } = networkOf(
    asked,
    pools.filter((pool) => targetOf(pool) !== LOCAL),
  );
  const places = new Map(
    pools.map((pool) => {
      const target = targetOf(pool);
      const own = networkIdOf(pool) ?? joined?.central;
      // What has run keeps its names, whatever a label says meanwhile.
      const known = hasRun(charter) ? charter.targets[target]?.networkId : undefined;
      return [pool.metadata.name, { target, networkId: network && (known ?? own), own }] as const;
    }),
  );
  const used = new Set([...places.values()].map(({ target }) => target));
  const isStretched = network !== undefined || [...used].some((target) => target !== LOCAL);
  const asTargets = [...places.values()].map(
    ({ target, networkId }) => [target, networkId === undefined ? {} : { networkId }] as const,
  );
  return {
    network,
    placeOf: ({ metadata }) => {
      const { target = LOCAL, networkId } = places.get(metadata.name) ?? {};
      return { target, networkId };
    },
    targets:
      isStretched || Object.keys(charter.targets).length > 0
        ? { ...charter.targets, ...Object.fromEntries(asTargets) }
        : {},
    faults: [
      ...networkFaults,
      ...pools.flatMap((pool) => clusterFaults(pool, targetOf(pool), joined)),
      ...pools.flatMap((pool) => moveFaults(pool, targetOf(pool), charter)),
      ...(network === undefined
        ? []
        : pools.flatMap((pool) => idFaults(pool, places.get(pool.metadata.name)!))),
      ...(network === undefined ? [] : sharedIdFaults(places)),
    ],
  };
}

const atPool = (
  { metadata: { name } }: KafkaNodePool,
  reason: 'Invalid' | 'NotSupported' | 'ChangeNotPossible' | 'UnknownCluster',
  path: readonly string[],
  message: string,
): Fault => ({ reason, path, pool: name, message: `KafkaNodePool "${name}": ${message}` });

/** An unknown name is an error, and never the central cluster. */
function clusterFaults(pool: KafkaNodePool, target: string, joined: Joined | undefined): Fault[] {
  if (target === LOCAL || joined?.clusters.has(target)) return [];
  const path = ['spec', 'cluster'];
  if (!joined)
    return [atPool(pool, 'NotSupported', path, `nodes in another Kubernetes cluster (${target}) need an operator that was joined with it; join it (isthmus join), or leave it out`)]; // prettier-ignore
  const known = [...joined.clusters].toSorted().join(', ') || 'none';
  return [atPool(pool, 'UnknownCluster', path, `no cluster "${target}" was joined (known: ${known}); correct the name, or join it (isthmus join)`)]; // prettier-ignore
}

/** Disks do not move. */
function moveFaults(pool: KafkaNodePool, target: string, { nodes }: Charter): Fault[] {
  const had = nodes.find((node) => node.pool === pool.metadata.name && node.target !== target);
  if (!had) return [];
  const named = (cluster: string) => (cluster === LOCAL ? 'the central cluster' : `cluster "${cluster}"`);
  const message = `its nodes are in ${named(had.target)} and stay there; take the change of spec.cluster back, add a pool in ${named(target)}, and remove this one after that`;
  return [atPool(pool, 'ChangeNotPossible', ['spec', 'cluster'], message)];
}

const KIND_PATH = ['metadata', 'annotations', STRETCH_ANNOTATIONS.crossClusterType];

/** Nodes are known by names of their network, to clients and to each other: while they run it stays what it is. */
function networkOf(
  { kafka, charter, joined }: Asked,
  away: readonly KafkaNodePool[],
): { network: NetworkKind | undefined; faults: Fault[] } {
  const kinds = NETWORK_KINDS.join(', ');
  const written = stretchOf(kafka)?.network;
  if (written !== undefined && !isNetworkKind(written)) {
    const message = `network ${JSON.stringify(written)} is not known; use one of ${kinds}`;
    return { network: charter.network, faults: [refusal('Invalid', KIND_PATH, message)] };
  }
  const wanted = joined ? written : undefined;
  if (!hasRun(charter)) {
    if (wanted !== undefined || away.length === 0 || !joined) return { network: wanted, faults: [] };
    const message = `pools are in several Kubernetes clusters (${away.map(({ spec }) => spec.cluster).join(', ')}); say what joins them by the annotation ${STRETCH_ANNOTATIONS.crossClusterType}: ${kinds}`;
    return { network: undefined, faults: [refusal('Invalid', KIND_PATH, message)] };
  }
  const { network } = charter;
  const isOther = network === undefined ? away.length > 0 : written !== network;
  if (!isOther || (network === undefined && !joined)) return { network, faults: [] };
  const why =
    network === undefined
      ? 'it was made without a network, so its nodes are known by names that only its own Kubernetes cluster resolves'
      : `its nodes are known by names of the network "${network}"`;
  const cure =
    network === undefined
      ? 'make a new Kafka with the annotation from the start, and mirror the data to it'
      : `put ${STRETCH_ANNOTATIONS.crossClusterType}: ${network} back`;
  return { network, faults: [refusal('ChangeNotPossible', KIND_PATH, `${why}; ${cure}`)] };
}

/** What the network calls a cluster is a part of names. */
function idFaults(
  pool: KafkaNodePool,
  { target, networkId, own }: PoolPlace & { own: string | undefined },
): Fault[] {
  const label = 'strimzi.io/cluster-network-id';
  const path = ['metadata', 'labels', label];
  if (networkId === undefined)
    return [atPool(pool, 'Invalid', path, `it is in the central cluster, of which nobody said what the network calls it; label the pool with ${label}, or give the operator STRIMZI_CENTRAL_CLUSTER_ID`)]; // prettier-ignore
  if (own !== undefined && own !== networkId)
    return [atPool(pool, 'ChangeNotPossible', path, `nodes in ${target} are known by names with "${networkId}" in them; put that back as its network id, instead of "${own}"`)]; // prettier-ignore
  return LABEL.test(networkId)
    ? []
    : [atPool(pool, 'Invalid', path, `"${networkId}" cannot be a part of a DNS name; use at most 63 lower-case letters, digits and hyphens`)]; // prettier-ignore
}

/** One cluster, one id. */
function sharedIdFaults(places: ReadonlyMap<string, PoolPlace>): Fault[] {
  const pairs = [...places.values()].flatMap(({ target, networkId }) =>
    networkId === undefined ? [] : [[target, networkId] as const],
  );
  const path = ['metadata', 'labels'];
  const twice = [...Map.groupBy(pairs, ([target]) => target)].flatMap(([target, own]) => {
    const ids = [...new Set(own.map(([, id]) => id))];
    return ids.length < 2
      ? []
      : [
          refusal(
            'Invalid',
            path,
            `pools in ${target} give it different network ids (${ids.join(', ')}); use one`,
          ),
        ];
  });
  const shared = [...Map.groupBy(pairs, ([, id]) => id)].flatMap(([id, own]) => {
    const targets = [...new Set(own.map(([target]) => target))];
    return targets.length < 2
      ? []
      : [
          refusal(
            'Invalid',
            path,
            `clusters ${targets.join(', ')} have the same network id "${id}"; give each its own`,
          ),
        ];
  });
  return [...twice, ...shared];
}

/** Load balancers are asked for in one Kubernetes cluster so far. */
export function stretchedListenerFaults({ spec }: Kafka, { network }: Pick<Placement, 'network'>): Fault[] {
  if (network === undefined) return [];
  return (spec.kafka.listeners ?? []).flatMap(
    ({ name, type }, at) =>
    type !== 'loadbalancer'
      ? []
      : [refusal('NotSupported', ['spec', 'kafka', 'listeners', String(at), 'type'], `listener "${name}": type ${type} is not supported in a Kafka over several Kubernetes clusters; use internal or hostport`)], // prettier-ignore
  );
}
