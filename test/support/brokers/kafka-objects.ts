/** Resources of one Kafka cluster, for tests of its planner. */
import type { AnyObject } from '../../../src/kube/object.ts';
import { createMemoryKafka } from './memory-kafka.ts';
import type { MemoryKafka } from './memory-kafka.ts';

/** A Kafka that asks to be run. */
export const kafkaObject = (broker: object = {}): AnyObject => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'Kafka',
  metadata: {
    name: 'events',
    namespace: 'kafka',
    uid: 'uid-kafka',
    annotations: { 'isthmus.dev/managed': 'true' },
  },
  spec: {
    kafka: {
      listeners: [
        { name: 'plain', port: 9092, type: 'internal', tls: false },
        { name: 'tls', port: 9093, type: 'internal', tls: true, authentication: { type: 'tls' } },
      ],
      ...broker,
    },
  },
});

/** Its pool: three nodes that are both. */
export const poolObject = (spec: object = {}, name = 'dual'): AnyObject => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'KafkaNodePool',
  metadata: { name, namespace: 'kafka', uid: `uid-${name}`, labels: { 'strimzi.io/cluster': 'events' } },
  spec: {
    replicas: 3,
    roles: ['controller', 'broker'],
    storage: { type: 'persistent-claim', size: '10Gi' },
    ...spec,
  },
});

/** A cluster with nothing left to do. */
export async function settledKafka(broker: object = {}, spec: object = {}): Promise<MemoryKafka> {
  const memory = createMemoryKafka();
  memory.put(kafkaObject(broker));
  memory.put(poolObject(spec));
  await memory.settle();
  return memory;
}

export const namesOf = (memory: MemoryKafka, kind: string) =>
  memory
    .list(kind)
    .map(({ metadata }) => metadata.name)
    .toSorted();

/** A condition of the Kafka. */
export const conditionOf = (memory: MemoryKafka, type: string) => {
  const { conditions = [] } = (memory.get('Kafka', 'events')?.['status'] ?? {}) as {
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
  return conditions.find((one) => one.type === type);
};
