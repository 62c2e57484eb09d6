/** A Kafka whose controllers come and go, from its resources to the files of its nodes. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { conditionOf, kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { REVISION_ANNOTATION } from '../model/names.ts';
import { podsIn } from '../objects/pod-sets.ts';

function kafkaWith(quorum: string | undefined): AnyObject {
  const { metadata, ...kafka } = kafkaObject();
  const annotations = {
    ...metadata.annotations,
    ...(quorum !== undefined && { 'isthmus.dev/quorum': quorum }),
  };
  return { ...kafka, metadata: { ...metadata, annotations } };
}

async function settled(quorum: string | undefined): Promise<MemoryKafka> {
  const memory = createMemoryKafka();
  memory.put(kafkaWith(quorum));
  memory.put(poolObject());
  await memory.settle();
  return memory;
}

const filesOf = (memory: MemoryKafka, id: number) =>
  memory.get('ConfigMap', `events-dual-${id}`)!['data'] as Record<string, string>;
const specOf = (memory: MemoryKafka) =>
  memory.get('KafkaAnchor', 'events')!['spec'] as { nodes: { id: number; leaving: boolean }[]; quorum?: { initial: { id: number; used: boolean }[] } }; // prettier-ignore
const revisionsIn = (memory: MemoryKafka) =>
  memory
    .list('StrimziPodSet')
    .flatMap(podsIn)
    .map(({ metadata }) => metadata.annotations?.[REVISION_ANNOTATION]);

suite('controllers that come and go', () => {
  test('begin with disks that are formatted for all of them, and then for nobody again', async () => {
    const memory = createMemoryKafka();
    memory.put(kafkaWith('dynamic'));
    memory.put(poolObject());
    memory.keepsPods = false;
    await memory.settle();
    const { quorum } = filesOf(memory, 0);
    assert.match(
      quorum!,
      /^--initial-controllers=0@events-dual-0\.events-kafka-brokers\.kafka\.svc:9090:[\w-]{22},1@/,
    );
    assert.equal(filesOf(memory, 2)['quorum'], quorum);
    memory.keepsPods = true;
    await memory.step();
    await memory.settle();
    assert.deepEqual(
      specOf(memory).quorum?.initial.map(({ used }) => used),
      [true, true, true],
    );
    assert.equal(filesOf(memory, 0)['quorum'], '--no-initial-controllers');
    assert.match(filesOf(memory, 0)['server.config']!, /^controller\.quorum\.bootstrap\.servers=events-dual-0\..*:9090,events-dual-1/m); // prettier-ignore
    assert.doesNotMatch(filesOf(memory, 0)['server.config']!, /controller\.quorum\.voters/);
    assert.equal(await memory.step(), 0);
  });

  test('are more without a restart of the others', async () => {
    const memory = await settled('dynamic');
    const before = revisionsIn(memory);
    memory.put(poolObject({ replicas: 5 }));
    await memory.settle();
    assert.equal(conditionOf(memory, 'Accepted')?.status, 'True');
    assert.deepEqual(revisionsIn(memory).slice(0, 3), before);
    assert.equal(filesOf(memory, 4)['quorum'], '--no-initial-controllers');
    assert.match(filesOf(memory, 0)['server.config']!, /bootstrap\.servers=.*events-dual-4\./);
  });

  test('go when they are empty and do not vote, and not before', async () => {
    const memory = await settled('dynamic');
    memory.put(poolObject({ replicas: 4 }));
    await memory.settle();
    memory.put(poolObject());
    memory.drained = [3];
    await memory.settle();
    assert.deepEqual(specOf(memory).nodes.map(({ id, leaving }) => [id, leaving]).at(-1), [3, true]); // prettier-ignore
    memory.outside = [3];
    // It has lost its way to the others with its vote, and its pod is ready as before.
    memory.down = [3];
    await memory.settle();
    assert.deepEqual(specOf(memory).nodes.map(({ id }) => id), [0, 1, 2]); // prettier-ignore
    assert.equal(memory.get('Pod', 'events-dual-3'), undefined);
  });

  test('do not go when they have come up since Kafka was asked, because they may have been given something', async () => {
    const memory = await settled('dynamic');
    memory.put(poolObject({ replicas: 4 }));
    await memory.settle();
    memory.put(poolObject());
    Object.assign(memory, { drained: [3], outside: [3], down: [3], readyThen: [] });
    await memory.settle();
    assert.deepEqual(specOf(memory).nodes.map(({ id }) => id), [0, 1, 2, 3]); // prettier-ignore
    assert.ok(memory.get('Pod', 'events-dual-3'));
    memory.readyThen = undefined;
    await memory.settle();
    assert.deepEqual(specOf(memory).nodes.map(({ id }) => id), [0, 1, 2]); // prettier-ignore
  });

  test('are the same for ever where that was not asked for, and what to do is said', async () => {
    const memory = await settled(undefined);
    assert.match(filesOf(memory, 0)['server.config']!, /^controller\.quorum\.voters=0@/m);
    assert.equal(filesOf(memory, 0)['quorum'], undefined);
    memory.put(poolObject({ replicas: 5 }));
    await memory.settle();
    assert.match(conditionOf(memory, 'Accepted')?.message ?? '', /made with the annotation isthmus\.dev\/quorum: dynamic can change them/); // prettier-ignore
    memory.put(poolObject());
    memory.put({ ...kafkaWith('dynamic'), status: memory.get('Kafka', 'events')!['status'] });
    await memory.settle();
    assert.match(conditionOf(memory, 'Accepted')?.message ?? '', /make a new Kafka with/);
  });

  test('keep what they are: a node does not become a controller, or cease to be one', async () => {
    const memory = await settled('dynamic');
    memory.put(poolObject({ replicas: 2, roles: ['broker'] }, 'more'));
    await memory.settle();
    memory.put(poolObject({ replicas: 2, roles: ['broker', 'controller'] }, 'more'));
    await memory.settle();
    assert.match(conditionOf(memory, 'Accepted')?.message ?? '', /nodes 3, 4 stay what they are/);
  });

  test('are remembered by what their owner says where the anchor is lost', async () => {
    const memory = await settled('dynamic');
    memory.delete('KafkaAnchor', 'events');
    memory.restart();
    await memory.settle();
    assert.deepEqual(specOf(memory).quorum, { initial: [] });
    assert.equal(filesOf(memory, 0)['quorum'], '--no-initial-controllers');
  });
});
