/** Brokers that are to go, and what is said of them, with a Kafka in memory. Real Kafka: test/integration/brokers/drain.test.ts. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  conditionOf,
  kafkaObject,
  namesOf,
  poolObject,
} from '../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import { createMemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';
import type { MemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';

interface World {
  memory: MemoryKafka;
  nodes: MemoryNodes;
}

const extraPool = (replicas: number) => poolObject({ roles: ['broker'], replicas }, 'extra');
interface AnchorSpec {
  nodes: { id: number }[];
}

const nodeIds = (memory: MemoryKafka) =>
  (memory.get('KafkaAnchor', 'events')!['spec'] as AnchorSpec).nodes.map(({ id }) => id);
const readyOf = ({ memory }: World) => conditionOf(memory, 'Ready')!;

async function look({ memory }: World): Promise<void> {
  memory.now += 5000;
  await memory.step();
}

async function rest(world: World): Promise<void> {
  for (let round = 0; round < 12; round++) {
    world.nodes.tick();
    await look(world);
  }
}

/** Three nodes that are both, and a broker, number 3, with a share of the partitions. */
async function fourBrokers(): Promise<World> {
  const memory = createMemoryKafka();
  memory.keepsPods = false;
  const world = { memory, nodes: createMemoryNodes(memory) };
  memory.put(kafkaObject());
  memory.put(poolObject());
  memory.put(extraPool(1));
  await rest(world);
  assert.equal(readyOf(world).status, 'True', readyOf(world).message);
  assert.ok(world.nodes.kafka.partitions.some(({ replicas }) => replicas.includes(3)));
  return world;
}

function pause({ memory }: World, isOn: boolean): void {
  const { metadata, ...kafka } = memory.get('Kafka', 'events')!;
  const annotations = { ...metadata.annotations, 'strimzi.io/pause-reconciliation': String(isOn) };
  memory.put({ ...kafka, metadata: { ...metadata, annotations } });
}

suite('a broker that is to go', () => {
  test('is emptied, which is said, goes on with the next operator, and waits while it is paused', async () => {
    const world = await fourBrokers();
    const { memory, nodes } = world;
    memory.put(extraPool(0));
    // It is written down, the moves are begun, and they are seen.
    for (let looks = 0; looks < 3; looks++) await look(world);
    assert.equal(readyOf(world).reason, 'Draining');
    assert.match(readyOf(world).message, /[1-9]\d* partitions are still on brokers that are to go, [1-9]\d* are under way/); // prettier-ignore
    const begun = new Map(nodes.kafka.moves);
    memory.restart();
    await look(world);
    assert.equal(readyOf(world).reason, 'Draining');
    assert.deepEqual(nodes.kafka.moves, begun, 'what is under way is not begun again');
    pause(world, true);
    await rest(world);
    assert.equal(readyOf(world).reason, 'Paused');
    assert.ok(!nodes.kafka.partitions.some(({ replicas }) => replicas.includes(3)), 'it is empty');
    assert.equal(namesOf(memory, 'Pod').length, 4, 'and stays');
    pause(world, false);
    await rest(world);
    assert.deepEqual(namesOf(memory, 'Pod'), ['events-dual-0', 'events-dual-1', 'events-dual-2']);
    assert.equal(readyOf(world).reason, 'Ready');
    assert.ok(!nodes.kafka.registered.has(3), 'Kafka has forgotten it');
  });

  test('stays where its partitions would have no place, and goes once they have', async () => {
    const world = await fourBrokers();
    const { memory, nodes } = world;
    const [wide] = nodes.kafka.partitions;
    Object.assign(wide!, { replicas: [0, 1, 2, 3], isr: [0, 1, 2, 3] });
    memory.put(extraPool(0));
    await rest(world);
    assert.equal(readyOf(world).reason, 'ScaleDownPrevented');
    assert.match(readyOf(world).message, /1 partitions have more replicas than brokers would be left \(t-0\); lower their replication factor, or keep the brokers/); // prettier-ignore
    assert.equal(namesOf(memory, 'Pod').length, 4);
    Object.assign(wide!, { replicas: [0, 1, 3], isr: [0, 1, 3] });
    await rest(world);
    assert.equal(namesOf(memory, 'Pod').length, 3);
    assert.equal(readyOf(world).reason, 'Ready');
  });

  test('that is wanted again takes replicas again', async () => {
    const world = await fourBrokers();
    const { memory, nodes } = world;
    memory.put(extraPool(0));
    await look(world);
    await look(world);
    assert.equal(nodes.kafka.dynamic.get('broker 3')?.['cordoned.log.dirs'], '*');
    memory.put(extraPool(1));
    await rest(world);
    assert.equal(nodes.kafka.dynamic.get('broker 3')?.['cordoned.log.dirs'], undefined);
    assert.equal(namesOf(memory, 'Pod').length, 4);
    assert.equal(readyOf(world).reason, 'Ready');
  });

  test('and comes up just when it was seen to be empty is looked at again, although its pool is gone', async () => {
    const world = await fourBrokers();
    const { memory, nodes } = world;
    memory.put(extraPool(2));
    for (let looks = 0; looks < 3; looks++) await look(world);
    nodes.tick();
    assert.ok(memory.get('Pod', 'events-extra-4') && !nodes.kafka.registered.has(4), 'it is starting');
    memory.delete('KafkaNodePool', 'extra');
    for (let looks = 0; looks < 10 && nodes.kafka.moves.size === 0; looks++) await look(world);
    nodes.tick();
    assert.ok(nodes.kafka.partitions.some(({ replicas }) => replicas.includes(4)));
    await rest(world);
    assert.deepEqual(namesOf(memory, 'Pod'), ['events-dual-0', 'events-dual-1', 'events-dual-2']);
    assert.equal(readyOf(world).reason, 'Ready');
  });

  test('keeps its disk until Kafka has forgotten it, although its owner wants that to go with it', async () => {
    const world = await fourBrokers();
    const { memory, nodes } = world;
    const storage = { type: 'persistent-claim', size: '10Gi', deleteClaim: true };
    const claim = () => memory.get('PersistentVolumeClaim', 'data-events-extra-3');
    memory.put(poolObject({ roles: ['broker'], replicas: 1, storage }, 'extra'));
    await rest(world);
    const { uid } = claim()!.metadata;
    memory.put(poolObject({ roles: ['broker'], replicas: 0, storage }, 'extra'));
    for (let looks = 0; looks < 20 && memory.get('Pod', 'events-extra-3'); looks++) {
      await look(world);
      nodes.tick();
    }
    // It was made by somebody who does not ask the controller, in its last moment.
    const last = { topic: 't', partition: 99, minIsr: 1, replicas: [3], isr: [3] };
    nodes.kafka.partitions.push(last);
    for (let looks = 0; looks < 5; looks++) await look(world);
    assert.equal(claim()?.metadata.uid, uid);
    memory.restart();
    await look(world);
    assert.equal(claim()?.metadata.uid, uid, 'the next operator asks first');
    nodes.kafka.partitions.pop();
    nodes.kafka.moves.clear();
    await rest(world);
    assert.equal(claim(), undefined);
  });

  test('and whose pool never came up goes with it', async () => {
    const world = await fourBrokers();
    const { memory, nodes } = world;
    memory.put(poolObject({ roles: ['broker'], replicas: 1 }, 'stuck'));
    for (let looks = 0; looks < 3; looks++) await look(world);
    nodes.keepsDown.add(4);
    await rest(world);
    assert.ok(memory.get('Pod', 'events-stuck-4'));
    memory.delete('KafkaNodePool', 'stuck');
    await rest(world);
    assert.equal(memory.get('Pod', 'events-stuck-4'), undefined);
    assert.equal(readyOf(world).reason, 'Ready');
  });

  test('is one of the cluster until all of its deleted pool are empty, because its pod stays until then', async () => {
    const world = await fourBrokers();
    const { memory, nodes } = world;
    memory.put(extraPool(2));
    await rest(world);
    memory.delete('KafkaNodePool', 'extra');
    // What 4 has cannot be moved for a while; 3 is empty.
    for (const one of nodes.kafka.partitions) Object.assign(one, { replicas: [0, 1, 2], isr: [0, 1, 2] });
    const [wide] = nodes.kafka.partitions;
    Object.assign(wide!, { replicas: [0, 1, 2, 4], isr: [0, 1, 2, 4] });
    await rest(world);
    assert.deepEqual(nodeIds(memory), [0, 1, 2, 3, 4]);
    assert.equal(nodes.kafka.moves.size, 0, 'nothing is moved to a broker that goes');
    Object.assign(wide!, { replicas: [0, 1, 4], isr: [0, 1, 4] });
    await rest(world);
    assert.deepEqual(nodeIds(memory), [0, 1, 2]);
    assert.equal(readyOf(world).reason, 'Ready');
  });

  test('and was given something after an operator had ended in letting it go is emptied again by the next one', async () => {
    for (const isDeleted of [true, false]) {
      const world = await fourBrokers();
      const { memory, nodes } = world;
      if (isDeleted) memory.delete('KafkaNodePool', 'extra');
      else memory.put(extraPool(0));
      memory.beforeWrite = (_, { kind, spec }) => {
        if (kind === 'KafkaAnchor' && (spec as AnchorSpec).nodes.length === 3) letGo = true;
        else if (letGo) throw new Error('the operator ends here');
      };
      let letGo = false;
      await assert.rejects(rest(world), /ends here/);
      assert.deepEqual(nodeIds(memory), [0, 1, 2]);
      memory.beforeWrite = () => {};
      memory.restart();
      const given = { topic: 't', partition: nodes.kafka.partitions.length, minIsr: 1 };
      nodes.kafka.partitions.push({ ...given, replicas: [3], isr: [3] });
      await rest(world);
      assert.ok(!nodes.kafka.partitions.some(({ replicas }) => replicas.includes(3)), 'it was emptied');
      assert.deepEqual(namesOf(memory, 'Pod'), ['events-dual-0', 'events-dual-1', 'events-dual-2']);
      assert.equal(readyOf(world).reason, 'Ready');
    }
  });
});
