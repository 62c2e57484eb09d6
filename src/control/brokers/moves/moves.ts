import type { Reassignment, WantedReplicas } from '../../../kafka/admin/replicas.ts';
import type { PartitionRef } from '../../../kafka/admin/topics.ts';
import { loadsOf } from './layout.ts';
import type { Board, BrokerPlace, PlacedPartition } from './layout.ts';
import { drainMove } from './drain.ts';
import { evenOut } from './rebalance.ts';

/**
 * Which partitions to reassign next, so that brokers that go become empty and, where that is wanted, new ones get their
 * share. It remembers nothing: it looks at the partitions and at the reassignments under way, whoever began them, and a
 * later call goes on from there. The same input has the same answer. `begin` never changes a number of replicas on purpose;
 * have Kafka refuse it (`allowReplicationFactorChange` false), because partitions may be known less well than reassignments.
 */

export interface MoveOptions {
  /** Partitions that may be under way at once, those that others began included. */
  maxInFlight: number;
  /** Also evens out brokers that stay, once nothing is left to drain. */
  rebalance: boolean;
}

/** Some partitions: how many, and the first of them by name. */
export interface SomePartitions {
  count: number;
  first: PartitionRef[];
}

export interface Moves {
  /** What to begin now. It may replace a reassignment that leads to a broker which has to be empty. */
  begin: WantedReplicas[];
  /** What will be under way once that has begun, for the throttle. */
  moving: Reassignment[];
  /** Reassignments under way now. */
  underWay: number;
  /** Partitions with a replica on a broker that has to be empty, until they are gone from it. */
  toDrain: number;
  /**
   * They have more replicas than brokers would stay: nothing is begun. Believe it when it is seen twice: brokers hear of
   * the end of a move later than the controller, and then a partition seems to have all replicas of before and after.
   */
  noPlace: SomePartitions | undefined;
  /** They wait until one of the brokers that stay is available. */
  waiting: SomePartitions | undefined;
  /** Nothing is to do, and nothing is under way. */
  done: boolean;
}

const NAMED = 10;

const keyOf = ({ topic, partition }: PartitionRef) => `${topic}/${partition}`;

const inOrder = (a: PartitionRef, b: PartitionRef) =>
  a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1;

function some(partitions: readonly PartitionRef[]): SomePartitions | undefined {
  if (partitions.length === 0) return undefined;
  const first = partitions.slice(0, NAMED).map(({ topic, partition }) => ({ topic, partition }));
  return { count: partitions.length, first };
}

/** The replicas that a reassignment leads to. */
const targetOf = ({ replicas, removing }: Reassignment) => replicas.filter((id) => !removing.includes(id));

/**
 * Whether a reassignment never ends by itself: a replica is to come and to go. Kafka makes one where it replaces another by one that adds
 * nothing. Ended, it leaves just the replicas that it was to lead to.
 */
const isStuck = (reassignment: Reassignment | undefined): boolean =>
  reassignment?.adding.some((id) => reassignment.removing.includes(id)) ?? false;

/** As Kafka will list them. */
function movingWith(
  begin: readonly WantedReplicas[],
  partitions: readonly PlacedPartition[],
  underWay: ReadonlyMap<string, Reassignment>,
): Reassignment[] {
  const moving = new Map(underWay);
  for (const each of begin) if (!each.replicas) moving.delete(keyOf(each));
  const wanted = new Map(begin.map((each) => [keyOf(each), each.replicas]));
  for (const { topic, partition, replicas } of partitions) {
    const key = keyOf({ topic, partition });
    const target = wanted.get(key);
    if (!target) continue;
    const adding = target.filter((id) => !replicas.includes(id));
    const removing = replicas.filter((id) => !target.includes(id));
    moving.set(key, { topic, partition, replicas: [...target, ...removing], adding, removing });
  }
  return [...moving.values()];
}

/** Decides what to begin now. Pure. */
export function moves(
  partitions: readonly PlacedPartition[],
  brokers: readonly BrokerPlace[],
  ongoing: readonly Reassignment[],
  { maxInFlight, rebalance }: MoveOptions,
): Moves {
  const underWay = new Map(ongoing.map((each) => [keyOf(each), each]));
  const going = new Set(brokers.filter(({ state }) => state === 'drain').map(({ id }) => id));
  const isOnGoing = (replicas: readonly number[]) => replicas.some((id) => going.has(id));
  const all = partitions.toSorted(inOrder);
  const targets = all.map((partition) => {
    const reassignment = underWay.get(keyOf(partition));
    return reassignment ? { ...partition, replicas: targetOf(reassignment) } : partition;
  });
  const leaving = targets.filter((one) => isOnGoing(one.replicas) && !isStuck(underWay.get(keyOf(one))));
  const staying = brokers.length - going.size;
  const noPlace = some(leaving.filter(({ replicas }) => replicas.length > staying));
  const board: Board = { brokers, going, loads: loadsOf(targets, brokers) };
  const free = maxInFlight - underWay.size;
  const isFree = (partition: PartitionRef) => !underWay.has(keyOf(partition));
  const { begin, waiting } = noPlace ? { begin: [], waiting: [] } : drain(leaving, board, free, isFree);
  begin.push(
    ...ongoing.filter(isStuck).map(({ topic, partition }) => ({ topic, partition, replicas: null })),
  );
  if (rebalance && leaving.length === 0) begin.push(...evenOut(targets.filter(isFree), board, free));
  return {
    begin,
    moving: movingWith(begin, all, underWay),
    underWay: underWay.size,
    toDrain: all.filter(({ replicas }) => isOnGoing(replicas)).length,
    noPlace,
    waiting: some(waiting),
    done: begin.length === 0 && underWay.size === 0 && leaving.length === 0,
  };
}

/**
 * Partitions move off the brokers that go in the order of their names. Kafka ends a reassignment when all of the wanted
 * replicas are in sync, so those of which some that stay are not come last: they would keep the others from moving.
 * A reassignment that leads to a broker that goes is replaced at once, and takes no further place: it may never end.
 */
function drain(
  leaving: readonly PlacedPartition[],
  board: Board,
  free: number,
  isFree: (partition: PartitionRef) => boolean,
): { begin: WantedReplicas[]; waiting: PlacedPartition[] } {
  const begin: WantedReplicas[] = [];
  const waiting: PlacedPartition[] = [];
  let left = free;
  const lags = ({ replicas, isr }: PlacedPartition) =>
    replicas.some((id) => !board.going.has(id) && !isr.includes(id));
  for (const partition of leaving.toSorted((a, b) => Number(lags(a)) - Number(lags(b)))) {
    const isNew = isFree(partition);
    if (isNew && left <= 0) continue;
    const replicas = drainMove(partition, board);
    if (!replicas) {
      waiting.push(partition);
      continue;
    }
    const { topic, partition: index } = partition;
    begin.push({ topic, partition: index, replicas });
    if (isNew) left--;
  }
  return { begin, waiting };
}
