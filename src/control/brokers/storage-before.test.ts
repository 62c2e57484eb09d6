import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf, poolObject, settledKafka } from '../../../test/support/brokers/kafka-objects.ts';
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
