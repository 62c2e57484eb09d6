/** The charter of a cluster as it is kept: a KafkaAnchor beside the Kafka, or what disks and pod sets still say where that was lost. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import { MANAGED_BY } from '../kernel/field-manager.ts';
import { LOCAL } from '../kernel/plan.ts';
import { dynamicQuorumOf, hasRun } from './model/charter.ts';
import type { Charter, CharterNode, DynamicQuorum, InFlight } from './model/charter.ts';
import type { Role } from './model/cluster.ts';
import {
  BROKER_ROLE_LABEL,
  CLUSTER_ID_ANNOTATION,
  CLUSTER_LABEL,
  CONTROLLER_ROLE_LABEL,
  FORMATTED_ANNOTATION,
  NODE_ID_ANNOTATION,
  POOL_LABEL,
  anchorName,
} from './model/names.ts';
import type { Observed } from './observe.ts';
import { isDynamic } from './quorum/chosen.ts';
import { isNetworkKind } from './stretch/network.ts';
import { placeOf } from './stretch/sight.ts';
import { podsIn } from './objects/pod-sets.ts';

export function charterOf({ spec }: KafkaAnchor): Charter {
  const { clusterId, epoch, nodes, network, targets, ports, addresses, names, inFlight, quorum } = spec;
  return {
    clusterId,
    epoch,
    nodes: nodes.map((node) => ({ ...node, target: node.target ?? LOCAL })),
    ...(network !== undefined && isNetworkKind(network) && { network }),
    targets: Object.fromEntries(targets.map(({ name, ...target }) => [name, target])),
    hostPorts: Object.fromEntries(ports.map(({ name, port }) => [name, port])),
    addresses: Object.fromEntries(addresses.map((one) => [one.name, one.addresses])),
    names: Object.fromEntries(names.map(({ name, ...grant }) => [name, grant])),
    ...(inFlight && { inFlight: readFlight(inFlight) }),
    quorum: quorum ? readQuorum(quorum) : 'static',
  };
}

const readQuorum = ({ initial, change }: NonNullable<KafkaAnchor['spec']['quorum']>): DynamicQuorum => ({
  initial,
  ...(change && { change: { ...change, since: Date.parse(change.since) } }),
});

const writtenQuorum = ({ initial, change }: DynamicQuorum): object => ({
  initial,
  ...(change && { change: { ...change, since: new Date(change.since).toISOString() } }),
});

/** The object to be written; over `live`, if there is one. */
export function anchorOf(
  kafka: Kafka,
  charter: Charter,
  holder: string,
  live: KafkaAnchor | undefined,
): AnyObject {
  const { namespace, name, uid = '' } = kafka.metadata;
  const { clusterId, epoch, nodes, network, targets, hostPorts, addresses, names, inFlight } = charter;
  const quorum = dynamicQuorumOf(charter);
  const kept = Object.entries(live?.spec ?? {}).filter(([field]) => !['inFlight', 'quorum'].includes(field));
  return {
    apiVersion: 'isthmus.dev/v1alpha1',
    kind: 'KafkaAnchor',
    metadata: {
      ...(live?.metadata.resourceVersion !== undefined && { resourceVersion: live.metadata.resourceVersion }),
      name: anchorName(name),
      namespace,
      labels: { ...live?.metadata.labels, [CLUSTER_LABEL]: name, ...MANAGED_BY },
      ...(live && { annotations: live.metadata.annotations }),
    },
    spec: {
      ...Object.fromEntries(kept),
      clusterId,
      epoch,
      holder,
      kafka: { name, uid },
      nodes: nodes.map(({ target, ...node }) => ({ ...node, ...(target !== LOCAL && { target }) })),
      ...(network !== undefined && { network }),
      targets: byName(targets).map(([name, target]) => ({ name, ...target })),
      ports: byName(hostPorts).map(([name, port]) => ({ name, port })),
      addresses: byName(addresses).map(([name, given]) => ({ name, addresses: given })),
      names: byName(names).map(([name, grant]) => ({ name, ...grant })),
      ...(inFlight && { inFlight: writtenFlight(inFlight) }),
      ...(quorum && { quorum: writtenQuorum(quorum) }),
    },
  };
}

const byName = <T>(entries: Readonly<Record<string, T>>) =>
  Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** As much as the anchor holds of why a restart was begun. */
const MAX_WHY = 4096;

const writtenFlight = ({ since, why, earlier, ...flight }: InFlight): object => ({
  ...flight,
  since: new Date(since).toISOString(),
  why: why.slice(0, MAX_WHY),
  ...(earlier && { earlier: writtenFlight(earlier) }),
});

const readFlight = ({
  since,
  earlier,
  ...flight
}: NonNullable<KafkaAnchor['spec']['inFlight']>): InFlight => ({
  ...flight,
  since: Date.parse(since),
  ...(earlier && { earlier: { ...earlier, since: Date.parse(earlier.since) } }),
});

export type Adoption = { charter: Charter; problem?: never } | { charter?: never; problem: string };

/** A node of which something is left. */
interface Trace {
  clusterId: string;
  id: number;
  pool: string;
  roles: readonly Role[];
  /** The volume that has had data; undefined for a pod of a set, and for a claim that says that it is new. */
  volume: string | undefined;
}

const CLUSTER_ID = /^[A-Za-z0-9_-]{22}$/;

/**
 * What there is to adopt where no anchor is: disks that a cluster of this name left, and sets of pods that still run. They keep its
 * id, which nodes they belong to, and whether they have had data, so that a Kafka that was deleted and is applied again finds its data.
 */
export function adopt({
  kafka,
  claims,
  podSets,
  newClusterId,
  targets,
}: Pick<Observed, 'kafka' | 'claims' | 'podSets' | 'newClusterId' | 'targets'>): Adoption {
  const placed = (traces: (object: AnyObject) => Trace[]) => (object: AnyObject) =>
    traces(object).map((trace) => ({ ...trace, target: placeOf(targets, object) }));
  // Sets first: a disk may be of a former node whose id another one has now, in another pool.
  const found = [...podSets.flatMap(placed(tracesOfSet)), ...claims.flatMap(placed(traceOfClaim))];
  const ids = [...new Set(found.map(({ clusterId }) => clusterId))];
  if (ids.length > 1)
    return {
      problem: `its PersistentVolumeClaims are of different Kafka clusters (${ids.join(', ')}); remove those of others`,
    };
  const byNode = Map.groupBy(found, ({ id }) => id);
  const nodes = [...byNode].map(([id, traces]): CharterNode => ({
    id,
    pool: traces[0]!.pool,
    target: traces[0]!.target,
    roles: traces.find(({ roles }) => roles.length > 0)?.roles ?? [],
    leaving: false,
    formatted: traces.flatMap(({ volume }) => volume ?? []).toSorted(),
  }));
  return {
    charter: {
      clusterId: ids[0] ?? newClusterId,
      epoch: 1,
      nodes: nodes.toSorted((a, b) => a.id - b.id),
      targets: {},
      hostPorts: {},
      addresses: {},
      names: {},
      quorum: hasRun({ nodes }) ? quorumSaid(kafka) : undefined,
    },
  };
}

/** Disks do not say it, and their owner is taken by the word. Whoever has not run yet may choose. */
const quorumSaid = (kafka: Kafka | undefined): Charter['quorum'] =>
  kafka && isDynamic(kafka) ? { initial: [] } : 'static';

function traceOf(
  { metadata }: AnyObject,
  id: string | undefined,
): Omit<Trace, 'roles' | 'volume'> | undefined {
  const clusterId = metadata.annotations?.[CLUSTER_ID_ANNOTATION] ?? '';
  const pool = metadata.labels?.[POOL_LABEL];
  if (!CLUSTER_ID.test(clusterId) || !/^\d{1,9}$/.test(id ?? '') || pool === undefined) return undefined;
  return { clusterId, id: Number(id), pool };
}

function traceOfClaim(claim: AnyObject): Trace[] {
  const { annotations, name } = claim.metadata;
  const trace = traceOf(claim, annotations?.[NODE_ID_ANNOTATION]);
  const volume = /^data(-\d+)?(?=-)/.exec(name)?.[0] ?? 'data';
  const isNew = annotations?.[FORMATTED_ANNOTATION] === 'false';
  return trace ? [{ ...trace, roles: [], volume: isNew ? undefined : volume }] : [];
}

/** The nodes that a set lists, as far as it is one of ours. */
export function tracesOfSet(set: AnyObject): Trace[] {
  return podsIn(set).flatMap(({ metadata }) => {
    const trace = traceOf(set, /-(\d+)$/.exec(metadata.name)?.[1]);
    return trace ? [{ ...trace, roles: rolesOfPod({ metadata }), volume: undefined }] : [];
  });
}

/** What a pod was made to be. */
export const rolesOfPod = ({ metadata: { labels = {} } }: Pick<AnyObject, 'metadata'>): Role[] =>
  ROLE_LABELS.flatMap(([label, role]) => (labels[label] === 'true' ? [role] : []));

const ROLE_LABELS = [
  [BROKER_ROLE_LABEL, 'broker'],
  [CONTROLLER_ROLE_LABEL, 'controller'],
] as const;
