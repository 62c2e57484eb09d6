import type { WantedReplicas } from '../../../kafka/admin/replicas.ts';
import { addLoad, racksOf } from './layout.ts';
import type { Board, BrokerLoad, PlacedPartition } from './layout.ts';

/** Only a partition with all replicas in sync is moved for the sake of balance. */
const isWhole = ({ replicas, isr }: PlacedPartition) => replicas.every((id) => isr.includes(id));

/** Pairs of brokers of which the first has at least two more of something than the second, the most uneven first. */
function unevenPairs({ brokers, loads }: Board, of: keyof BrokerLoad): { from: number; to: number }[] {
  const staying = brokers.filter(({ state }) => state === 'stays');
  const pairs = staying.flatMap(({ id: from }) =>
    staying
      .filter(({ available }) => available)
      .map(({ id: to }) => ({ from, to, gap: loads.get(from)![of] - loads.get(to)![of] })),
  );
  return pairs
    .filter(({ gap }) => gap >= 2)
    .toSorted((a, b) => b.gap - a.gap || a.from - b.from || a.to - b.to);
}

function changed(partition: PlacedPartition, replicas: number[], { loads }: Board): WantedReplicas {
  addLoad(loads, partition.replicas, partition.bytes, -1);
  addLoad(loads, replicas, partition.bytes, 1);
  return { topic: partition.topic, partition: partition.partition, replicas };
}

/**
 * At most so many moves for the sake of balance. Replicas first: where these go decides who may lead. Each move makes the
 * counts more even, so that there is a last one.
 */
export function evenOut(
  candidates: readonly PlacedPartition[],
  board: Board,
  most: number,
): WantedReplicas[] {
  const whole = candidates.filter(isWhole);
  const moved = new Set<PlacedPartition>();
  const begun: WantedReplicas[] = [];
  for (const { of, find } of [replicaMoves(whole, board), leaderMoves(whole)]) {
    // What cannot move between two brokers now cannot later on, because every partition is moved once.
    const exhausted = new Set<string>();
    const next = () => {
      for (const { from, to } of unevenPairs(board, of)) {
        if (exhausted.has(`${from} ${to}`)) continue;
        const move = find(from, to, moved);
        if (move) return move;
        exhausted.add(`${from} ${to}`);
      }
      return undefined;
    };
    while (begun.length < most) {
      const move = next();
      if (!move) break;
      moved.add(move.partition);
      begun.push(changed(move.partition, move.replicas, board));
    }
  }
  return begun;
}

interface Move {
  partition: PlacedPartition;
  replicas: number[];
}

/** One way to make brokers more even. */
interface Way {
  of: keyof BrokerLoad;
  find: (from: number, to: number, moved: ReadonlySet<PlacedPartition>) => Move | undefined;
}

function listsBy(
  partitions: readonly PlacedPartition[],
  brokersOf: (partition: PlacedPartition) => readonly number[],
): Map<number, PlacedPartition[]> {
  const lists = new Map<number, PlacedPartition[]>();
  for (const partition of partitions)
    for (const id of brokersOf(partition)) {
      const list = lists.get(id);
      if (list) list.push(partition);
      else lists.set(id, [partition]);
    }
  return lists;
}

/** A replica goes to another broker, over no fewer racks than before. */
function replicaMoves(partitions: readonly PlacedPartition[], { brokers, loads }: Board): Way {
  const rackOf = racksOf(brokers);
  const lists = listsBy(partitions, ({ replicas }) => replicas);
  return {
    of: 'replicas',
    find(from, to, moved) {
      const half = (loads.get(from)!.bytes - loads.get(to)!.bytes) / 2;
      let best: PlacedPartition | undefined;
      let least = Infinity;
      for (const partition of lists.get(from) ?? []) {
        // The one that evens out bytes best, too; of equals the first by name.
        const off = Math.abs((partition.bytes ?? 0) - half);
        if (off >= least || moved.has(partition) || partition.replicas.includes(to)) continue;
        if (losesRack(partition.replicas, from, to, rackOf)) continue;
        [best, least] = [partition, off];
      }
      return best && { partition: best, replicas: best.replicas.map((id) => (id === from ? to : id)) };
    },
  };
}

/** Whether the replicas would be over fewer racks: nobody else is where one leaves, and somebody is where it goes. */
function losesRack(
  replicas: readonly number[],
  from: number,
  to: number,
  rackOf: (id: number) => string,
): boolean {
  const [old, next] = [rackOf(from), rackOf(to)];
  if (old === next) return false;
  const others = (rack: string) => replicas.some((id) => id !== from && rackOf(id) === rack);
  return !others(old) && others(next);
}

/** Another of a partition's replicas becomes the preferred leader; no data moves. */
function leaderMoves(partitions: readonly PlacedPartition[]): Way {
  const lists = listsBy(partitions, ({ replicas }) => replicas.slice(0, 1));
  return {
    of: 'leaders',
    find(from, to, moved) {
      const partition = lists.get(from)?.find((each) => !moved.has(each) && each.replicas.includes(to));
      return partition && { partition, replicas: [to, ...partition.replicas.filter((id) => id !== to)] };
    },
  };
}
