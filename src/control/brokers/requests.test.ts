import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  kafkaObject,
  namesOf,
  poolObject,
  settledKafka,
} from '../../../test/support/brokers/kafka-objects.ts';
import type { MemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { AnyObject } from '../../kube/object.ts';
import { isResizePending } from './requests.ts';

const MANUAL = 'strimzi.io/manual-rolling-update';
const NEW_DISKS = 'strimzi.io/delete-pod-and-pvc';

function annotate(memory: MemoryKafka, kind: string, name: string, annotations: Record<string, string>) {
  const live = memory.get(kind, name)!;
  memory.put({
    ...live,
    metadata: { ...live.metadata, annotations: { ...live.metadata.annotations, ...annotations } },
  });
}

const annotationsOf = (memory: MemoryKafka, kind: string, name: string) =>
  memory.get(kind, name)!.metadata.annotations ?? {};

function wantedOf(memory: MemoryKafka) {
  const look = memory.plan().actions.find((action) => action.do === 'look');
  return look?.do === 'look' ? look.wanted : assert.fail('nobody looks');
}

const uidsOf = (memory: MemoryKafka) => memory.list('Pod').map(({ metadata }) => metadata.uid!);

suite('restarts by hand', () => {
  test('each pod that a set had then, once; then the request is answered', async () => {
    const memory = await settledKafka();
    const before = uidsOf(memory);
    annotate(memory, 'StrimziPodSet', 'events-dual', { [MANUAL]: 'true' });
    assert.deepEqual([...wantedOf(memory).manualUids], [], 'not before it is written down');
    await memory.settle();
    assert.deepEqual([...wantedOf(memory).manualUids].toSorted(), before.toSorted());
    for (const name of ['events-dual-0', 'events-dual-1']) {
      memory.delete('Pod', name);
      await memory.settle();
      const waiting = uidsOf(memory).filter((uid) => wantedOf(memory).manualUids.has(uid));
      assert.equal(waiting.length, name === 'events-dual-0' ? 2 : 1);
    }
    memory.delete('Pod', 'events-dual-2');
    await memory.settle();
    assert.equal(wantedOf(memory).manualUids.size, 0);
    const left = Object.keys(annotationsOf(memory, 'StrimziPodSet', 'events-dual'));
    assert.deepEqual(left.filter((key) => key.includes('manual')), []); // prettier-ignore
  });

  test('a request that is taken back is forgotten, and a new one is about the pods of then', async () => {
    const memory = await settledKafka();
    annotate(memory, 'StrimziPodSet', 'events-dual', { [MANUAL]: 'true' });
    await memory.settle();
    annotate(memory, 'StrimziPodSet', 'events-dual', { [MANUAL]: 'false' });
    assert.equal(wantedOf(memory).manualUids.size, 0);
    await memory.settle();
    memory.delete('Pod', 'events-dual-0');
    await memory.settle();
    annotate(memory, 'StrimziPodSet', 'events-dual', { [MANUAL]: 'true' });
    await memory.settle();
    assert.deepEqual([...wantedOf(memory).manualUids].toSorted(), uidsOf(memory).toSorted());
  });

  test('nothing is done about it while the Kafka is paused', async () => {
    const memory = await settledKafka();
    annotate(memory, 'Kafka', 'events', { 'strimzi.io/pause-reconciliation': 'true' });
    annotate(memory, 'StrimziPodSet', 'events-dual', { [MANUAL]: 'true' });
    assert.deepEqual(memory.plan().actions.map((action) => action.do), ['look']); // prettier-ignore
    assert.equal(wantedOf(memory).paused, true);
  });
});

suite('new disks', () => {
  test('are permitted to be formatted in the very document that the restart is written down in, and only there', async () => {
    const memory = await settledKafka();
    annotate(memory, 'Pod', 'events-dual-1', { [NEW_DISKS]: 'true' });
    assert.equal(await memory.step(), 0, 'a request alone permits nothing');
    const look = memory.plan().actions.find((action) => action.do === 'look');
    const formatted = (document: AnyObject) =>
      (document['spec'] as { nodes: { formatted: string[] }[] }).nodes.map((node) => node.formatted);
    assert.ok(look?.do === 'look');
    assert.deepEqual(formatted(look.anchorWith({})), [['data'], ['data'], ['data']]);
    const emptied = look.anchorWith({
      inFlight: { node: 1, podUid: 'uid-x', since: memory.now, why: 'asked for' },
      emptied: 1,
    });
    assert.deepEqual(formatted(emptied), [['data'], [], ['data']]);
    memory.put({ ...emptied, metadata: { ...emptied.metadata } });
    await memory.settle();
    // The pod that is about to go is still ready, and says nothing about the disks to come.
    assert.deepEqual(formatted(memory.get('KafkaAnchor', 'events')!), [['data'], [], ['data']]);
    memory.delete('Pod', 'events-dual-1');
    await memory.step();
    await memory.settle();
    assert.deepEqual(formatted(memory.get('KafkaAnchor', 'events')!), [['data'], ['data'], ['data']]);
  });
});

suite('disks of brokers that went', () => {
  const claims = (memory: MemoryKafka) =>
    namesOf(memory, 'PersistentVolumeClaim').filter((name) => name.includes('extra'));

  for (const deleteClaim of [true, false])
    test(deleteClaim ? 'go where their owner said so' : 'stay where nobody said so', async () => {
      const memory = await settledKafka();
      const storage = { type: 'persistent-claim', size: '10Gi', deleteClaim };
      const extra = (replicas: number) => poolObject({ roles: ['broker'], replicas, storage }, 'extra');
      memory.put(extra(2));
      await memory.settle();
      assert.equal(claims(memory).length, 2);
      memory.put(extra(1));
      await memory.settle();
      assert.equal(claims(memory).length, 2, 'the broker is not empty yet');
      memory.drained = [4];
      await memory.settle();
      assert.ok(!namesOf(memory, 'Pod').includes('events-extra-4'));
      assert.deepEqual(claims(memory), [
        'data-events-extra-3',
        ...(deleteClaim ? [] : ['data-events-extra-4']),
      ]);
      assert.equal(namesOf(memory, 'PersistentVolumeClaim').length, claims(memory).length + 3);
    });

  test('a claim of another Kafka of this name, or of somebody else, is left alone', async () => {
    const memory = await settledKafka();
    const [own] = memory.list('PersistentVolumeClaim');
    const owner = { apiVersion: 'v1', kind: 'Kafka', name: 'events', uid: 'uid-kafka' };
    const like = (name: string, change: Partial<AnyObject['metadata']>): AnyObject => ({
      ...own!,
      metadata: {
        ...own!.metadata,
        uid: name,
        name,
        annotations: { ...own!.metadata.annotations, 'isthmus.dev/node-id': '9' },
        ownerReferences: [owner],
        ...change,
      },
    });
    memory.put(like('data-others', { ownerReferences: [{ ...owner, uid: 'other' }] }));
    memory.put(like('data-unlabelled', { labels: { 'strimzi.io/cluster': 'events' } }));
    memory.put(
      like('data-elsewhere', { annotations: { 'isthmus.dev/node-id': '9', 'isthmus.dev/cluster-id': 'x' } }),
    );
    memory.put(like('data-ours', {}));
    memory.put(kafkaObject());
    await memory.settle();
    assert.deepEqual(
      namesOf(memory, 'PersistentVolumeClaim').filter((name) => !name.startsWith('data-events')),
      ['data-elsewhere', 'data-others', 'data-unlabelled'],
    );
  });
});

test('a file system that does not grow while its process runs needs a restart', () => {
  const now = Date.parse('2026-11-01T12:00:00Z');
  const claim = (status: string, lastTransitionTime?: string): AnyObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-events-dual-1', annotations: { 'isthmus.dev/node-id': '1' } },
    status: { conditions: [{ type: 'FileSystemResizePending', status, lastTransitionTime }] },
  });
  const isPending = (of: AnyObject, node = 1) => isResizePending([of], node, now);
  assert.equal(isPending(claim('True', '2026-11-01T11:00:00Z')), true);
  assert.equal(isPending(claim('True')), true);
  assert.equal(isPending(claim('True', '2026-11-01T11:59:30Z')), false, 'the kubelet is given time');
  assert.equal(isPending(claim('False', '2026-11-01T11:00:00Z')), false);
  assert.equal(isPending(claim('True', '2026-11-01T11:00:00Z'), 2), false);
});
