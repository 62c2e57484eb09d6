/** Nodes that are to be no brokers any more, or to become some, with a Kafka in memory. Real Kafka: test/integration/brokers/drain.test.ts. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  conditionOf,
  kafkaObject,
  poolObject,
  settledKafka,
} from '../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import { createMemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';
import type { MemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';
import type { CharterNode } from './model/charter.ts';

interface World {
  memory: MemoryKafka;
  nodes: MemoryNodes;
  /** Pods that the operator has deleted. */
  deleted: string[];
}

const CONTROLLERS = poolObject({ roles: ['controller'] });
const more = (replicas = 3) => poolObject({ roles: ['broker'], replicas }, 'more');
const ready = ({ memory }: World) => conditionOf(memory, 'Ready')!;
const nodesIn = (memory: MemoryKafka) =>
  (memory.get('KafkaAnchor', 'events')!['spec'] as { nodes: CharterNode[] }).nodes;
const brokersIn = (memory: MemoryKafka) =>
  nodesIn(memory).flatMap(({ id, roles }) => (roles.includes('broker') ? [id] : []));
const runningAsBrokers = (memory: MemoryKafka) =>
  memory
    .list('Pod')
    .flatMap(({ metadata: { name, labels } }) =>
      labels?.['strimzi.io/broker-role'] === 'true' ? [name] : [],
    )
    .toSorted();
const votersIn = (memory: MemoryKafka) =>
  new Set(
    memory
      .list('ConfigMap')
      .flatMap(({ data }) => /controller\.quorum\.voters=.*/.exec((data as Record<string, string>)['server.config'] ?? '') ?? []), // prettier-ignore
  );
const DUAL = [0, 1, 2].map((id) => `events-dual-${id}`);

async function look({ memory }: World): Promise<void> {
  memory.now += 5000;
  await memory.step();
}

async function rest(world: World, rounds = 40): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    world.nodes.tick();
    await look(world);
  }
}

async function until(world: World, condition: () => boolean): Promise<void> {
  for (let round = 0; !condition(); round++) {
    assert.ok(round < 100, 'it does not come to that');
    await rest(world, 1);
  }
}

/** Until all is done, and these are the brokers, as Kafka and their pods say. */
async function untilBrokers(world: World, ...ids: number[]): Promise<void> {
  const { memory, nodes } = world;
  const isSo = () => {
    const running = runningAsBrokers(memory).map((name) => Number(/\d+$/.exec(name)?.[0]));
    const known = [...nodes.kafka.registered];
    return [running, known].every((all) => all.length === ids.length && ids.every((id) => all.includes(id)));
  };
  await until(world, () => isSo() && ready(world).reason === 'Ready');
}

/** Three nodes that are both, with partitions. */
async function combined(): Promise<World> {
  const memory = createMemoryKafka();
  memory.keepsPods = false;
  const nodes = createMemoryNodes(memory);
  const world: World = { memory, nodes, deleted: [] };
  memory.beforeWrite = (verb, object) => {
    if (verb !== 'delete' || object.kind !== 'Pod') return;
    nodes.taken(object);
    world.deleted.push(object.metadata.name);
  };
  memory.put(kafkaObject());
  memory.put(poolObject());
  await rest(world, 12);
  assert.equal(ready(world).status, 'True', ready(world).message);
  assert.ok(nodes.kafka.partitions.length > 0);
  return world;
}

suite('nodes that are to be no brokers any more', () => {
  test('are emptied, then restarted as controllers one after the other, and Kafka forgets the brokers', async () => {
    const world = await combined();
    const { memory, nodes } = world;
    const voters = votersIn(memory);
    memory.put(more());
    memory.put(CONTROLLERS);
    await until(world, () => nodes.kafka.moves.size > 0);
    assert.deepEqual([world.deleted, brokersIn(memory)], [[], [0, 1, 2, 3, 4, 5]]);
    assert.match(ready(world).message, /nodes 0, 1, 2 are to be no brokers any more, and are until they are empty/); // prettier-ignore
    await untilBrokers(world, 3, 4, 5);
    assert.deepEqual(world.deleted.toSorted(), DUAL);
    assert.deepEqual(votersIn(memory), voters);
    assert.ok(nodesIn(memory).every(({ retiring, formatted }) => !retiring && formatted.length > 0));
  });

  test('stay what they are, to the last setting, until they are empty', async () => {
    const world = await combined();
    const { memory, nodes } = world;
    const before = memory.list('StrimziPodSet')[0]!['spec'];
    memory.put(more(2));
    memory.put(CONTROLLERS);
    await rest(world, 12);
    assert.equal(ready(world).reason, 'ScaleDownPrevented', ready(world).message);
    assert.deepEqual(memory.get('StrimziPodSet', 'events-dual')!['spec'], before);
    assert.deepEqual(world.deleted, []);
    memory.put(poolObject());
    await rest(world, 12);
    assert.equal(ready(world).reason, 'Ready', ready(world).message);
    assert.deepEqual(world.deleted, []);
    assert.deepEqual([0, 1, 2].flatMap((id) => nodes.kafka.dynamic.get(`broker ${id}`)?.['cordoned.log.dirs'] ?? []), []); // prettier-ignore
  });

  test('and are given something after it was written down that they are none are emptied again', async () => {
    const world = await combined();
    const { memory, nodes } = world;
    memory.put(more());
    memory.put(CONTROLLERS);
    await until(world, () => brokersIn(memory).join() === '1,2,3,4,5');
    assert.deepEqual(world.deleted, []);
    const given = { topic: 't', partition: nodes.kafka.partitions.length, minIsr: 1 };
    nodes.kafka.partitions.push({ ...given, replicas: [0], isr: [0] });
    await look(world);
    assert.match(ready(world).message, /events-dual-0 cannot be restarted: it is to be no broker any more, and was given partitions: t-/); // prettier-ignore
    await look(world);
    assert.deepEqual([brokersIn(memory), world.deleted], [[0, 1, 2, 3, 4, 5], []]);
    await untilBrokers(world, 3, 4, 5);
  });

  test('are none when they were just seen to be empty, one after the other, and where there are no others it is refused', async () => {
    const memory = await settledKafka();
    memory.put(CONTROLLERS);
    await memory.settle();
    assert.match(conditionOf(memory, 'Accepted')?.message ?? '', /no node is a broker/);
    memory.put(more());
    await memory.settle();
    assert.deepEqual(brokersIn(memory), [0, 1, 2, 3, 4, 5]);
    memory.drained = [0];
    memory.drainedForMs = 60_000;
    await memory.settle();
    assert.deepEqual(brokersIn(memory), [0, 1, 2, 3, 4, 5], 'that was a while ago');
    memory.drained = [0, 1, 2];
    memory.drainedForMs = 0;
    await memory.settle();
    assert.deepEqual(brokersIn(memory), [1, 2, 3, 4, 5], 'one, as long as its pod was not restarted');
  });

  test('are brokers again when that is wanted, by a restart each', async () => {
    const world = await combined();
    const { memory, nodes } = world;
    memory.put(more());
    memory.put(CONTROLLERS);
    await untilBrokers(world, 3, 4, 5);
    world.deleted = [];
    memory.put(poolObject());
    await untilBrokers(world, 0, 1, 2, 3, 4, 5);
    assert.deepEqual(world.deleted.toSorted(), DUAL);
    assert.deepEqual([0, 1, 2].flatMap((id) => nodes.kafka.dynamic.get(`broker ${id}`)?.['cordoned.log.dirs'] ?? []), []); // prettier-ignore
  });

  test('cannot become controllers on a disk of a broker', async () => {
    const memory = await settledKafka();
    memory.put(more());
    await memory.settle();
    memory.put(poolObject({ roles: ['controller'] }, 'more'));
    await memory.settle();
    assert.match(conditionOf(memory, 'Accepted')?.message ?? '', /the controllers of a running cluster stay the same: they are nodes 0, 1, 2/); // prettier-ignore
    assert.deepEqual(brokersIn(memory), [0, 1, 2, 3, 4, 5]);
  });
});
