/** A Kafka over a central cluster called hub and two others, in memory. */
import type { AnyObject } from '../../../src/kube/object.ts';
import { kafkaObject, poolObject } from './kafka-objects.ts';
import { KAFKA_SETTINGS, createMemoryKafka } from './memory-kafka.ts';
import type { MemoryKafka } from './memory-kafka.ts';

export const CLUSTERS = ['east', 'west'];
export const SETTINGS = { ...KAFKA_SETTINGS, centralId: 'hub' };

export function stretchedObject(annotations: Record<string, string> = {}, config: object = {}): AnyObject {
  const object = kafkaObject({ config });
  return {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { 'strimzi.io/cross-cluster-type': 'isthmus', ...annotations },
    },
  };
}

/** Of one node. */
export const poolIn = (name: string, cluster: string | undefined, spec: object = {}): AnyObject =>
  poolObject({ replicas: 1, ...(cluster !== undefined && { cluster }), ...spec }, name);

/** One in each cluster; the disk in `west` goes with it. */
export function putPools(memory: MemoryKafka): void {
  memory.put(poolIn('hub', undefined));
  memory.put(poolIn('east', 'east'));
  memory.put(
    poolIn('west', 'west', { storage: { type: 'persistent-claim', size: '1Gi', deleteClaim: true } }),
  );
}

/** A change of the Kafka as its owner makes it. */
export function changeKafka(
  memory: MemoryKafka,
  annotations: Record<string, string>,
  config: object = {},
): void {
  const live = memory.get('Kafka', 'events')!;
  const { metadata, spec } = stretchedObject(annotations, config);
  memory.put({ ...live, spec, metadata: { ...live.metadata, annotations: metadata.annotations ?? {} } });
}

/** Keys take long to make, so all tests of a file begin with the same cluster. */
const settled = (async () => {
  const memory = createMemoryKafka(SETTINGS, CLUSTERS);
  memory.put(stretchedObject());
  putPools(memory);
  await memory.settle();
  return { memory, bringBack: memory.remember() };
})();

export async function stretchedKafka(): Promise<MemoryKafka> {
  const { memory, bringBack } = await settled;
  bringBack();
  memory.drained = [];
  memory.beforeWrite = () => {};
  return memory;
}

/** Another central cluster, joined with the same ones, in which the same resources were applied. */
export function otherCentral(first: MemoryKafka, annotations: Record<string, string> = {}): MemoryKafka {
  const memory = createMemoryKafka({ ...SETTINGS, holder: 'other' }, CLUSTERS, first);
  const { metadata, ...kafka } = stretchedObject(annotations);
  memory.put({ ...kafka, metadata: { ...metadata, uid: 'uid-of-other' } });
  putPools(memory);
  return memory;
}
