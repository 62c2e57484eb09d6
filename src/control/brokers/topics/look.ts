/** Asks Kafka about many topics in few requests, and carries out what was decided about them. */
import type { Admin } from '../../../kafka/admin/admin.ts';
import { required } from '../../../kafka/admin/answer.ts';
import type { Fault, ItemResult } from '../../../kafka/admin/answer.ts';
import type { Partition } from '../../../kafka/admin/topics.ts';
import type { KafkaTopic } from '../../../resources/strimzi/kafka-topic.ts';
import { chunksByWeight, chunksOf } from '../entities/chunks.ts';
import { loadsOf } from '../moves/layout.ts';
import type { BrokerPlace } from '../moves/layout.ts';
import { configKeysOf, topicNameOf } from './plan-topic.ts';
import type { LiveTopic, TopicStep } from './plan-topic.ts';
import { namesToAsk } from './plan-topics.ts';
import type { SeenTopics } from './plan-topics.ts';
import { surplusOf } from './replicas.ts';
import type { Surpluses } from './replicas.ts';

/** What one request is about at most. */
const A_REQUEST = 200;
/** Kafka refuses a whole request to make more. */
const MOST_PARTITIONS = 10_000;
/** Of a topic that leaves it to Kafka, and of the smallest. */
const LEAST_PARTITIONS = MOST_PARTITIONS / A_REQUEST;
/** More than Kafka has; from there on it is asked for all. */
const MOST_KEYS = 200;

/** What a look goes by besides Kafka. */
export interface LookContext {
  /** Brokers that are to go, which get nothing new. */
  leaving: ReadonlySet<number>;
  /** As the look before has left it. */
  surpluses: Surpluses;
  now: number;
}

export async function lookAtTopics(
  admin: Admin,
  topics: readonly KafkaTopic[],
  { leaving, surpluses, now }: LookContext,
): Promise<SeenTopics> {
  const { nodes } = required(await admin.cluster());
  const reassignments = required(await admin.reassignments());
  const brokers = nodes.map(({ id, rack, fenced }): BrokerPlace => ({
    id,
    rack,
    state: leaving.has(id) ? 'drain' : 'stays',
    available: !fenced,
  }));
  const listed = await listTopics(admin, namesToAsk(topics));
  const configs = await configsOf(admin, topics, listed);
  const moving = new Set(reassignments.map(({ topic }) => topic));
  const after = surplusesAfter(topics, listed, moving, surpluses, now);
  const live = new Map<string, LiveTopic | Fault>();
  for (const [name, topic] of listed)
    if ('message' in topic) live.set(name, topic);
    else {
      const its = configs.get(name) ?? {};
      const surplusForMs = now - (after.get(name)?.since ?? now);
      live.set(name, isFault(its) ? its : { ...topic, configs: its, moving: moving.has(name), surplusForMs });
    }
  const partitions = [...listed.values()].flatMap((topic) => ('message' in topic ? [] : topic.partitions));
  const board = { brokers, going: new Set(leaving), loads: loadsOf(partitions, brokers) };
  return { live, board, moving: reassignments.length, surpluses: after };
}

/** What is being moved begins anew when it has arrived. */
function surplusesAfter(
  topics: readonly KafkaTopic[],
  listed: ReadonlyMap<string, Listed | Fault>,
  moving: ReadonlySet<string>,
  before: Surpluses,
  now: number,
): Surpluses {
  const after = new Map<string, { where: string; since: number }>();
  for (const topic of topics) {
    const name = topicNameOf(topic);
    const found = listed.get(name);
    if (!found || 'message' in found || moving.has(name)) continue;
    const where = surplusOf(found.partitions, topic.spec.replicas);
    const known = before.get(name);
    if (where !== undefined) after.set(name, known?.where === where ? known : { where, since: now });
  }
  return after;
}

type Listed = Pick<LiveTopic, 'id' | 'internal'> & { partitions: Partition[] };

/** Those that exist. */
async function listTopics(admin: Admin, names: readonly string[]): Promise<Map<string, Listed | Fault>> {
  const listed = new Map<string, Listed | Fault>();
  for await (const page of admin.topics({ names }))
    for (const { name, id, internal, partitions, error } of required(page)) {
      const before = listed.get(name);
      if (before && !('message' in before)) before.partitions.push(...partitions);
      else if (!error) listed.set(name, { id, internal, partitions: [...partitions] });
      else if (error.name !== 'UNKNOWN_TOPIC_OR_PARTITION') listed.set(name, error);
    }
  return listed;
}

type Configs = Readonly<Record<string, string>>;
const isFault = (value: Configs | Fault): value is Fault => typeof value['code'] === 'number';

/** What was set for each topic, of the keys that matter to any of them. */
async function configsOf(
  admin: Admin,
  topics: readonly KafkaTopic[],
  listed: ReadonlyMap<string, Listed | Fault>,
): Promise<Map<string, Configs | Fault>> {
  const found = new Map<string, Configs | Fault>();
  const configured = topics.filter(
    (topic) => listed.has(topicNameOf(topic)) && configKeysOf(topic).length > 0,
  );
  for (const chunk of chunksOf(configured, A_REQUEST)) {
    const named = [...new Set(chunk.flatMap(configKeysOf))];
    const keys = named.length > MOST_KEYS ? undefined : named;
    const resources = [...new Set(chunk.map(topicNameOf))].map((name) => ({ type: 'topic' as const, name }));
    for (const { resource, configs, error } of await admin.configs(resources, keys)) {
      const set = Object.entries(configs).filter(([, { source }]) => source === 'topic');
      found.set(
        resource.name,
        error ?? Object.fromEntries(set.map(([key, { value }]) => [key, value ?? ''])),
      );
    }
  }
  return found;
}

/** Takes steps, of each sort all in as few requests as can be. Says what Kafka refused, by name of the topic. */
export async function takeSteps(admin: Admin, steps: readonly TopicStep[]): Promise<Map<string, Fault>> {
  const refused = new Map<string, Fault>();
  const note = (results: readonly (ItemResult & { name: string })[]) => {
    for (const { name, error } of results) if (error && !isDone(error)) refused.set(name, error);
  };
  const every = <Do extends TopicStep['do']>(sort: Do) =>
    steps.filter((step): step is Extract<TopicStep, { do: Do }> => step.do === sort);
  const all = <Do extends TopicStep['do']>(sort: Do) => chunksOf(every(sort), A_REQUEST);
  const weigh = (partitions = 0) => Math.max(partitions, LEAST_PARTITIONS);
  for (const chunk of all('delete')) note(await admin.deleteTopics(chunk.map(({ name }) => name)));
  for (const chunk of chunksByWeight(
    every('create'),
    ({ topic }) => weigh(topic.partitions),
    MOST_PARTITIONS,
  ))
    note(await admin.createTopics(chunk.map(({ topic }) => topic)));
  for (const chunk of chunksByWeight(every('grow'), ({ count }) => weigh(count), MOST_PARTITIONS))
    note(await admin.createPartitions(chunk));
  for (const chunk of all('configure')) {
    const results = await admin.alterConfigs(chunk.map(({ change }) => change));
    note(results.map(({ resource, error }) => ({ name: resource.name, error })));
  }
  for (const chunk of all('reassign')) {
    const wanted = chunk.flatMap((step) => step.wanted);
    const results = await admin.reassign(wanted, { allowReplicationFactorChange: true });
    note(results.map(({ topic, error }) => ({ name: topic, error })));
  }
  return refused;
}

/** A broker may be a moment behind, and not know what was done before. The next look shows it. */
const isDone = ({ name }: Fault) => name === 'TOPIC_ALREADY_EXISTS' || name === 'UNKNOWN_TOPIC_OR_PARTITION';
