/** What the roller decides by: plain data about nodes, pods and Kafka. The road gathers it; nothing here asks anybody. */
import type { Role } from '../model/cluster.ts';
import type { DynamicChange } from './config-change.ts';
import type { NodePartitions } from './partitions.ts';
import type { PodFacts } from './pod-facts.ts';
import type { RestartReason } from './restart-reasons.ts';
import type { InFlight } from '../model/charter.ts';

/** One node of the Kafka cluster, wherever it runs. */
export interface RollNode {
  id: number;
  /** The name of its pod. */
  name: string;
  /** The target cluster that its pod runs in. */
  target: string;
  /** What it is, and what it is to be. */
  roles: readonly Role[];
  /** Whether it runs as a broker, and is to be none after its restart. */
  retires?: boolean;
  /** Whether it is a controller that has to be made a voter by hand: one that came back with another disk is none. */
  isToVote?: boolean;
  /** Whether it votes with one certain disk, without which its vote is lost for good. */
  votesWithDisk?: boolean;
  /** Why it has to be restarted, from `restartReasons`; empty: it is as it should be. */
  reasons: readonly RestartReason[];
  /** What can be changed without a restart, from `configChange`. */
  change?: DynamicChange | undefined;
  /** Undefined: there is none. Of a target that cannot be reached nothing is known, and this is ignored. */
  pod: PodFacts | undefined;
  /** Whether its disks outlive its pod (persistent claims, not emptyDir). */
  keepsData: boolean;
  /**
   * Where the certificate that it was started with has ended, and a restart would give it another: when that was, and whether its listeners
   * have loaded the other one meanwhile.
   */
  ended?: { at: number; listens: boolean } | undefined;
  /** Whether somebody wants its disks made anew with its restart: what is on them alone would be lost. */
  dropsData?: boolean | undefined;
}

/** Facts have the moment before the first request that they come from was sent. */
interface Dated {
  at: number;
}

/** What the leader of the quorum says (DescribeQuorum). */
export interface QuorumFacts extends Dated {
  /** -1 where there is none. */
  leader: number;
  /** By the leader's clock; -1 where it has never seen the voter. The leader's own entry is its present time. */
  voters: readonly { id: number; lastCaughtUpMs: number }[];
}

/** The registered brokers (DescribeCluster with fenced ones). */
export interface BrokerFacts extends Dated {
  registered: ReadonlyMap<number, { fenced: boolean; rack?: string | undefined }>;
}

/** What each node has to do with partitions, from `partitionsByNode`. A node that is not in the map has no replica. */
export interface PartitionFacts extends Dated {
  /** What `partitionsByNode` was told; it has to have all nodes whose pods are not ready now. */
  unready: ReadonlySet<number>;
  byNode: ReadonlyMap<number, NodePartitions>;
}

export type { InFlight };

export interface RollInput {
  now: number;
  /** All nodes of the Kafka cluster, in all target clusters. */
  nodes: readonly RollNode[];
  /**
   * When the pods were looked at. Facts about Kafka must not be older: a pod that is ready, and facts from before it was
   * deleted, would together say that a restart is over while it has not begun.
   */
  podsSeenAt: number;
  /** Target clusters that do not answer. */
  unreachable: ReadonlySet<string>;
  /** The user's word that nodes may be restarted while others cannot be seen. */
  rollWhileUnreachable: boolean;
  quorum: QuorumFacts | undefined;
  brokers: BrokerFacts | undefined;
  partitions: PartitionFacts | undefined;
  /** How far behind the leader a voter still counts as caught up: `controller.quorum.fetch.timeout.ms`. */
  caughtUpWithinMs: number;
  /** No broker of this cluster has ever been ready, so it has neither clients nor data: nothing can be lost. */
  neverReady: boolean;
  inFlight: InFlight | undefined;
  /** The user's annotation that pauses the reconciliation. */
  paused: boolean;
}

/** What to do now; at most one thing. `inFlight` is to be written down before it is done. */
export type RollDecision = { inFlight: InFlight | undefined } & (
  | { do: 'restart'; node: number; podUid: string; why: string; reasons: readonly RestartReason[] }
  | { do: 'reconfigure'; node: number; change: DynamicChange }
  /** Expected to pass by itself. */
  | { do: 'wait'; why: string; node?: number | undefined; lookAgainInMs?: number | undefined }
  /** Somebody or something has to change first; it is looked at again all the same. */
  | { do: 'blocked'; why: string; node?: number | undefined; lookAgainInMs: number }
  | { do: 'done' }
);

/** Facts older than this are none. Long enough to page through 100,000 partitions. */
export const MAX_FACT_AGE_MS = 10_000;

/** The same input with only those facts that may be decided by. */
export function withCurrentFacts(input: RollInput): RollInput {
  const { partitions, unreachable } = input;
  const unready = input.nodes.filter(({ target, pod }) => !unreachable.has(target) && !pod?.ready);
  const fits = unready.every(({ id }) => partitions?.unready.has(id));
  return {
    ...input,
    quorum: current(input.quorum, input),
    brokers: current(input.brokers, input),
    partitions: fits ? current(partitions, input) : undefined,
  };
}

function current<F extends Dated>(
  facts: F | undefined,
  { now, podsSeenAt }: Pick<RollInput, 'now' | 'podsSeenAt'>,
): F | undefined {
  if (facts === undefined || facts.at < podsSeenAt || now - facts.at > MAX_FACT_AGE_MS) return undefined;
  return facts;
}
