import { rackCount, racksOf } from './layout.ts';
import type { BrokerPlace, PlacedPartition } from './layout.ts';

/** What works today and will not survive much: for the condition of type Warning. Pure. */

export type WarningReason =
  | 'EvenControllers'
  | 'SingleController'
  | 'ForgetfulControllers'
  | 'TooFewBrokers'
  | 'NoInternalTopics'
  | 'NoSpareReplica'
  | 'RackLossStopsWrites'
  | 'ClusterLossStopsControllers'
  | 'ClusterLossStopsWrites'
  | 'ClustersFarApart'
  | 'VersionsFarApart';

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
  /** Their `default.replication.factor`. */
  replicas: number;
  /** Settings of how many replicas Kafka's own topics have that are left to Kafka. */
  unsetFactors: readonly string[];
  /** By Kubernetes cluster, where there are several: how many of its nodes are there. */
  places: readonly { name: string; controllers: number; brokers: number }[];
}

/** A partition, with the `min.insync.replicas` of its topic. */
export interface WatchedPartition extends Pick<PlacedPartition, 'topic' | 'partition' | 'replicas'> {
  minIsr: number;
}

const NAMED = 10;

/** Of the topics that Kafka makes for itself. Their `min.isr` needs no care: Kafka takes it for no more than there are replicas. */
const INTERNAL_FACTORS = [
  'offsets.topic.replication.factor',
  'transaction.state.log.replication.factor',
  'share.coordinator.state.topic.replication.factor',
];
/** What Kafka takes for each of them. */
const KAFKA_FACTOR = 3;

export const unsetFactorsIn = (config: Readonly<Record<string, string>>): string[] =>
  INTERNAL_FACTORS.filter((key) => !Object.hasOwn(config, key));

/** What can be told from what is asked for. */
export function nodeWarnings(layout: WantedLayout): LayoutWarning[] {
  const { controllers, forgetful, brokers, minIsr } = layout;
  const warnings: LayoutWarning[] = [
    ...internalTopicWarnings(layout),
    ...placeWarnings(layout),
    ...controllerWarnings(controllers),
  ];
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

/** The first in the list, because it is the one thing that does not work today. */
function internalTopicWarnings({ brokers, unsetFactors }: WantedLayout): LayoutWarning[] {
  if (brokers >= KAFKA_FACTOR || unsetFactors.length === 0) return [];
  const count = brokers === 1 ? 'is 1 broker' : `are ${brokers} brokers`;
  const message =
    `Kafka makes topics of its own with ${KAFKA_FACTOR} replicas where nothing is said, and there ${count}: without them consumer groups, transactions or share groups do not work. ` +
    `Set ${unsetFactors.join(', ')} to at most ${brokers} in spec.kafka.config, or add brokers.`;
  return [{ reason: 'NoInternalTopics', message }];
}

/** What the loss of any one Kubernetes cluster would stop. */
function placeWarnings({ controllers, brokers, minIsr, replicas, places }: WantedLayout): LayoutWarning[] {
  if (places.length < 2) return [];
  const fatal = places.filter((place) => (controllers - place.controllers) * 2 <= controllers);
  const spread = places.filter((place) => place.controllers > 0).length;
  const warnings: LayoutWarning[] = [];
  if (fatal.length > 0) {
    const message =
      `Without cluster ${fatal.map(({ name }) => name).join(' or ')} no majority of the ${controllers} controllers is left, and nothing can be changed. ` +
      `Spread an odd number of controllers over at least three clusters (there are ${spread}), so that none has half of them.`;
    warnings.push({ reason: 'ClusterLossStopsControllers', message });
  }
  // Kafka spreads replicas over racks, and each cluster is one: the fullest has as many as do not find a place of their own.
  const withBrokers = places.filter((place) => place.brokers > 0);
  const most = Math.ceil(replicas / Math.max(1, withBrokers.length));
  const stopping = withBrokers.filter(
    (place) => brokers - place.brokers < minIsr || replicas - Math.min(most, place.brokers) < minIsr,
  );
  if (stopping.length > 0) {
    const message =
      `Producers with acks=all may be refused when cluster ${stopping.map(({ name }) => name).join(' or ')} is lost: ` +
      `default.replication.factor is ${replicas} and min.insync.replicas ${minIsr}, over ${withBrokers.length} clusters with brokers. ` +
      'Use 3 and 2 over three clusters.';
    warnings.push({ reason: 'ClusterLossStopsWrites', message });
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

/** How long a round trip between two Kubernetes clusters takes. */
export interface Distance {
  from: string;
  to: string;
  p99Ms: number;
}

/** From here on Kafka's defaults cost more than they should. */
const FAR_MS = 10;
/** What a network of a gigabit has under way in a millisecond. */
const BYTES_A_MS = 125_000;

/** What follows from clusters that are far from each other. */
export function distanceWarnings(distances: readonly Distance[]): LayoutWarning[] {
  const far = distances.filter(({ p99Ms }) => p99Ms > FAR_MS).toSorted((a, b) => b.p99Ms - a.p99Ms);
  const [worst] = far;
  if (!worst) return [];
  const named = far.slice(0, NAMED).map(({ from, to, p99Ms }) => `${from} to ${to} ${Math.round(p99Ms)} ms`);
  const bytes = Math.ceil((worst.p99Ms * BYTES_A_MS) / 65_536) * 65_536;
  const message =
    `Round trips between clusters take more than ${FAR_MS} ms (p99): ${named.join(', ')}. Every acknowledgement with acks=all waits for one of them. ` +
    `For replication to keep up set socket.send.buffer.bytes, socket.receive.buffer.bytes and replica.socket.receive.buffer.bytes to ${bytes}, and raise num.replica.fetchers; ` +
    'let consumers read from near (client.rack). Above 100 ms raise controller.quorum.fetch.timeout.ms and controller.quorum.election.timeout.ms, too.';
  return [{ reason: 'ClustersFarApart', message }];
}
