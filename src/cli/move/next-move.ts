/**
 * Moves a node pool to another Kubernetes cluster: a pool like it is made there, and the former one becomes empty and goes. What is to be
 * done next is read off the resources each time, so that nothing has to be remembered: whoever runs the command again goes on. Pure.
 */
import type { AnyObject } from '../../kube/object.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { CLUSTER_ALIAS, NETWORK_ID_LABELS } from '../../resources/strimzi/kafka-node-pool.ts';
import type { KafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { conditionsIn } from '../../view/health.ts';

/** On the new pool: the one in whose place it is. */
export const MOVED_FROM = 'isthmus.dev/moved-from';
/** On the former one, and how many nodes it had. */
export const MOVED_TO = 'isthmus.dev/moved-to';
export const REPLICAS_BEFORE = 'isthmus.dev/replicas-before';

/** Annotations that are about the nodes of one pool, and not of one like it. */
const OWN_ANNOTATIONS = new Set([
  CLUSTER_ALIAS,
  MOVED_FROM,
  MOVED_TO,
  REPLICAS_BEFORE,
  'kubectl.kubernetes.io/last-applied-configuration',
  'strimzi.io/next-node-ids',
  'strimzi.io/remove-node-ids',
]);

export interface MoveWish {
  name: string;
  /** The Kubernetes cluster. */
  to: string;
  /** What the new pool is called. */
  successor: string;
}

/** All that was read. Objects are as the API server has them, pools also as they are understood. */
export interface MoveSight {
  pool: { object: AnyObject; read: KafkaNodePool } | undefined;
  successor: KafkaNodePool | undefined;
  kafka: AnyObject | undefined;
  anchor: KafkaAnchor | undefined;
}

export type MoveStep =
  | { do: 'refuse'; why: string }
  | { do: 'create'; object: AnyObject }
  /** The operator does not take the new pool: it goes again. */
  | { do: 'undo'; why: string }
  /** The former pool is to have no nodes. */
  | { do: 'empty' }
  | { do: 'wait'; progress: string }
  /** The former pool has no nodes any more. */
  | { do: 'delete' }
  | { do: 'done' };

const refuse = (why: string): MoveStep => ({ do: 'refuse', why });

export function nextMove(wish: MoveWish, sight: MoveSight): MoveStep {
  const { pool, successor, anchor } = sight;
  const isOurs =
    successor?.metadata.annotations[MOVED_FROM] === wish.name && successor.spec.cluster === wish.to;
  if (!pool) return isOurs ? { do: 'done' } : refuse(`there is no KafkaNodePool ${wish.name} here`);
  const obstacle = obstacleTo(wish, sight);
  if (obstacle !== undefined) return refuse(obstacle);
  if (!successor) return begin(wish, sight);
  if (!isOurs)
    return refuse(`there is a KafkaNodePool ${wish.successor} already; choose another name by --name`);
  const nodesOf = (name: string) => anchor!.spec.nodes.filter((node) => node.pool === name);
  if (nodesOf(wish.successor).length < (successor.spec.replicas ?? 0)) {
    const refused = notAccepted(sight);
    return refused === undefined
      ? { do: 'wait', progress: `the operator has to see KafkaNodePool ${wish.successor}` }
      : { do: 'undo', why: refused };
  }
  if ((pool.read.spec.replicas ?? 0) > 0) return { do: 'empty' };
  const left = nodesOf(wish.name);
  return left.length === 0 ? { do: 'delete' } : { do: 'wait', progress: progressOf(sight, left) };
}

/** Why it cannot be moved at all. */
function obstacleTo({ name, to }: MoveWish, { pool, kafka, anchor }: MoveSight): string | undefined {
  const { roles = [], cluster } = pool!.read.spec;
  if (!kafka)
    return `its Kafka is not here: label strimzi.io/cluster of KafkaNodePool ${name} has to name one`;
  if (!anchor) return `its Kafka has no KafkaAnchor, so no operator runs it yet`;
  const { network, quorum, targets } = anchor.spec;
  const networkIdOf = (target: string) => targets.find((one) => one.name === target)?.networkId;
  const isCentral = (target: string | undefined) => target === undefined || target === networkIdOf('local');
  if (cluster === to || (isCentral(cluster) && isCentral(to)))
    return `KafkaNodePool ${name} is in ${to} already`;
  if (network === undefined)
    return 'its Kafka was made for one Kubernetes cluster, and its nodes are known by names of that; make a new one with the annotation strimzi.io/cross-cluster-type, and mirror the data to it';
  if (roles.includes('controller') && !quorum)
    return `nodes of KafkaNodePool ${name} are controllers, and those of this Kafka stay the same (isthmus.dev/quorum: static). Only pools of brokers can be moved; a Kafka that is made with isthmus.dev/quorum: dynamic can move controllers, too`;
  return undefined;
}

function begin(wish: MoveWish, sight: MoveSight): MoveStep {
  const { replicas = 0 } = sight.pool!.read.spec;
  if (replicas === 0)
    return refuse(`KafkaNodePool ${wish.name} has no nodes; delete it, and make one in ${wish.to}`);
  const refused = notAccepted(sight);
  if (refused !== undefined) return refuse(`its Kafka is not accepted as it is, which has to be cured first: ${refused}`); // prettier-ignore
  return { do: 'create', object: successorOf(wish, sight) };
}

/** Like the former one, but for where it is. */
function successorOf({ name, to, successor }: MoveWish, { pool, anchor }: MoveSight): AnyObject {
  const { apiVersion, kind, metadata, spec } = pool!.object as AnyObject & { spec: object };
  const without = (of: Record<string, string> = {}, keys: ReadonlySet<string>) =>
    Object.fromEntries(Object.entries(of).filter(([key]) => !keys.has(key)));
  const networkId = anchor?.spec.targets.find((one) => one.name === to)?.networkId;
  return {
    apiVersion,
    kind,
    metadata: {
      name: successor,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels: {
        ...without(metadata.labels, new Set(NETWORK_ID_LABELS)),
        ...(networkId !== undefined && networkId !== to && { [NETWORK_ID_LABELS[0]]: networkId }),
      },
      // For CRDs that know no `spec.cluster`, and drop it.
      annotations: {
        ...without(metadata.annotations, OWN_ANNOTATIONS),
        [CLUSTER_ALIAS]: to,
        [MOVED_FROM]: name,
      },
    },
    spec: { ...spec, cluster: to },
  };
}

function notAccepted({ kafka }: MoveSight): string | undefined {
  const accepted = kafka && conditionsIn(kafka).find(({ type }) => type === 'Accepted');
  return accepted?.status === 'False' ? `${accepted.reason}: ${accepted.message}` : undefined;
}

function progressOf({ kafka }: MoveSight, left: readonly { id: number }[]): string {
  const ready = kafka && conditionsIn(kafka).find(({ type }) => type === 'Ready');
  const said = ready && ready.reason !== 'Ready' ? ` (${ready.reason}: ${ready.message})` : '';
  return `nodes ${left.map(({ id }) => id).join(', ')} are to go${said}`;
}
