/** Which replicas the partitions of a topic are to have, where their number is not the wanted one. Pure. */
import type { WantedReplicas } from '../../../kafka/admin/replicas.ts';
import type { Partition } from '../../../kafka/admin/topics.ts';
import type { EntityFault } from '../entities/faults.ts';
import { chooseBroker } from '../moves/drain.ts';
import { addLoad, rackCount, racksOf } from '../moves/layout.ts';
import type { Board } from '../moves/layout.ts';
import type { LiveTopic } from './plan-topic.ts';

interface Wanted {
  wanted: WantedReplicas[];
  fault?: EntityFault;
}

/** Topics with more replicas than wanted, by name: where these are, and since when that has been seen without a change. */
export type Surpluses = ReadonlyMap<string, { where: string; since: number }>;

/** Longer than a broker that is not fenced is behind the controller. */
export const SURPLUS_SETTLES_MS = 5000;

/** Whether any partition has more replicas than are wanted, and where all of them are; undefined if none has. */
export function surplusOf(partitions: readonly Partition[], count: number | undefined): string | undefined {
  const hasMore = count !== undefined && partitions.some(({ replicas }) => replicas.length > count);
  return hasMore
    ? partitions.map(({ index, replicas }) => `${index}:${replicas.join(' ')}`).join()
    : undefined;
}

/**
 * Nothing is begun while replicas of the topic are on their way, whoever began that. Nor is any taken away while brokers are emptied, or
 * before the same has been seen for a while: brokers hear of the end of a move later than the controller, and until then a partition
 * seems to have the replicas of before and after.
 */
export function wantedReplicas(
  topic: string,
  { partitions, moving, surplusForMs }: Pick<LiveTopic, 'partitions' | 'moving' | 'surplusForMs'>,
  count: number,
  board: Board,
): Wanted {
  const others = partitions.filter(({ replicas }) => replicas.length !== count);
  if (moving) return { wanted: [], fault: { reason: 'Reassigning', path: [], message: MOVING } };
  if (others.length === 0) return { wanted: [] };
  const hasMore = others.some(({ replicas }) => replicas.length > count);
  if (board.going.size > 0 && hasMore)
    return { wanted: [], fault: { reason: 'Reassigning', path: [], message: EMPTYING } };
  if (hasMore && surplusForMs < SURPLUS_SETTLES_MS)
    return { wanted: [], fault: { reason: 'Reassigning', path: [], message: SETTLING } };
  const wanted = others.flatMap(({ index, replicas, isr }) => {
    const next = replicas.length > count ? fewer(replicas, isr, count, board) : more(replicas, count, board);
    return next ? [{ topic, partition: index, replicas: next }] : [];
  });
  if (wanted.length === others.length) return { wanted };
  const message = `spec.replicas is ${count}, and there are not that many brokers that run and stay; add brokers, or lower it`;
  return { wanted, fault: { reason: 'NotEnoughBrokers', path: ['spec', 'replicas'], message } };
}

const MOVING = 'replicas of the topic are being moved';
const EMPTYING = 'replicas are taken away once the brokers that are to go are empty';
const SETTLING = 'replicas are taken away once it is certain that none is being moved';

/** Those that are there stay, the first of them included, which leads. */
function more(replicas: readonly number[], count: number, board: Board): number[] | undefined {
  const next = [...replicas];
  while (next.length < count) {
    const chosen = chooseBroker(next, board, false);
    if (chosen === undefined) return undefined;
    next.push(chosen);
  }
  addLoad(board.loads, next.slice(replicas.length), 0, 1);
  return next;
}

/**
 * Takes replicas away one by one: first those that are not in sync, since with them gone no record is; then one that shares its rack;
 * of these the last. The preferred leader stays if it is in sync.
 */
function fewer(replicas: readonly number[], isr: readonly number[], count: number, board: Board): number[] {
  const rackOf = racksOf(board.brokers);
  let next = [...replicas];
  while (next.length > count) {
    const without = (id: number) => next.filter((one) => one !== id);
    const [gone] = next
      .map((id, position) => ({
        id,
        position,
        inSync: isr.includes(id),
        leads: position === 0,
        racks: rackCount(without(id), rackOf),
      }))
      .toSorted(
        (a, b) =>
          Number(a.inSync) - Number(b.inSync) ||
          Number(a.leads) - Number(b.leads) ||
          b.racks - a.racks ||
          b.position - a.position,
      );
    next = without(gone!.id);
  }
  return next;
}
