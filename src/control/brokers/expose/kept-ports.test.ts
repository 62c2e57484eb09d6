/** Ports of nodes that are kept for a cluster, and those that others have. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  NAMED,
  change,
  clusterWith,
  exposed,
  hostPortsIn,
} from '../../../../test/support/brokers/exposed-kafka.ts';
import { conditionOf, kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';

const RANGE = exposed({ subdomain: 'kafka.example.com', portStrategy: 'range' });
const SERVICE = 'events-kafka-ext-hostport';

/** That of a Kafka which may be long gone. */
const anchorWith = (...ports: number[]) => ({
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'KafkaAnchor',
  metadata: { name: 'other', namespace: 'elsewhere', labels: { 'strimzi.io/cluster': 'other' } },
  spec: { ports: ports.map((port, at) => ({ name: `ext${at}`, port })) },
});
const podWith = (hostPort: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'other-0', namespace: 'elsewhere', labels: { 'strimzi.io/cluster': 'other' } },
  spec: { containers: [{ ports: [{ hostPort }] }] },
});

async function settledBeside(broker: object, other: ReturnType<typeof anchorWith | typeof podWith>) {
  const memory = createMemoryKafka();
  memory.put(other);
  memory.put(kafkaObject(broker));
  memory.put(poolObject());
  memory.keepsPods = false; // nor are those of others, which no set lists, taken away
  await memory.settle();
  return memory;
}

const recordedIn = (memory: MemoryKafka) =>
  (memory.get('KafkaAnchor', 'events')!['spec'] as { ports: { port: number }[] }).ports.map(
    ({ port }) => port,
  );

suite('ports that are kept', () => {
  test('stay reserved as long as there is an anchor: the Service has it for an owner beside the Kafka', async () => {
    const memory = await clusterWith(NAMED);
    const owners = memory.get('Service', SERVICE)!.metadata.ownerReferences!;
    const { uid } = memory.get('KafkaAnchor', 'events')!.metadata;
    assert.deepEqual(
      owners.map(({ kind, name, uid: of }) => [kind, name, of]),
      [['Kafka', 'events', 'uid-kafka'], ['KafkaAnchor', 'events', uid]], // prettier-ignore
    );
  });

  test('a number that another anchor claims is given back, though the API server had it free', async () => {
    const memory = await settledBeside(NAMED, anchorWith(30_001, 30_002));
    assert.deepEqual(recordedIn(memory), [30_003]);
    assert.deepEqual(new Set(hostPortsIn(memory)), new Set([30_003]));
    const { spec } = memory.get('Service', SERVICE)! as { spec?: { ports: { nodePort: number }[] } };
    assert.equal(spec!.ports[0]!.nodePort, 30_003);
  });

  test('nor is one that a pod of somebody else has', async () => {
    const memory = await settledBeside(NAMED, podWith(30_001));
    assert.deepEqual(recordedIn(memory), [30_002]);
  });

  test('of our own choice: not what others have written down, or their pods have', async () => {
    const [alone = 0] = recordedIn(await clusterWith(RANGE));
    assert.deepEqual(recordedIn(await settledBeside(RANGE, anchorWith(alone))), [alone + 1]);
    assert.deepEqual(recordedIn(await settledBeside(RANGE, podWith(alone))), [alone + 1]);
  });

  test('one of our own choice is used after it was seen to be written down, and by nobody else', async () => {
    const memory = createMemoryKafka();
    memory.put(kafkaObject(RANGE));
    memory.put(poolObject());
    await memory.step();
    const [first = 0] = recordedIn(memory);
    // Somebody who did not see it has chosen the same.
    memory.put(anchorWith(first));
    await memory.settle();
    const [second] = recordedIn(memory);
    assert.notEqual(second, first);
    assert.deepEqual(hostPortsIn(memory), [second, second, second]);
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True');
  });

  test('that two use at last are said to be shared, and stay', async () => {
    const memory = await clusterWith(RANGE);
    const [port = 0] = recordedIn(memory);
    memory.put(anchorWith(port));
    await memory.settle();
    assert.deepEqual(recordedIn(memory), [port]);
    assert.deepEqual(hostPortsIn(memory), [port, port, port]);
    const ready = conditionOf(memory, 'Ready')!;
    assert.deepEqual([ready.status, ready.reason], ['True', 'HostPortShared']);
    assert.match(ready.message, new RegExp(`listener "ext": others have port ${port} of the nodes, too`));
    change(memory, NAMED);
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'Ready', 'another port is nobody else’s');
  });
});
