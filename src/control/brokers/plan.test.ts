import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  conditionOf,
  kafkaObject,
  namesOf,
  poolObject,
  settledKafka,
} from '../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';

suite('plans of Kafka clusters', () => {
  test('from nothing to a cluster that is ready, and then nothing more is written', async () => {
    const memory = await settledKafka();
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True', JSON.stringify(conditionOf(memory, 'Ready')));
    assert.equal(await memory.step(), 0);
    assert.deepEqual(namesOf(memory, 'Pod'), ['events-dual-0', 'events-dual-1', 'events-dual-2']);
    assert.deepEqual(namesOf(memory, 'Service'), ['events-kafka-bootstrap', 'events-kafka-brokers']);
    assert.deepEqual(
      namesOf(memory, 'PersistentVolumeClaim'),
      [0, 1, 2].map((id) => `data-events-dual-${id}`),
    );
    assert.deepEqual(namesOf(memory, 'Secret'), [
      'events-clients-ca',
      'events-clients-ca-cert',
      'events-cluster-ca',
      'events-cluster-ca-cert',
      'events-cluster-operator-certs',
      'events-dual-0',
      'events-dual-1',
      'events-dual-2',
      'events-trustbundle',
    ]);
  });

  test('the cluster id and the node ids are written down before anything is made', async () => {
    const memory = createMemoryKafka();
    memory.put(kafkaObject());
    memory.put(poolObject());
    const { documents = [] } = memory.plan();
    const { clusterId, nodes } = documents[0]!.object['spec'] as {
      clusterId: string;
      nodes: { id: number }[];
    };
    assert.equal(clusterId.length, 22);
    assert.deepEqual(
      nodes.map(({ id }) => id),
      [0, 1, 2],
    );
  });

  test('a disk is formatted once: what a ready node has had is written down, and formatting is no longer permitted', async () => {
    const memory = createMemoryKafka();
    memory.put(kafkaObject());
    memory.put(poolObject());
    const formatOf = () => (memory.get('ConfigMap', 'events-dual-0')!['data'] as { format: string }).format;
    await memory.step();
    assert.equal(formatOf(), '/var/lib/kafka/data/kafka-log0\n');
    await memory.settle();
    assert.equal(formatOf(), '');
  });

  test('a Kafka that was deleted and is applied again finds its data by its disks', async () => {
    const memory = await settledKafka();
    const claims = memory.list('PersistentVolumeClaim');
    const before = memory.get('KafkaAnchor', 'events')!['spec'] as { clusterId: string };
    const other = createMemoryKafka();
    for (const claim of claims) other.put(claim);
    other.put(kafkaObject());
    other.put(poolObject());
    await other.settle();
    const after = other.get('KafkaAnchor', 'events')!['spec'] as {
      clusterId: string;
      nodes: { formatted: string[] }[];
    };
    assert.equal(after.clusterId, before.clusterId);
    assert.deepEqual(after.nodes[0]?.formatted, ['data']);
  });

  test('what is refused leaves everything as it was', async () => {
    const memory = await settledKafka();
    memory.put({ ...kafkaObject({ version: '1.0.0' }), status: memory.get('Kafka', 'events')!['status'] });
    const plan = memory.plan();
    assert.deepEqual([plan.targets, plan.actions, plan.documents ?? []], [[], [], []]);
    await memory.step();
    assert.equal(conditionOf(memory, 'Accepted')?.reason, 'VersionNotPossible');
    assert.equal(namesOf(memory, 'Pod').length, 3);
  });

  test('the set of a pool without nodes is empty, so that its last pod goes, and one of a pool that is gone goes', async () => {
    const memory = await settledKafka();
    memory.put(poolObject({ roles: ['broker'], replicas: 1 }, 'extra'));
    await memory.settle();
    assert.ok(namesOf(memory, 'Pod').includes('events-extra-3'));
    memory.put(poolObject({ roles: ['broker'], replicas: 0 }, 'extra'));
    await memory.settle();
    assert.ok(namesOf(memory, 'Pod').includes('events-extra-3'), 'not before it is empty');
    memory.drained = [3];
    await memory.settle();
    assert.ok(!namesOf(memory, 'Pod').includes('events-extra-3'));
    memory.delete('KafkaNodePool', 'extra');
    await memory.settle();
    assert.deepEqual(namesOf(memory, 'StrimziPodSet'), ['events-dual']);
  });

  test('evictions leave all nodes but one: Kubernetes knows no maxUnavailable for kinds that cannot be scaled', async () => {
    const budgetOf = async (broker: object) => {
      const { spec } = (await settledKafka(broker)).get('PodDisruptionBudget', 'events-kafka')!;
      const { minAvailable, maxUnavailable } = spec as Record<string, unknown>;
      return [minAvailable, maxUnavailable];
    };
    assert.deepEqual(await budgetOf({}), [2, undefined]);
    assert.deepEqual(await budgetOf({ template: { podDisruptionBudget: { maxUnavailable: 0 } } }), [3, undefined]); // prettier-ignore
    assert.deepEqual(await budgetOf({ template: { podDisruptionBudget: { maxUnavailable: 9 } } }), [0, undefined]); // prettier-ignore
  });

  test('no key is in anything but a Secret', async () => {
    const memory = await settledKafka();
    // In clear, or in the three forms that it has in base64.
    const KEY = /PRIVATE KEY|UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW/;
    const keyIn = (kind: string) => memory.list(kind).some((object) => KEY.test(JSON.stringify(object)));
    assert.ok(keyIn('Secret'), 'this would find one');
    for (const kind of [
      'ConfigMap',
      'StrimziPodSet',
      'Pod',
      'Service',
      'KafkaAnchor',
      'Kafka',
      'KafkaNodePool',
    ])
      assert.deepEqual([memory.list(kind).length > 0, keyIn(kind)], [true, false], kind);
  });

  test('a Kafka that does not ask for it is left alone', () => {
    const memory = createMemoryKafka();
    memory.put({ ...kafkaObject(), metadata: { ...kafkaObject().metadata, annotations: {} } });
    memory.put(poolObject());
    const plan = memory.plan();
    assert.deepEqual([plan.targets, plan.statuses, plan.documents], [[], [], undefined]);
  });

  test('a Kafka of another installation is left alone until its anchor says otherwise', async () => {
    const memory = await settledKafka();
    const anchor = memory.get('KafkaAnchor', 'events')!;
    const heldBy = (holder: string) =>
      memory.put({ ...anchor, spec: { ...(anchor['spec'] as object), holder } });
    heldBy('elsewhere');
    memory.delete('Service', 'events-kafka-bootstrap');
    await memory.settle();
    assert.equal(conditionOf(memory, 'Accepted')?.reason, 'RunByAnother');
    assert.match(conditionOf(memory, 'Accepted')!.message, /operator in namespace "elsewhere"/);
    assert.equal(memory.get('Service', 'events-kafka-bootstrap'), undefined);
    heldBy('isthmus');
    await memory.settle();
    assert.equal(conditionOf(memory, 'Accepted')?.status, 'True');
    assert.ok(memory.get('Service', 'events-kafka-bootstrap'));
  });

  test('a lost Secret of a running node is made anew, and no pod is deleted for it', async () => {
    const memory = await settledKafka();
    const uidsOf = () => new Set(memory.list('Pod').map(({ metadata }) => metadata.uid));
    const before = uidsOf();
    assert.equal(before.size, 3);
    memory.delete('Secret', 'events-dual-1');
    await memory.step();
    assert.deepEqual(uidsOf(), before);
    await memory.settle();
    assert.ok(memory.get('Secret', 'events-dual-1'));
    assert.deepEqual(uidsOf(), before);
  });
});
