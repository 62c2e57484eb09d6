import { addLoad, racksOf } from './layout.ts';
import type { Board, BrokerLoad, PlacedPartition } from './layout.ts';

/**
 * The replicas of a partition with each one on a broker that goes replaced, in its place; all others stay where they are.
 * Undefined if too few brokers are available. Counts the change in.
 */
export function drainMove(partition: PlacedPartition, board: Board): number[] | undefined {
  const { going, loads } = board;
  const replicas = [...partition.replicas];
  addLoad(loads, replicas, partition.bytes, -1);
  for (const [position, id] of partition.replicas.entries()) {
    if (!going.has(id)) continue;
    const kept = replicas.filter((each) => !going.has(each));
    const next = chooseBroker(kept, board, position === 0);
    if (next === undefined) {
      addLoad(loads, partition.replicas, partition.bytes, 1);
      return undefined;
    }
    replicas[position] = next;
  }
  addLoad(loads, replicas, partition.bytes, 1);
  return replicas;
}

/** A broker in a rack that has no replica yet, if there is one; of these, the one that has least. */
export function chooseBroker(
  kept: readonly number[],
  { brokers, loads }: Board,
  leads: boolean,
): number | undefined {
  const rackOf = racksOf(brokers);
  const racks = new Set(kept.map(rackOf));
  const free = brokers.filter(
    ({ id, state, available }) => state === 'stays' && available && !kept.includes(id),
  );
  const inNewRacks = free.filter(({ id }) => !racks.has(rackOf(id)));
  const weigh = weigher(loads, leads);
  const [best] = (inNewRacks.length > 0 ? inNewRacks : free)
    .map(({ id }) => ({ id, weight: weigh(id) }))
    .toSorted((a, b) => a.weight - b.weight || a.id - b.id);
  return best?.id;
}

/** What a broker has as a share of all, so that replicas, bytes and preferred leaders can be added up. */
function weigher(loads: ReadonlyMap<number, BrokerLoad>, leads: boolean): (id: number) => number {
  const sum = (of: keyof BrokerLoad) => [...loads.values()].reduce((total, load) => total + load[of], 0) || 1;
  const all = { replicas: sum('replicas'), bytes: sum('bytes'), leaders: sum('leaders') };
  return (id) => {
    const { replicas, bytes, leaders } = loads.get(id)!;
    return replicas / all.replicas + bytes / all.bytes + (leads ? leaders / all.leaders : 0);
  };
}
