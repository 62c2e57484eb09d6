/** Brokers whose clients are told the address of a node, when the node is given another one. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NAMED, clusterWith, exposed } from '../../../../test/support/brokers/exposed-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { Place } from '../../../../test/support/brokers/memory-objects.ts';
import { rollInput } from '../look/roll-input.ts';

const POD = 'events-dual-1';

/** Why nodes would be restarted now, by id. */
function reasonsIn(memory: MemoryKafka): Record<number, string[]> {
  const look = memory.plan().actions.find((action) => action.do === 'look');
  assert.ok(look);
  const times = { now: memory.now, podsSeenAt: memory.now };
  const { nodes } = rollInput(look.wanted, memory.list('Pod'), undefined, times);
  return Object.fromEntries(nodes.map(({ id, reasons }) => [id, reasons.map(({ name }) => name)]));
}

async function moveAddress(memory: MemoryKafka, addresses: Place['addresses']): Promise<void> {
  const { placeOf } = memory;
  memory.placeOf = (pod) => (pod === POD ? { node: 'node-1', addresses } : placeOf(pod));
  await memory.step();
  await memory.settle();
}

const NEW = [{ type: 'ExternalIP', address: '192.0.2.77' }];

suite('a node that is given another address', () => {
  test('has its broker restarted, which then tells the new one; and no other', async () => {
    const memory = await clusterWith(exposed());
    assert.deepEqual(reasonsIn(memory), { 0: [], 1: [], 2: [] });
    await moveAddress(memory, NEW);
    assert.deepEqual(reasonsIn(memory), { 0: [], 1: ['NODE_ADDRESS_CHANGED'], 2: [] });
    memory.delete('Pod', POD);
    await memory.settle();
    assert.deepEqual(reasonsIn(memory), { 0: [], 1: [], 2: [] });
  });

  test('has not while it has none at all: nobody is told an empty host', async () => {
    const memory = await clusterWith(exposed());
    const pod = memory.get('Pod', POD)!;
    const told = Object.entries(pod.metadata.annotations!);
    const annotations = Object.fromEntries(told.filter(([name]) => !name.startsWith('isthmus.dev/node-')));
    const { placeOf } = memory;
    memory.placeOf = (name) => (name === POD ? undefined : placeOf(name));
    memory.put({ ...pod, metadata: { ...pod.metadata, annotations } });
    assert.deepEqual(reasonsIn(memory), { 0: [], 1: [], 2: [] });
  });

  test('where clients are told names, it restarts nobody', async () => {
    const memory = await clusterWith(NAMED);
    await moveAddress(memory, NEW);
    assert.deepEqual(reasonsIn(memory), { 0: [], 1: [], 2: [] });
  });
});
