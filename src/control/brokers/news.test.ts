import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { poolObject, settledKafka } from '../../../test/support/brokers/kafka-objects.ts';
import { moveNews } from './news.ts';
import type { MemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';

const told = (memory: MemoryKafka) =>
  memory
    .plan()
    .actions.flatMap((action) => (action.do === 'tell' ? [`${action.reason}: ${action.note}`] : []));
const extra = (replicas: number) => poolObject({ roles: ['broker'], replicas }, 'extra');

suite('news of a cluster', () => {
  test('nodes that come, are to go, stay after all, and go are told of once', async () => {
    const memory = await settledKafka();
    assert.deepEqual(told(memory), []);
    const expected: [change: () => void, news: string[]][] = [
      [() => memory.put(extra(2)), ['NodesAdded: nodes 3, 4 come; their disks may be formatted']],
      [() => memory.put(extra(1)), ['NodesLeaving: nodes 4 are to go, and are emptied first']],
      [() => memory.put(extra(2)), ['NodesStay: nodes 4 stay after all']],
      [() => memory.put(extra(1)), ['NodesLeaving: nodes 4 are to go, and are emptied first']],
      [() => (memory.drained = [4]), ['NodesRemoved: nodes 4 are empty, and go']],
    ];
    for (const [change, news] of expected) {
      change();
      assert.deepEqual(told(memory), news);
      await memory.settle();
      assert.deepEqual(told(memory), [], 'and not again');
    }
  });

  test('a cluster whose anchor was lost, and that is found by what it has, is told of', async () => {
    const memory = await settledKafka();
    memory.delete('KafkaAnchor', 'events');
    assert.deepEqual(told(memory), [
      'ClusterAdopted: nodes 0, 1, 2 were found by their disks and pods, and go on',
    ]);
    await memory.settle();
    assert.deepEqual(told(memory), [], 'and not again');
  });

  test('so are brokers that are to be none, stay some after all, and are none', async () => {
    const memory = await settledKafka();
    memory.put(extra(3));
    await memory.settle();
    const retiring = () => memory.put(poolObject({ roles: ['controller'] }));
    const expected: [change: () => void, news: string[]][] = [
      [retiring, ['NodesRetiring: nodes 0, 1, 2 are to be no brokers any more, and are emptied first']],
      [() => memory.put(poolObject()), ['NodesStay: nodes 0, 1, 2 stay brokers after all']],
      [retiring, ['NodesRetiring: nodes 0, 1, 2 are to be no brokers any more, and are emptied first']],
      [() => (memory.drained = [1]), ['NodesRetired: nodes 1 are empty, and no brokers from their next start on']], // prettier-ignore
    ];
    for (const [change, news] of expected) {
      change();
      assert.deepEqual(told(memory), news);
      await memory.settle();
      assert.deepEqual(told(memory), [], 'and not again');
    }
  });

  test('moves are told of when they begin and when they are over, and not what an operator finds', () => {
    const look = (done: boolean, toDrain = 0, does = 'done') => ({
      decision: { do: does },
      moved: { done, toDrain },
    });
    const rest = { decision: { do: 'done' }, moved: undefined };
    const reasons = (before: typeof rest | ReturnType<typeof look> | undefined, after: typeof rest | ReturnType<typeof look>) =>
      moveNews(before, after).map(({ reason, note }) => `${reason}: ${note}`); // prettier-ignore
    assert.deepEqual(reasons(rest, look(false, 7)), ['PartitionsMoving: 7 partitions are moved off brokers that are to go']); // prettier-ignore
    assert.deepEqual(reasons(look(true), look(false)), ['PartitionsMoving: partitions are moved until all brokers have about as many']); // prettier-ignore
    assert.deepEqual(reasons(look(false, 7), look(false, 3)), []);
    assert.deepEqual(reasons(look(false), look(true)), ['PartitionsMoved: no partition is left to be moved']);
    assert.deepEqual(reasons(look(false), rest), ['PartitionsMoved: no partition is left to be moved']);
    assert.deepEqual(reasons(undefined, look(false)), []);
    assert.deepEqual(reasons(look(false, 0, 'restart'), look(true)), []);
  });

  test('a cluster that comes is no news, nor is what does not become of it while it is paused', async () => {
    const memory = await settledKafka();
    const live = memory.get('Kafka', 'events')!;
    const annotations = { ...live.metadata.annotations, 'strimzi.io/pause-reconciliation': 'true' };
    memory.put({ ...live, metadata: { ...live.metadata, annotations } });
    memory.put(extra(2));
    assert.deepEqual(told(memory), []);
  });
});
