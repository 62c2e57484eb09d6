import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cpuMs } from '../../../../test/support/cpu.ts';
import { createMemoryTopics, liveTopic } from '../../../../test/support/brokers/memory-topics.ts';
import type { PlannedTopic } from './plan-topics.ts';

const reasonsOf = (planned: readonly PlannedTopic[], name: string) => {
  const state = planned.find(({ topic }) => topic.metadata.name === name)?.state;
  return state?.is === 'judged' ? state.faults.map(({ reason }) => reason) : state?.is;
};

describe('a KafkaTopic', () => {
  test('becomes a topic, which changes with it and goes with it', () => {
    const memory = createMemoryTopics();
    memory.put('orders', {
      partitions: 2,
      replicas: 1,
      config: { 'retention.ms': 1000, 'cleanup.policy': ['compact'] },
    });
    assert.deepEqual(reasonsOf(memory.settle(), 'orders'), []);
    const made = memory.live.get('orders')!;
    assert.equal(made.partitions.length, 2);
    assert.deepEqual(made.configs, { 'retention.ms': '1000', 'cleanup.policy': 'compact' });
    assert.deepEqual(memory.resources.get('orders')?.metadata.finalizers, ['strimzi.io/topic-operator']);
    memory.put('orders', { partitions: 4, replicas: 3, config: { 'retention.ms': 2000 } });
    memory.settle();
    const grown = memory.live.get('orders')!;
    assert.deepEqual(
      grown.partitions.map(({ replicas }) => new Set(replicas).size),
      [3, 3, 3, 3],
    );
    assert.deepEqual(grown.configs, { 'retention.ms': '2000' });
    memory.delete('orders');
    memory.settle();
    assert.equal(memory.live.size + memory.resources.size, 0);
  });

  test('is soon compared with what there is, however its lists are written', () => {
    const memory = createMemoryTopics();
    memory.put('orders', { config: { 'cleanup.policy': 'compact ,  delete' } });
    memory.settle();
    memory.live.set('orders', {
      ...memory.live.get('orders')!,
      configs: { 'cleanup.policy': 'compact,delete' },
    });
    memory.settle();
    assert.equal(memory.live.get('orders')!.configs['cleanup.policy'], 'compact,delete', 'is not set again');
    memory.put('wide', { config: { 'retention.ms': `1${' '.repeat(32_000)}2` } });
    assert.ok(cpuMs(() => memory.settle()) < 1000);
  });

  test('leaves configuration alone that it never named', () => {
    const memory = createMemoryTopics();
    memory.live.set('orders', liveTopic(1, [0], { 'segment.ms': '5', 'retention.ms': '7' }));
    memory.put('orders', { config: { 'retention.ms': 1000 } });
    memory.settle();
    memory.put('orders', {});
    memory.settle();
    assert.deepEqual(memory.live.get('orders')?.configs, { 'segment.ms': '5' });
  });

  test('does not lose partitions, and says so', () => {
    const memory = createMemoryTopics();
    memory.put('orders', { partitions: 3 });
    memory.settle();
    memory.put('orders', { partitions: 2 });
    assert.deepEqual(reasonsOf(memory.settle(), 'orders'), ['NotSupported']);
    assert.equal(memory.live.get('orders')?.partitions.length, 3);
  });

  test('keeps the name that its topic has', () => {
    const memory = createMemoryTopics();
    memory.put('orders', { topicName: 'Orders' });
    memory.settle();
    memory.put('orders', { topicName: 'Others' });
    assert.deepEqual(reasonsOf(memory.settle(), 'orders'), ['NotSupported']);
    assert.deepEqual([...memory.live.keys()], ['Orders']);
  });

  test('that is younger than another one of the same topic has nothing of it', () => {
    const memory = createMemoryTopics();
    memory.put('first', { topicName: 'orders', partitions: 2 });
    memory.put('second', { topicName: 'orders', partitions: 5 });
    assert.deepEqual(reasonsOf(memory.settle(), 'second'), ['ResourceConflict']);
    memory.delete('second');
    memory.settle();
    assert.equal(memory.live.get('orders')?.partitions.length, 2);
  });

  test('that has its topic keeps it from one that is older, and asks for it later', () => {
    const memory = createMemoryTopics();
    memory.put('older', { topicName: 'orders' }, { annotations: { 'strimzi.io/managed': 'false' } });
    memory.put('holder', { topicName: 'orders', partitions: 2 });
    memory.settle();
    memory.put('older', { topicName: 'orders', partitions: 5 }, { annotations: {} });
    const planned = memory.settle();
    assert.deepEqual([reasonsOf(planned, 'older'), reasonsOf(planned, 'holder')], [['ResourceConflict'], []]);
    assert.equal(memory.live.get('orders')?.partitions.length, 2);
  });

  test('of a topic of Kafka itself, or with a name that cannot be, is refused', () => {
    const memory = createMemoryTopics();
    memory.live.set('secrets', { ...liveTopic(1, [0]), internal: true });
    memory.put('a', { topicName: '__consumer_offsets' });
    memory.put('b', { topicName: 'secrets' });
    memory.put('c', { topicName: 'with space' });
    memory.put('d', { config: { x: { y: 1 } } });
    const planned = memory.settle();
    const reasons = ['a', 'b', 'c', 'd'].map((name) => reasonsOf(planned, name));
    assert.deepEqual(reasons, [['NotSupported'], ['NotSupported'], ['Invalid'], ['Invalid']]);
    assert.deepEqual([...memory.live.keys()], ['secrets']);
  });

  test('with a configuration that Kafka could not even be told of is refused, and can be deleted', () => {
    const memory = createMemoryTopics();
    const configs = {
      key: { ['k'.repeat(250)]: 1 },
      space: { 'a key': 1 },
      value: { 'retention.ms': 'v'.repeat(32_768) },
      bytes: { 'retention.ms': 'é'.repeat(16_384) },
      many: Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`k${n}`, 1])),
      sum: Object.fromEntries(['a', 'b', 'c'].map((key) => [key, 'v'.repeat(30_000)])),
    };
    for (const name of Object.keys(configs)) memory.put(name, {});
    memory.settle();
    for (const [name, config] of Object.entries(configs)) memory.put(name, { config });
    const planned = memory.settle();
    for (const name of Object.keys(configs)) assert.deepEqual(reasonsOf(planned, name), ['Invalid'], name);
    for (const name of Object.keys(configs)) memory.delete(name);
    memory.settle();
    assert.equal(memory.live.size + memory.resources.size, 0);
  });

  test('with keys of configuration that every object of JavaScript has is one like any other', () => {
    const memory = createMemoryTopics();
    memory.put('orders', {});
    memory.settle();
    memory.put('orders', { config: JSON.parse('{"constructor": 1, "toString": 2}') as object });
    assert.deepEqual(reasonsOf(memory.settle(), 'orders'), []);
    assert.deepEqual(Object.entries(memory.live.get('orders')!.configs), [
      ['constructor', '1'],
      ['toString', '2'],
    ]);
    memory.put('orders', {});
    memory.settle();
    assert.deepEqual(Object.entries(memory.live.get('orders')!.configs), []);
  });

  test('on which somebody wrote over what is remembered can be deleted, and its topic stays', () => {
    const memory = createMemoryTopics();
    memory.put('orders', {});
    memory.settle();
    memory.put('orders', {}, { annotations: { 'isthmus.dev/last-applied': '{' } });
    memory.delete('orders');
    memory.settle();
    assert.deepEqual([[...memory.live.keys()], memory.resources.size], [['orders'], 0]);
  });

  test('gets no more replicas than there are brokers, nor any on a broker that goes', () => {
    const memory = createMemoryTopics();
    memory.put('orders', { partitions: 1, replicas: 1 });
    memory.settle();
    memory.brokers[2] = { ...memory.brokers[2]!, state: 'drain' };
    memory.put('orders', { partitions: 1, replicas: 3 });
    assert.deepEqual(reasonsOf(memory.settle(), 'orders'), ['NotEnoughBrokers']);
    assert.deepEqual(memory.live.get('orders')?.partitions[0]?.replicas, [0]);
  });

  test('gives up replicas that are not in sync first', () => {
    const memory = createMemoryTopics();
    const topic = liveTopic(1, [0, 1, 2]);
    const [one] = topic.partitions;
    memory.live.set('orders', { ...topic, partitions: [{ ...one!, isr: [1] }] });
    memory.put('orders', { replicas: 1 });
    memory.step();
    assert.deepEqual(memory.live.get('orders')?.partitions[0]?.replicas, [1]);
  });

  test('gives up none while brokers are emptied: a move that is over may look like one too many', () => {
    const memory = createMemoryTopics();
    memory.live.set('orders', liveTopic(1, [2, 1, 0]));
    memory.brokers[2] = { ...memory.brokers[2]!, state: 'drain' };
    memory.put('orders', { replicas: 2 });
    assert.deepEqual(reasonsOf(memory.settle(), 'orders'), ['Reassigning']);
    assert.deepEqual(memory.live.get('orders')?.partitions[0]?.replicas, [2, 1, 0]);
    memory.brokers[2] = { ...memory.brokers[2], state: 'stays' };
    memory.settle();
    assert.equal(memory.live.get('orders')?.partitions[0]?.replicas.length, 2);
  });

  test('whose topic is not to go with it leaves it', () => {
    const memory = createMemoryTopics();
    memory.put('orders', {}, { annotations: { 'isthmus.dev/use-finalizer': 'false' } });
    memory.settle();
    memory.delete('orders');
    memory.settle();
    assert.deepEqual([[...memory.live.keys()], memory.resources.size], [['orders'], 0]);
  });

  test('that Strimzi holds, and nobody here ever did, keeps its finalizer and its topic', () => {
    const memory = createMemoryTopics();
    memory.live.set('orders', liveTopic(1, [0]));
    const finalizers = ['strimzi.io/topic-operator'];
    memory.put('orders', {}, { finalizers, deletionTimestamp: '2026-01-02T00:00:00Z' });
    memory.settle();
    assert.deepEqual(memory.resources.get('orders')?.metadata.finalizers, finalizers);
    assert.ok(memory.live.has('orders'));
  });
});

const NAMES = ['a', 'b', 'c'];
const spec = fc.record(
  {
    topicName: fc.constantFrom(...NAMES),
    partitions: fc.integer({ min: 1, max: 4 }),
    replicas: fc.integer({ min: 1, max: 3 }),
    config: fc.dictionary(fc.constantFrom('retention.ms', 'segment.ms', 'cleanup.policy'), fc.nat(9)),
  },
  { requiredKeys: [] },
);
const change = fc.oneof(
  fc.record({ do: fc.constant('put' as const), name: fc.constantFrom(...NAMES), spec }),
  fc.record({ do: fc.constant('delete' as const), name: fc.constantFrom(...NAMES) }),
  fc.record({ do: fc.constant('step' as const), lost: fc.boolean() }),
);

test('any changes, with steps that are lost, come to an end, and touch nothing that is somebody else’s', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const memory = createMemoryTopics();
      const foreign = liveTopic(3, [2, 0], { 'retention.ms': '1' });
      const watched = liveTopic(2, [1], { 'segment.ms': '2' });
      memory.live.set('foreign', foreign);
      memory.live.set('unmanaged', watched);
      memory.put('unmanaged', { partitions: 4 }, { annotations: { 'strimzi.io/managed': 'false' } });
      for (const one of changes)
        if (one.do === 'put') memory.put(one.name, one.spec);
        else if (one.do === 'delete') memory.delete(one.name);
        else memory.step(() => one.lost);
      const planned = memory.settle();
      assert.deepEqual(memory.live.get('foreign'), foreign);
      assert.deepEqual(memory.live.get('unmanaged'), watched);
      assert.equal(reasonsOf(planned, 'unmanaged'), 'Unmanaged');
      for (const { topic, state } of planned) {
        if (state?.is !== 'judged' || state.faults.length > 0) continue;
        const live = memory.live.get(topic.spec.topicName)!;
        assert.equal(live.partitions.length, topic.spec.partitions ?? live.partitions.length);
        for (const { replicas } of live.partitions)
          assert.equal(replicas.length, topic.spec.replicas ?? replicas.length);
        for (const [key, value] of Object.entries(topic.spec.config ?? {}))
          assert.equal(live.configs[key], String(value));
      }
    }),
  );
});
