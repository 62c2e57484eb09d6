import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  conditionOf,
  kafkaObject,
  poolObject,
  settledKafka,
} from '../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { AnyObject } from '../../kube/object.ts';

const sized = (size: string) => poolObject({ storage: { type: 'persistent-claim', size } });
const claimsOf = (memory: MemoryKafka) => memory.list('PersistentVolumeClaim');
const requestOf = (claim: AnyObject) =>
  (claim['spec'] as { resources: { requests: { storage: string } } }).resources.requests.storage;

/** Claims that stay as they are, as of an API server that refuses to have them changed. */
async function afterRefusedGrowth(): Promise<MemoryKafka> {
  const memory = await settledKafka();
  const before = claimsOf(memory);
  memory.put(sized('20Gi'));
  await memory.step();
  for (const claim of before) memory.put(claim);
  const set = memory.get('StrimziPodSet', 'events-dual')!;
  assert.match(set.metadata.annotations?.['strimzi.io/storage'] ?? '', /20Gi/, 'the set has the new size');
  return memory;
}

test('a growth that was refused can be taken back', async () => {
  const memory = await afterRefusedGrowth();
  memory.put(sized('10Gi'));
  await memory.settle();
  assert.equal(conditionOf(memory, 'Accepted')?.status, 'True');
  assert.deepEqual([...new Set(claimsOf(memory).map(requestOf))], ['10Gi']);
});

test('below what claims have nothing goes, although one of them alone has grown', async () => {
  const memory = await afterRefusedGrowth();
  const [first] = claimsOf(memory);
  memory.put({ ...first!, spec: { resources: { requests: { storage: '15Gi' } } } });
  memory.put(sized('10Gi'));
  await memory.step();
  assert.match(conditionOf(memory, 'Accepted')?.message ?? '', /cannot shrink from 15Gi to 10Gi/);
});

test('a growth that was asked for and has not come about can be made smaller', async () => {
  const memory = await settledKafka({}, { storage: { type: 'persistent-claim', size: '20Gi' } });
  for (const claim of claimsOf(memory)) memory.put({ ...claim, status: { capacity: { storage: '10Gi' } } });
  memory.put(sized('15Gi'));
  await memory.settle();
  assert.deepEqual([...new Set(claimsOf(memory).map(requestOf))], ['15Gi']);
  memory.put(sized('5Gi'));
  await memory.step();
  assert.match(conditionOf(memory, 'Accepted')?.message ?? '', /cannot shrink from 10Gi to 5Gi/);
});

const jbod = (...ids: number[]) => {
  const volumeOf = (id: number) => ({ id, type: 'persistent-claim', size: '1Gi', ...(id === 0 && { kraftMetadata: 'shared' }) }); // prettier-ignore
  return { storage: { type: 'jbod', volumes: ids.map(volumeOf) } };
};

test('a volume of brokers stays as long as they do, and what runs goes on', async () => {
  const memory = await settledKafka({}, jbod(0, 1));
  memory.put(poolObject(jbod(0, 1, 2)));
  await memory.settle();
  assert.equal(claimsOf(memory).length, 9);
  const sets = JSON.stringify(memory.list('StrimziPodSet'));
  memory.put(poolObject(jbod(0, 2)));
  await memory.settle();
  const { status, reason, message = '' } = conditionOf(memory, 'Accepted') ?? {};
  assert.deepEqual([status, reason], ['False', 'ChangeNotPossible']);
  assert.match(message, /"dual": volume data-1 cannot be removed.*add a pool of brokers without it/);
  assert.equal(JSON.stringify(memory.list('StrimziPodSet')), sets);
  memory.put(poolObject(jbod(0, 1, 2)));
  await memory.settle();
  assert.equal(conditionOf(memory, 'Accepted')?.status, 'True');
});

test('one that no broker has started with can be taken back', async () => {
  const memory = await settledKafka({}, jbod(0));
  memory.keepsPods = false;
  memory.put(poolObject(jbod(0, 1)));
  await memory.step();
  assert.match(JSON.stringify(memory.list('StrimziPodSet')), /data-1/);
  memory.put(poolObject(jbod(0)));
  await memory.step();
  assert.equal(conditionOf(memory, 'Accepted')?.status, 'True');
  assert.doesNotMatch(JSON.stringify(memory.list('StrimziPodSet')), /data-1/);
});

test('one of controllers alone can go, as it has nothing', async () => {
  const memory = createMemoryKafka();
  memory.put(kafkaObject());
  memory.put(poolObject({ ...jbod(0, 1), roles: ['controller'] }));
  memory.put(poolObject({ roles: ['broker'] }, 'brokers'));
  await memory.settle();
  memory.put(poolObject({ ...jbod(0), roles: ['controller'] }));
  await memory.settle();
  assert.equal(conditionOf(memory, 'Accepted')?.status, 'True');
});
