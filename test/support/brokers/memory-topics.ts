/**
 * The topics of a Kafka cluster, and the KafkaTopics of a namespace, in memory: for planners, which say what to do and are asked again
 * what is left. Real Kafka takes the same steps in test/integration/brokers/entities.test.ts.
 */
import { markPatch } from '../../../src/control/brokers/entities/mark.ts';
import { loadsOf } from '../../../src/control/brokers/moves/layout.ts';
import type { BrokerPlace } from '../../../src/control/brokers/moves/layout.ts';
import type { LiveTopic, TopicStep } from '../../../src/control/brokers/topics/plan-topic.ts';
import { planTopics } from '../../../src/control/brokers/topics/plan-topics.ts';
import type { PlannedTopic } from '../../../src/control/brokers/topics/plan-topics.ts';
import { kafkaTopic } from '../../../src/resources/strimzi/kafka-topic.ts';
import type { KafkaTopic } from '../../../src/resources/strimzi/kafka-topic.ts';
import { kafka } from '../../../src/resources/strimzi/kafka.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { read } from '../../../src/control/kernel/read.ts';

export const HOME = read(kafka, {
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'Kafka',
  metadata: { name: 'events', namespace: 'kafka', annotations: { 'isthmus.dev/managed': 'true' } },
  spec: { kafka: {}, entityOperator: { topicOperator: {} } },
} as AnyObject).resource!;

export interface MemoryTopics {
  /** By name of the resource. */
  resources: Map<string, AnyObject>;
  /** By name in Kafka. */
  live: Map<string, LiveTopic>;
  brokers: BrokerPlace[];
  put(name: string, spec: object, metadata?: object): void;
  delete(name: string): void;
  plan(): PlannedTopic[];
  /** Writes marks and takes steps; returns how many there were. `lost` are steps that are not taken. */
  step(lost?: (step: TopicStep) => boolean): number;
  settle(): PlannedTopic[];
}

export function createMemoryTopics(): MemoryTopics {
  let made = 0;
  const memory: MemoryTopics = {
    resources: new Map(),
    live: new Map(),
    brokers: [0, 1, 2].map((id) => ({ id, rack: `r${id % 2}`, state: 'stays', available: true })),
    put(name, spec, metadata = {}) {
      made += 1;
      const before = memory.resources.get(name)?.metadata;
      memory.resources.set(name, {
        apiVersion: 'kafka.strimzi.io/v1',
        kind: 'KafkaTopic',
        metadata: {
          name,
          namespace: 'kafka',
          uid: `uid-${made}`,
          creationTimestamp: new Date(Date.UTC(2026, 0, 1) + made * 1000).toISOString(),
          labels: { 'strimzi.io/cluster': 'events' },
          ...before,
          ...metadata,
        },
        spec,
      });
    },
    delete(name) {
      const found = memory.resources.get(name);
      if (!found) return;
      if ((found.metadata.finalizers ?? []).length === 0) memory.resources.delete(name);
      else memory.put(name, found['spec'] as object, { deletionTimestamp: '2026-01-02T00:00:00Z' });
    },
    plan() {
      const topics = [...memory.resources.values()].map((one): KafkaTopic => read(kafkaTopic, one).resource!);
      const partitions = [...memory.live.values()].flatMap((topic) => topic.partitions);
      const loads = loadsOf(partitions, memory.brokers);
      const going = new Set(memory.brokers.flatMap(({ id, state }) => (state === 'drain' ? [id] : [])));
      const board = { brokers: memory.brokers, going, loads };
      return planTopics(HOME, topics, { live: memory.live, board, moving: 0, surpluses: new Map() });
    },
    step(lost = () => false) {
      const planned = memory.plan();
      let count = 0;
      for (const { topic, mark } of planned) if (mark && write(topic, mark)) count += 1;
      for (const step of planned.flatMap(({ steps }) => steps)) {
        count += 1;
        if (!lost(step)) take(memory.live, step);
      }
      return count;
    },
    settle() {
      for (let steps = 0; steps < 20; steps++) if (memory.step() === 0) return memory.plan();
      throw new Error('it does not come to an end');
    },
  };

  function write({ metadata }: KafkaTopic, mark: NonNullable<PlannedTopic['mark']>): boolean {
    const found = memory.resources.get(metadata.name)!;
    const patch = markPatch(found, mark) as { metadata: AnyObject['metadata'] } | undefined;
    if (!patch) return false;
    const { finalizers = [] } = patch.metadata;
    const annotations = { ...found.metadata.annotations, ...patch.metadata.annotations };
    const kept = Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== null));
    memory.resources.set(metadata.name, {
      ...found,
      metadata: { ...found.metadata, finalizers, annotations: kept },
    });
    if (found.metadata.deletionTimestamp && finalizers.length === 0) memory.resources.delete(metadata.name);
    return true;
  }
  return memory;
}

const partition = (index: number, replicas: number[]) => ({
  index,
  replicas,
  isr: [...replicas],
  leader: replicas[0]!,
  leaderEpoch: 0,
  offline: [],
});

export const liveTopic = (
  count: number,
  replicas: number[],
  configs: Record<string, string> = {},
): LiveTopic => ({
  id: `id-${count}`,
  internal: false,
  partitions: Array.from({ length: count }, (_, index) => partition(index, replicas)),
  configs,
  moving: false,
  surplusForMs: 10_000,
});

function take(live: Map<string, LiveTopic>, step: TopicStep): void {
  if (step.do === 'create') {
    const { name, partitions = 1, replicationFactor = 1, configs = {} } = step.topic;
    live.set(name, liveTopic(partitions, [0, 1, 2].slice(0, replicationFactor), configs));
  } else if (step.do === 'delete') live.delete(step.name);
  else if (step.do === 'grow') {
    const topic = live.get(step.name)!;
    const { replicas } = topic.partitions[0]!;
    live.set(step.name, { ...topic, partitions: liveTopic(step.count, replicas).partitions });
  } else if (step.do === 'configure') {
    const { resource, changes } = step.change;
    const topic = live.get(resource.name)!;
    const configs = { ...topic.configs };
    for (const change of changes)
      if (change.change === 'delete') delete configs[change.name];
      else configs[change.name] = change.value;
    live.set(resource.name, { ...topic, configs });
  } else
    for (const { topic: name, partition: index, replicas } of step.wanted) {
      const topic = live.get(name)!;
      const partitions = topic.partitions.map((one) =>
        one.index === index ? partition(index, [...replicas!]) : one,
      );
      live.set(name, { ...topic, partitions });
    }
}
