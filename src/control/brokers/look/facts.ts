/** What Kafka says of itself: all that is asked before a node is restarted, and for the status. */
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { QuorumReplica } from '../../../kafka/admin/cluster.ts';
import type { DescribeConfigsResponseDescribeConfigsResourceResult as ConfigEntry } from '../../../kafka/schemas/types.ts';
import { messageOf } from '../../../ops/errors.ts';
import { topicWarnings } from '../moves/layout-warnings.ts';
import type { LayoutWarning } from '../moves/layout-warnings.ts';
import type { MemberFacts } from '../quorum/voters.ts';
import type { BrokerFacts, PartitionFacts } from '../roll/facts.ts';
import { partitionsByNode } from '../roll/partitions.ts';
import type { Partition } from '../roll/partitions.ts';

export interface KafkaFacts {
  /** Before the first request was sent. */
  at: number;
  quorum: MemberFacts | undefined;
  brokers: BrokerFacts | undefined;
  partitions: PartitionFacts | undefined;
  health: { underReplicated: number; offline: number } | undefined;
  /** What partitions would not survive. */
  layout: readonly LayoutWarning[] | undefined;
  /** By broker: its configuration. */
  configs: ReadonlyMap<number, readonly ConfigEntry[]>;
  /** The level of `metadata.version`. */
  metadataLevel: number | undefined;
  /** Why something is not known. */
  problems: readonly string[];
}

export const NO_FACTS: Omit<KafkaFacts, 'at'> = {
  quorum: undefined,
  brokers: undefined,
  partitions: undefined,
  health: undefined,
  layout: undefined,
  configs: new Map(),
  metadataLevel: undefined,
  problems: [],
};

/** Brokers, and nodes whose pods are not ready. */
export interface AskedBrokers {
  ids: readonly number[];
  unready: ReadonlySet<number>;
}

/** One after the other; what fails is unknown, and the rest is asked all the same. */
export async function askBrokers(
  admin: Admin,
  { ids, unready }: AskedBrokers,
  clock: () => number,
): Promise<KafkaFacts> {
  const problems: string[] = [];
  const attempt = async <T>(what: string, ask: () => Promise<T | undefined>): Promise<T | undefined> => {
    try {
      const answer = await ask();
      if (answer === undefined) problems.push(`${what}: not known`);
      return answer;
    } catch (error) {
      problems.push(`${what}: ${messageOf(error)}`);
      return undefined;
    }
  };
  const at = clock();
  const quorum = await attempt('the quorum', () => askQuorum(admin, clock));
  const brokers = await attempt('the brokers', () => askRegistered(admin, clock));
  const seen = await attempt('the partitions', () => askPartitions(admin, unready, placesOf(brokers), clock));
  const metadataLevel = await attempt('the metadata version', () => askMetadataLevel(admin));
  const configs = new Map<number, readonly ConfigEntry[]>();
  for (const id of ids) {
    if (brokers?.registered.get(id)?.fenced !== false) continue;
    const entries = await attempt(`the configuration of broker ${id}`, () => askConfig(admin, id));
    if (entries) configs.set(id, entries);
  }
  return {
    at,
    quorum,
    brokers,
    partitions: seen?.facts,
    health: seen?.health,
    layout: seen?.layout,
    configs,
    metadataLevel,
    problems,
  };
}

/** While no broker can be asked. */
export async function askControllers(admin: Admin, clock: () => number): Promise<KafkaFacts> {
  const at = clock();
  try {
    const quorum = await askQuorum(admin, clock);
    return { ...NO_FACTS, at, quorum, problems: quorum ? [] : ['the quorum: not known'] };
  } catch (error) {
    return { ...NO_FACTS, at, problems: [messageOf(error)] };
  }
}

async function askQuorum(admin: Admin, clock: () => number): Promise<MemberFacts | undefined> {
  const at = clock();
  const { value } = await admin.quorum();
  return (
    value && {
      at,
      leader: value.leaderId,
      voters: value.voters.map(memberOf),
      observers: value.observers.map(memberOf),
    }
  );
}

const memberOf = ({ id, directoryId, lastCaughtUpAt }: QuorumReplica) => ({
  id,
  directoryId,
  lastCaughtUpMs: lastCaughtUpAt ?? -1,
});

async function askRegistered(admin: Admin, clock: () => number): Promise<BrokerFacts | undefined> {
  const at = clock();
  const { value } = await admin.cluster();
  return (
    value && { at, registered: new Map(value.nodes.map(({ id, fenced, rack }) => [id, { fenced, rack }])) }
  );
}

async function askMetadataLevel(admin: Admin): Promise<number | undefined> {
  const { value } = await admin.features();
  return value?.finalized['metadata.version'];
}

async function askConfig(admin: Admin, id: number): Promise<readonly ConfigEntry[] | undefined> {
  const resources = [{ resourceType: BROKER, resourceName: String(id), configurationKeys: null }];
  const { value } = await admin.send('DescribeConfigs', { resources, includeSynonyms: true }, { node: id });
  const [result] = value?.results ?? [];
  return result?.errorCode === 0 ? result.configs : undefined;
}

const BROKER = 4;
const MIN_ISR = 'min.insync.replicas';

interface SeenPartitions {
  facts: PartitionFacts;
  health: { underReplicated: number; offline: number };
  layout: LayoutWarning[];
}

const placesOf = (brokers: BrokerFacts | undefined) =>
  [...(brokers?.registered ?? [])].map(([id, { rack }]) => ({ id, rack }));

/** Undefined where one topic's share is not known: restarts are decided by this, and what is not known forbids them. */
async function askPartitions(
  admin: Admin,
  unready: ReadonlySet<number>,
  brokers: readonly { id: number; rack: string | undefined }[],
  clock: () => number,
): Promise<SeenPartitions | undefined> {
  const at = clock();
  const health = { underReplicated: 0, offline: 0 };
  const partitions: Partition[] = [];
  for await (const { value, error } of admin.topics()) {
    if (error) return undefined;
    const described = await admin.configs(
      [...new Set(value.map(({ name }) => name))].map((name) => ({ type: 'topic' as const, name })),
      [MIN_ISR],
    );
    const minIsr = new Map(
      described.map(({ resource, configs }) => [resource.name, Number(configs[MIN_ISR]?.value)]),
    );
    for (const { name, partitions: own } of value)
      for (const { index, leader, replicas, isr } of own) {
        const least = minIsr.get(name);
        if (least === undefined || !Number.isInteger(least)) return undefined;
        partitions.push({ topic: name, partition: index, replicas, isr, minIsr: least });
        if (isr.length < replicas.length) health.underReplicated++;
        if (leader < 0) health.offline++;
      }
  }
  const layout = topicWarnings(partitions, brokers);
  return { facts: { at, unready, byNode: partitionsByNode(partitions, unready) }, health, layout };
}
