import { rackCount, racksOf } from './layout.ts';
import type { BrokerPlace, PlacedPartition } from './layout.ts';

/** What works today and will not survive much: for a condition of type Warning, or `check`. */

export type WarningReason =
  | 'EvenControllers'
  | 'SingleController'
  | 'TooFewBrokers'
  | 'NoSpareReplica'
  | 'RackLossStopsWrites';

export interface LayoutWarning {
  reason: WarningReason;
  /** What is wrong, and what to do. */
  message: string;
}

/** The settings that say how many replicas there are to be; undefined for what is not set. */
export interface ReplicationSettings {
  /** By the name of the setting, as in `offsets.topic.replication.factor`. */
  replicationFactors: Readonly<Record<string, number | undefined>>;
  /** The brokers' `min.insync.replicas`. */
  minIsr: number;
}

/** A partition, with the `min.insync.replicas` of its topic. */
export interface WatchedPartition extends Pick<PlacedPartition, 'topic' | 'partition' | 'replicas'> {
  minIsr: number;
}

export interface Layout {
  controllers: number;
  brokers: readonly BrokerPlace[];
  settings: ReplicationSettings;
  partitions: Iterable<WatchedPartition>;
}

const NAMED = 10;

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

function settingWarnings(
  { replicationFactors, minIsr }: ReplicationSettings,
  brokers: number,
): LayoutWarning[] {
  const factors = Object.entries(replicationFactors).filter(
    (each): each is [string, number] => each[1] !== undefined,
  );
  const tooMany = [...factors, ['min.insync.replicas', minIsr] as const].filter(
    ([, count]) => count > brokers,
  );
  return tooMany.map(([name, count]) => ({
    reason: 'TooFewBrokers',
    message: `${name} is ${count}, and there are ${brokers} brokers. Add brokers, or lower it.`,
  }));
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

function topicWarnings({ partitions, brokers }: Layout): LayoutWarning[] {
  const rackOf = racksOf(brokers);
  const racks = rackCount(
    brokers.map(({ id }) => id),
    rackOf,
  );
  const areNamed = brokers.length > 0 && brokers.every(({ rack }) => rack !== undefined);
  const noSpare = new Set<string>();
  const byRack = new Set<string>();
  for (const partition of partitions) {
    if (partition.replicas.length <= partition.minIsr) noSpare.add(partition.topic);
    else if (areNamed && racks > 1 && losesWritesWithRack(partition, rackOf)) byRack.add(partition.topic);
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

/** Everything about a cluster's layout that its owner should know. Pure. */
export function layoutWarnings(layout: Layout): LayoutWarning[] {
  const staying = layout.brokers.filter(({ state }) => state === 'stays');
  return [
    ...controllerWarnings(layout.controllers),
    ...settingWarnings(layout.settings, staying.length),
    ...topicWarnings(layout),
  ];
}
