/** Decides what is to be done in Kafka for one KafkaTopic. Pure: it looks at what is there and remembers nothing but names. */
import { z } from 'zod';
import type { ConfigChange, ConfigChanges } from '../../../kafka/admin/configs.ts';
import type { WantedReplicas } from '../../../kafka/admin/replicas.ts';
import type { NewTopic, Partition } from '../../../kafka/admin/topics.ts';
import { isBeingDeleted } from '../../../kube/object.ts';
import type { KafkaTopic } from '../../../resources/strimzi/kafka-topic.ts';
import type { EntityFault } from '../entities/faults.ts';
import { REMEMBERED_ANNOTATION, rememberedIn } from '../entities/mark.ts';
import type { Mark } from '../entities/mark.ts';
import type { Board } from '../moves/layout.ts';
import { wantedReplicas } from './replicas.ts';

export const TOPIC_FINALIZER = 'strimzi.io/topic-operator';

const remembered = z.object({
  topicName: z.string().max(249),
  /** Keys of the configuration that were set for the resource. */
  configs: z.array(z.string().max(249)).max(1000),
});

/** A topic as Kafka has it. */
export interface LiveTopic {
  id: string;
  internal: boolean;
  partitions: readonly Partition[];
  /** What was set for the topic itself. */
  configs: Readonly<Record<string, string>>;
  /** Whether replicas of it are on their way. */
  moving: boolean;
  /** For how long the same partitions have been seen with more replicas than wanted; 0 where none has. */
  surplusForMs: number;
}

export type TopicStep =
  | { do: 'create'; topic: NewTopic & { name: string } }
  | { do: 'grow'; name: string; count: number }
  | { do: 'configure'; change: ConfigChanges }
  | { do: 'reassign'; wanted: readonly WantedReplicas[] }
  | { do: 'delete'; name: string };

export interface TopicPlan {
  /** Written before any step is taken; undefined if the resource is not to be touched. */
  mark: Mark | undefined;
  steps: readonly TopicStep[];
  faults: readonly EntityFault[];
}

/** The name in Kafka: once it is there it stays what it was. */
export const topicNameOf = (topic: KafkaTopic): string =>
  rememberedIn(topic, remembered)?.topicName ?? topic.spec.topicName ?? topic.metadata.name;

/** Whether the topic was this resource's before. */
export const hasHeld = (topic: KafkaTopic): boolean => rememberedIn(topic, remembered) !== undefined;

/** Keys whose values matter to a resource: those that it names, and those that it named before. */
export const configKeysOf = (topic: KafkaTopic): string[] => [
  ...new Set([...Object.keys(topic.spec.config ?? {}), ...(rememberedIn(topic, remembered)?.configs ?? [])]),
];

const NAME = /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/;
const OWN_TOPICS = new Set([
  '__consumer_offsets',
  '__transaction_state',
  '__share_group_state',
  '__cluster_metadata',
]);

/** Whether a topic can be asked for by this name. */
export const isTopicName = (name: string): boolean => NAME.test(name);

/** Whether a topic has a value of its own for a key; a key may be any word, also one that every object has. */
const valueIn = (configs: LiveTopic['configs'], key: string): string | undefined =>
  Object.hasOwn(configs, key) ? configs[key] : undefined;

const NOTHING: TopicPlan = { mark: undefined, steps: [], faults: [] };

/** `holds`: whether the topic in Kafka goes with the resource. */
export function planTopic(
  topic: KafkaTopic,
  live: LiveTopic | undefined,
  board: Board,
  { holds }: { holds: boolean },
): TopicPlan {
  const name = topicNameOf(topic);
  const problem = nameProblem(name, live);
  if (isBeingDeleted(topic)) return problem ? release(topic) : deletion(topic, name, live);
  if (problem) return { ...NOTHING, faults: [problem] };
  const { config, faults } = configOf(topic);
  if (faults.length > 0) return { ...NOTHING, faults };
  const steps = live ? changes(topic, name, live, config, board) : creation(topic, name, config);
  return {
    mark: {
      finalizer: TOPIC_FINALIZER,
      held: holds,
      remembered: { topicName: name, configs: keysToRemember(topic, live, config) },
    },
    steps: steps.steps,
    faults: [...renamed(topic, name), ...steps.faults],
  };
}

/** Lets go of a resource: what Kafka has stays. Only if it was held here; a finalizer of a Strimzi operator has the same name. */
export function release(topic: KafkaTopic): TopicPlan {
  const isOurs = topic.metadata.annotations[REMEMBERED_ANNOTATION] !== undefined;
  if (!isOurs) return NOTHING;
  return { ...NOTHING, mark: { finalizer: TOPIC_FINALIZER, held: false, remembered: null } };
}

function deletion(topic: KafkaTopic, name: string, live: LiveTopic | undefined): TopicPlan {
  const isHeld = topic.metadata.finalizers?.includes(TOPIC_FINALIZER) ?? false;
  if (!isHeld || rememberedIn(topic, remembered) === undefined || !live) return release(topic);
  return { ...NOTHING, steps: [{ do: 'delete', name }] };
}

function nameProblem(name: string, live: LiveTopic | undefined): EntityFault | undefined {
  const path = ['spec', 'topicName'];
  if (!isTopicName(name))
    return {
      reason: 'Invalid',
      path,
      message: `"${name}" cannot be the name of a topic: use at most 249 letters, digits, ".", "_" and "-"`,
    };
  if (!live?.internal && !OWN_TOPICS.has(name)) return undefined;
  return { reason: 'NotSupported', path, message: `"${name}" is a topic of Kafka's own; leave it to Kafka` };
}

function renamed({ spec }: KafkaTopic, name: string): EntityFault[] {
  if (spec.topicName === name) return [];
  const message = `spec.topicName cannot change once the topic exists; set it back to "${name}", or make another KafkaTopic`;
  return [{ reason: 'NotSupported', path: ['spec', 'topicName'], message }];
}

/**
 * What goes beyond these, brokers would not read: they close the connection, and no topic of the request gets its answer. Kafka itself
 * has some forty keys.
 */
const CONFIG_KEY = /^[a-zA-Z0-9._-]{1,249}$/;
const MOST_KEYS = 200;
const LONGEST_VALUE = 32_767;
const LONGEST_CONFIG = 65_536;

function configOf({ spec }: KafkaTopic): { config: Map<string, string>; faults: EntityFault[] } {
  const config = new Map<string, string>();
  const faults: EntityFault[] = [];
  const refuse = (message: string, ...path: string[]) =>
    faults.push({ reason: 'Invalid', path: ['spec', 'config', ...path], message });
  let length = 0;
  for (const [key, value] of Object.entries(spec.config ?? {})) {
    const text = textOf(value);
    const bytes = Buffer.byteLength(text ?? '');
    length += key.length + bytes;
    if (!CONFIG_KEY.test(key))
      refuse('spec.config has a key that is none of Kafka: use letters, digits, ".", "_" and "-"');
    else if (text === undefined)
      refuse(`spec.config "${key}" has to be a text, a number, a boolean, or a list of these`, key);
    else if (bytes > LONGEST_VALUE)
      refuse(`spec.config "${key}" has ${bytes} bytes; at most ${LONGEST_VALUE} can be sent`, key);
    else config.set(key, text);
  }
  if (config.size > MOST_KEYS || length > LONGEST_CONFIG)
    refuse(`spec.config is too large: use at most ${MOST_KEYS} keys and ${LONGEST_CONFIG} bytes in all`);
  return { config, faults };
}

function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const items = value.map(textOf);
    return items.includes(undefined) ? undefined : items.join(',');
  }
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value).trim() : undefined;
}

/** Lists are the same with spaces and without. */
const spelled = (value: string) =>
  value
    .split(',')
    .map((item) => item.trim())
    .join(',');

/** What is set goes on being remembered until it is gone: a crash between the two forgets nothing. */
function keysToRemember(
  topic: KafkaTopic,
  live: LiveTopic | undefined,
  config: ReadonlyMap<string, string>,
): string[] {
  const isSet = (key: string) => live !== undefined && valueIn(live.configs, key) !== undefined;
  return configKeysOf(topic)
    .filter((key) => config.has(key) || isSet(key))
    .toSorted();
}

interface Changes {
  steps: TopicStep[];
  faults: EntityFault[];
}

function creation({ spec }: KafkaTopic, name: string, config: ReadonlyMap<string, string>): Changes {
  const topic = {
    name,
    ...(spec.partitions !== undefined && { partitions: spec.partitions }),
    ...(spec.replicas !== undefined && { replicationFactor: spec.replicas }),
    configs: Object.fromEntries(config),
  };
  return { steps: [{ do: 'create', topic }], faults: [] };
}

function changes(
  topic: KafkaTopic,
  name: string,
  live: LiveTopic,
  config: ReadonlyMap<string, string>,
  board: Board,
): Changes {
  const steps: TopicStep[] = [];
  const faults: EntityFault[] = [];
  const altered = configChanges(topic, live, config);
  if (altered.length > 0)
    steps.push({ do: 'configure', change: { resource: { type: 'topic', name }, changes: altered } });
  const { partitions = live.partitions.length, replicas } = topic.spec;
  if (partitions > live.partitions.length) steps.push({ do: 'grow', name, count: partitions });
  if (partitions < live.partitions.length)
    faults.push({
      reason: 'NotSupported',
      path: ['spec', 'partitions'],
      message: `the topic has ${live.partitions.length} partitions, and Kafka cannot take any away; set spec.partitions to that`,
    });
  if (replicas !== undefined) {
    const { wanted, fault } = wantedReplicas(name, live, replicas, board);
    if (fault) faults.push(fault);
    if (wanted.length > 0) steps.push({ do: 'reassign', wanted });
  }
  return { steps, faults };
}

function configChanges(
  topic: KafkaTopic,
  { configs }: LiveTopic,
  config: ReadonlyMap<string, string>,
): ConfigChange[] {
  return configKeysOf(topic).flatMap((name): ConfigChange[] => {
    const value = config.get(name);
    const live = valueIn(configs, name);
    if (value === undefined) return live === undefined ? [] : [{ name, change: 'delete' }];
    return live !== undefined && spelled(live) === spelled(value) ? [] : [{ name, change: 'set', value }];
  });
}
