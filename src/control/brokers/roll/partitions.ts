/** Partitions, summed up by node: a cluster may have 100,000 of them, and a restart concerns one node at a time. */

/** One partition as the controller has it. */
export interface Partition {
  topic: string;
  partition: number;
  replicas: readonly number[];
  isr: readonly number[];
  /** `min.insync.replicas` of its topic. */
  minIsr: number;
}

/** How many partitions, and the names of the first few, for a message. */
export interface PartitionSample {
  count: number;
  names: readonly string[];
}

/** What one node has to do with partitions. */
export interface NodePartitions {
  /** In whose ISR it is. */
  inSync: PartitionSample;
  /** Of which it has a replica without being in the ISR. */
  outOfSync: PartitionSample;
  /** That would go below their min ISR without it, or are below it already and need its replica. */
  needed: PartitionSample;
  /** That no restart can keep: they have no more replicas than their min ISR asks for. */
  unkept: PartitionSample;
  /** Of which nobody else has all the data, as far as is known. */
  only: PartitionSample;
}

const NAMES = 5;

type Growing = Record<keyof NodePartitions, { count: number; names: string[] }>;

const empty = (): { count: number; names: string[] } => ({ count: 0, names: [] });

/** What a node without replicas has to do with partitions. */
export const NO_PARTITIONS: NodePartitions = {
  inSync: empty(),
  outOfSync: empty(),
  needed: empty(),
  unkept: empty(),
  only: empty(),
};

function note(sample: { count: number; names: string[] }, { topic, partition }: Partition): void {
  sample.count += 1;
  if (sample.names.length < NAMES) sample.names.push(`${topic}-${partition}`);
}

function take(byNode: Map<number, Growing>, partition: Partition, unready: ReadonlySet<number>): void {
  const { replicas, isr, minIsr } = partition;
  const kept = replicas.length > minIsr;
  const alive = isr.filter((id) => !unready.has(id));
  for (const id of new Set(replicas)) {
    const node = byNode.get(id) ?? {
      inSync: empty(),
      outOfSync: empty(),
      needed: empty(),
      unkept: empty(),
      only: empty(),
    };
    byNode.set(id, node);
    const inSync = isr.includes(id);
    note(inSync ? node.inSync : node.outOfSync, partition);
    if (alive.every((other) => other === id)) note(node.only, partition);
    if (!kept) note(node.unkept, partition);
    // Below its min ISR already: a restart would delay the replica that is catching up.
    else if (alive.length < minIsr || (alive.includes(id) && alive.length - 1 < minIsr))
      note(node.needed, partition);
  }
}

/**
 * Sums up partitions by node, page by page, in memory that grows with the nodes only. Kafka needs seconds to see that a
 * broker died; nodes whose pods are seen not to be ready (`unready`) keep no partition above its min ISR, whatever its
 * ISR says. Of nodes that cannot be seen Kafka alone can tell.
 */
export function partitionsByNode(
  partitions: Iterable<Partition>,
  unready: ReadonlySet<number>,
): Map<number, NodePartitions> {
  const byNode = new Map<number, Growing>();
  for (const partition of partitions) take(byNode, partition, unready);
  return byNode;
}

/** For a message: `a-0, b-3 and 7 more`. */
export function namesOf({ count, names }: PartitionSample): string {
  const more = count - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
