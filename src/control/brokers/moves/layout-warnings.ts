import { rackCount, racksOf } from './layout.ts';
import type { BrokerPlace, PlacedPartition } from './layout.ts';

/** What works today and will not survive much: for the condition of type Warning. Pure. */

export type WarningReason =
  | 'EvenControllers'
  | 'SingleController'
  | 'ForgetfulControllers'
  | 'TooFewBrokers'
  | 'NoSpareReplica'
  | 'RackLossStopsWrites';

export interface LayoutWarning {
  reason: WarningReason;
  /** What is wrong, and what to do. */
  message: string;
}

/** As much of a cluster as is known before it runs. */
export interface WantedLayout {
  controllers: number;
  /** Controllers whose vote goes with their pod. */
  forgetful: number;
  /** Without those that are to go. */
  brokers: number;
  /** The brokers' `min.insync.replicas`. */
  minIsr: number;
}

/** A partition, with the `min.insync.replicas` of its topic. */
export interface WatchedPartition extends Pick<PlacedPartition, 'topic' | 'partition' | 'replicas'> {
  minIsr: number;
}

const NAMED = 10;

/** What can be told from what is asked for. */
export function nodeWarnings({ controllers, forgetful, brokers, minIsr }: WantedLayout): LayoutWarning[] {
  const warnings: LayoutWarning[] = controllerWarnings(controllers);
  if (forgetful > 0) {
    const message =
      'Controllers on ephemeral storage forget their vote with their pod: two leaders may be elected, and records lost. ' +
      'Give the pools of controllers persistent volumes.';
    warnings.push({ reason: 'ForgetfulControllers', message });
  }
  if (minIsr > brokers) {
    const message =
      `min.insync.replicas is ${minIsr}, and there are ${brokers} brokers: producers with acks=all are refused. ` +
      'Add brokers, or lower it.';
    warnings.push({ reason: 'TooFewBrokers', message });
  }
  return warnings;
}

function controllerWarnings(count: number): LayoutWarning[] {
  if (count === 1) {
    const message = 'There is one controller: while it is down, nothing can be changed. Run three.';
    return [{ reason: 'SingleController', message }];
  }
  if (count === 0 || count % 2 === 1) return [];
  const survives = count / 2 - 1;
  const message =
    `There are ${count} controllers, which survive the loss of ${survives}, as ${count - 1} would. ` +
    `Run ${count - 1} or ${count + 1}.`;
  return [{ reason: 'EvenControllers', message }];
}

/** Up to some names of topics, each once, and how many there are in all. */
function namesOf(topics: ReadonlySet<string>): string {
  const names = [...topics].toSorted();
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return names.slice(0, NAMED).join(', ') + more;
}

function losesWritesWithRack(partition: WatchedPartition, rackOf: (id: number) => string): boolean {
  const perRack = Map.groupBy(partition.replicas, rackOf);
  const largest = Math.max(...[...perRack.values()].map(({ length }) => length));
  return partition.replicas.length - largest < partition.minIsr;
}

/** What Kafka's own partitions tell. Of a single broker everybody knows. */
export function topicWarnings(
  partitions: Iterable<WatchedPartition>,
  brokers: readonly Pick<BrokerPlace, 'id' | 'rack'>[],
): LayoutWarning[] {
  if (brokers.length < 2) return [];
  const rackOf = racksOf(brokers);
  const ids = brokers.map(({ id }) => id);
  const areNamed = brokers.every(({ rack }) => rack !== undefined);
  const hasRacks = areNamed && rackCount(ids, rackOf) > 1;
  const noSpare = new Set<string>();
  const byRack = new Set<string>();
  for (const partition of partitions) {
    if (partition.replicas.length <= partition.minIsr) noSpare.add(partition.topic);
    else if (hasRacks && losesWritesWithRack(partition, rackOf)) byRack.add(partition.topic);
  }
  const warnings: LayoutWarning[] = [];
  if (noSpare.size > 0) {
    const message =
      `Producers with acks=all stop while any broker is down that has a replica of: ${namesOf(noSpare)}. ` +
      'Give these topics more replicas than their min.insync.replicas.';
    warnings.push({ reason: 'NoSpareReplica', message });
  }
  if (byRack.size > 0) {
    const message =
      `Producers with acks=all stop when one rack is lost, for: ${namesOf(byRack)}. ` +
      'Spread their replicas over more racks, or use as many racks as replicas.';
    warnings.push({ reason: 'RackLossStopsWrites', message });
  }
  return warnings;
}
