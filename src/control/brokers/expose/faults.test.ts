/** What keeps exposed brokers from running. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NAMED, PLAIN, clusterWith } from '../../../../test/support/brokers/exposed-kafka.ts';
import { conditionOf } from '../../../../test/support/brokers/kafka-objects.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';

const PORTS =
  "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports. preemption: none.";
const MEMORY = '0/2 nodes are available: 2 Insufficient memory.';

/** In the words of the scheduler. */
async function unplaced(memory: MemoryKafka, message: string): Promise<void> {
  const pod = memory.get('Pod', 'events-dual-2')!;
  const waits = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
  memory.put({ ...pod, status: { phase: 'Pending', conditions: [waits] } });
  await memory.settle();
}

suite('brokers that find no node', () => {
  test('because each has a broker already: there are too few, and that is said', async () => {
    const memory = await clusterWith(NAMED);
    await unplaced(memory, PORTS);
    const ready = conditionOf(memory, 'Ready')!;
    assert.deepEqual([ready.status, ready.reason], ['False', 'TooFewNodes']);
    assert.match(ready.message, /^events-dual-2 finds no node where port 30001 is free: .*; add nodes, or have fewer brokers \(0\/2 nodes are available: 2 node\(s\) didn't have free ports/); // prettier-ignore
  });

  test('for another reason, or without a port of the nodes: what the scheduler says is passed on', async () => {
    const memory = await clusterWith(NAMED);
    await unplaced(memory, MEMORY);
    assert.deepEqual(conditionOf(memory, 'Ready')?.reason, 'PodsNotReady');
    assert.match(
      conditionOf(memory, 'Ready')!.message,
      /events-dual-2 Unschedulable \(0\/2 .*Insufficient memory/,
    );
    const inside = await clusterWith({ listeners: [PLAIN] });
    await unplaced(inside, PORTS);
    assert.deepEqual(conditionOf(inside, 'Ready')?.reason, 'PodsNotReady');
  });
});
