import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../kube/object.ts';
import {
  conditionOf,
  kafkaObject,
  namesOf,
  poolObject,
  settledKafka,
} from '../../../test/support/brokers/kafka-objects.ts';
import { collectGarbage } from '../../../test/support/brokers/memory-controllers.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';

const BROKERS = { roles: ['broker'], replicas: 2 };

/** Three nodes that are both, and two brokers more. */
async function withExtraBrokers(): Promise<MemoryKafka> {
  const memory = await settledKafka();
  memory.put(poolObject(BROKERS, 'extra'));
  await memory.settle();
  assert.deepEqual(namesOf(memory, 'StrimziPodSet'), ['events-dual', 'events-extra']);
  return memory;
}

const withAnnotations = (object: AnyObject, annotations: Record<string, string>): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});

const writesOf = ({ targets, actions, documents = [] }: ReturnType<MemoryKafka['plan']>) => [
  targets,
  actions,
  documents,
];

suite('pods that must not go by mistake', () => {
  test('nodes of a deleted pool run on until they are empty, and go after that', async () => {
    const memory = await withExtraBrokers();
    memory.delete('KafkaNodePool', 'extra');
    await memory.settle();
    assert.equal(namesOf(memory, 'Pod').length, 5);
    assert.match(conditionOf(memory, 'Ready')?.message ?? '', /"extra" was deleted: events-extra-3, events-extra-4 run on/); // prettier-ignore
    memory.drained = [3, 4];
    assert.ok(memory.plan().lookAgainInMs! <= 100, 'it is not looked at again by chance');
    await memory.settle();
    assert.deepEqual(namesOf(memory, 'Pod'), ['events-dual-0', 'events-dual-1', 'events-dual-2']);
    assert.deepEqual(namesOf(memory, 'StrimziPodSet'), ['events-dual']);
  });

  test('that brokers were empty a while ago is no reason to let them go', async () => {
    const memory = await withExtraBrokers();
    memory.delete('KafkaNodePool', 'extra');
    memory.drained = [3, 4];
    memory.drainedForMs = 60_000;
    await memory.settle();
    assert.equal(namesOf(memory, 'Pod').length, 5);
  });

  test('a pool of controllers that was deleted is missed, and nothing changes', async () => {
    const memory = await withExtraBrokers();
    memory.delete('KafkaNodePool', 'dual');
    const { targets, documents } = memory.plan();
    assert.deepEqual([targets, documents], [[], undefined]);
    await memory.step();
    assert.equal(conditionOf(memory, 'Accepted')?.status, 'False');
    assert.equal(namesOf(memory, 'Pod').length, 5);
  });

  test('a set is left alone while a pod that it lists, and that is not seen, has no certificate', async () => {
    const memory = await settledKafka();
    memory.keepsPods = false;
    memory.delete('Pod', 'events-dual-1');
    memory.delete('Secret', 'events-dual-1');
    await memory.step();
    const { pods } = memory.get('StrimziPodSet', 'events-dual')!['spec'] as { pods: unknown[] };
    assert.equal(pods.length, 3);
  });

  test('pods of others that have the label of the cluster are not taken for nodes', async () => {
    const memory = await settledKafka();
    const [node] = memory.list('Pod');
    const labels = { 'strimzi.io/cluster': 'events', 'strimzi.io/kind': 'KafkaConnect' };
    memory.keepsPods = false;
    memory.put({ ...node!, metadata: { name: 'events-connect-0', namespace: 'kafka', labels } });
    assert.equal(await memory.step(), 0);
    const [target] = memory.plan().targets;
    assert.equal(target?.prune, true);
  });
});

suite('Kafkas of others', () => {
  const strimzis = {
    'app.kubernetes.io/managed-by': 'strimzi-cluster-operator',
    'strimzi.io/cluster': 'events',
  };

  test('one that a Strimzi operator runs is refused before anything is written', async () => {
    const memory = createMemoryKafka();
    memory.put({ ...kafkaObject(), status: { operatorLastSuccessfulVersion: '1.0.0' } });
    memory.put(poolObject());
    assert.deepEqual(writesOf(memory.plan()), [[], [], []]);
    await memory.step();
    assert.equal(conditionOf(memory, 'Accepted')?.reason, 'RunByAnother');
    assert.deepEqual(namesOf(memory, 'KafkaAnchor'), []);
  });

  test('so is one whose sets of pods another operator made', async () => {
    const memory = createMemoryKafka();
    memory.put(kafkaObject());
    memory.put(poolObject());
    memory.put({
      apiVersion: 'core.strimzi.io/v1',
      kind: 'StrimziPodSet',
      metadata: { name: 'events-dual', namespace: 'kafka', labels: strimzis },
      spec: { selector: {}, pods: [] },
    });
    assert.deepEqual(writesOf(memory.plan()), [[], [], []]);
    await memory.step();
    assert.match(
      conditionOf(memory, 'Accepted')?.message ?? '',
      /another operator has made StrimziPodSet events-dual/,
    );
  });

  test('a name that somebody else has keeps everything from being made, keys as well', () => {
    const memory = createMemoryKafka();
    memory.put(kafkaObject());
    memory.put(poolObject());
    const plan = memory.plan({ taken: new Set(['Secret kafka/events-cluster-ca']) });
    assert.deepEqual(writesOf(plan), [[], [], []]);
    assert.equal(plan.lookAgainInMs, undefined);
    assert.match(JSON.stringify(plan.statuses), /"NameTaken".*events-cluster-ca/);
  });
});

suite('what was there before', () => {
  const clusterIdOf = (memory: MemoryKafka) =>
    (memory.get('KafkaAnchor', 'events')!['spec'] as { clusterId: string }).clusterId;

  test('a lost anchor is found again by sets of pods where no disk tells of it', async () => {
    const memory = await settledKafka({}, { storage: { type: 'ephemeral' } });
    const set = memory.get('StrimziPodSet', 'events-dual')!;
    const other = 'AAAAAAAAAAAAAAAAAAAAAA';
    memory.delete('KafkaAnchor', 'events');
    memory.put(withAnnotations(set, { 'isthmus.dev/cluster-id': other }));
    await memory.settle();
    assert.equal(clusterIdOf(memory), other);
    assert.equal(namesOf(memory, 'Pod').length, 3);
  });

  test('a lost anchor is found again although a disk is left of a former node whose id another pool has now', async () => {
    const memory = await withExtraBrokers();
    memory.drained = [3, 4];
    memory.put(poolObject({ ...BROKERS, replicas: 0 }, 'extra'));
    await memory.settle();
    memory.drained = [];
    memory.put(poolObject(BROKERS, 'more'));
    await memory.settle();
    const pods = namesOf(memory, 'Pod');
    assert.deepEqual(pods.slice(3), ['events-more-3', 'events-more-4']);
    memory.delete('KafkaAnchor', 'events');
    await memory.settle();
    assert.deepEqual(namesOf(memory, 'Pod'), pods);
  });

  const formattedOf = (memory: MemoryKafka) =>
    memory
      .list('PersistentVolumeClaim')
      .map(({ metadata }) => metadata.annotations?.['isthmus.dev/formatted']);

  test('an anchor that is lost before nodes have first started permits them to', async () => {
    const memory = createMemoryKafka();
    memory.keepsPods = false;
    memory.put(kafkaObject());
    memory.put(poolObject());
    await memory.settle();
    const clusterId = clusterIdOf(memory);
    assert.deepEqual(formattedOf(memory), ['false', 'false', 'false']);
    memory.delete('KafkaAnchor', 'events');
    await memory.settle();
    assert.equal(clusterIdOf(memory), clusterId);
    assert.match(formatOf(memory), /kafka-log0/);
  });

  test('one that is lost later permits nothing, nor do claims that do not say whether they were used', async () => {
    const memory = await settledKafka();
    assert.deepEqual(formattedOf(memory), ['true', 'true', 'true']);
    const lose = async () => {
      memory.keepsPods = false;
      for (const name of namesOf(memory, 'Pod')) memory.delete('Pod', name);
      memory.delete('KafkaAnchor', 'events');
      await memory.settle();
      assert.equal(formatOf(memory), '');
    };
    await lose();
    for (const claim of memory.list('PersistentVolumeClaim'))
      memory.put(withAnnotations(claim, { 'isthmus.dev/formatted': '' }));
    await lose();
    // Somebody who knows better says so in the anchor.
    const anchor = memory.get('KafkaAnchor', 'events')!;
    const spec = anchor['spec'] as { nodes: object[] };
    memory.put({
      ...anchor,
      spec: { ...spec, nodes: spec.nodes.map((node) => ({ ...node, formatted: [] })) },
    });
    await memory.settle();
    assert.match(formatOf(memory), /kafka-log0/);
  });

  const remade = { ...kafkaObject(), metadata: { ...kafkaObject().metadata, uid: 'uid-later' } };
  const formatOf = (memory: MemoryKafka) =>
    (memory.get('ConfigMap', 'events-dual-0')!['data'] as { format: string }).format;

  const OWNED_BY_SET = { apiVersion: 'core.strimzi.io/v1', kind: 'StrimziPodSet', name: 'events-dual', uid: 'uid-gone' }; // prettier-ignore
  /** The garbage collector, until it is through; and with sets go their pods. */
  const collectAll = (memory: MemoryKafka) => {
    for (let round = 0; round < 20; round++) collectGarbage(memory);
    if (namesOf(memory, 'StrimziPodSet').length === 0)
      for (const name of namesOf(memory, 'Pod')) memory.delete('Pod', name);
  };

  test('a Kafka made again waits for disks that were deleted with it, and may format new ones', async () => {
    const storage = { type: 'persistent-claim', size: '1Gi', deleteClaim: true };
    const memory = await settledKafka({}, { storage });
    memory.put(remade);
    assert.deepEqual(writesOf(memory.plan()), [[], [], []]);
    assert.match(
      JSON.stringify(memory.plan().statuses),
      /is still being deleted: PersistentVolumeClaim data-events-dual-0/,
    );
    collectAll(memory);
    await memory.step();
    assert.match(formatOf(memory), /kafka-log0/);
  });

  test('it waits for all that goes with the former one, since a half of it is of no use', async () => {
    const memory = await settledKafka();
    memory.put(remade);
    const saidOf = () => JSON.stringify(memory.plan().statuses);
    for (const name of ['events-cluster-ca', 'events-cluster-ca-cert']) memory.delete('Secret', name);
    assert.deepEqual(writesOf(memory.plan()), [[], [], []]);
    assert.match(saidOf(), /is still being deleted: StrimziPodSet events-dual, .*Secret events-trustbundle/);
    // The pods of a set that is gone are the last.
    const [pod] = memory.list('Pod').map((one) => ({ ...one, metadata: { ...one.metadata, ownerReferences: [OWNED_BY_SET] } })); // prettier-ignore
    collectAll(memory);
    memory.put(pod!);
    assert.match(saidOf(), /is still being deleted: Pod events-dual-0"/);
    memory.delete('Pod', 'events-dual-0');
    await memory.settle();
    assert.equal(formatOf(memory), '');
    assert.deepEqual(namesOf(memory, 'Pod'), ['events-dual-0', 'events-dual-1', 'events-dual-2']);
  });

  test('with disks that stayed it may not', async () => {
    const memory = await settledKafka();
    memory.put(remade);
    collectAll(memory);
    await memory.step();
    assert.equal(formatOf(memory), '');
  });

  test('an annotation about volumes that cannot be read stops changes, and nothing else', async () => {
    for (const text of ['{', '7', '[null]', '[{"id":"x"}]']) {
      const memory = await settledKafka();
      memory.put(
        withAnnotations(memory.get('StrimziPodSet', 'events-dual')!, { 'strimzi.io/storage': text }),
      );
      assert.deepEqual(writesOf(memory.plan()), [[], [], []]);
      assert.match(
        JSON.stringify(memory.plan().statuses),
        /strimzi.io\/storage of its StrimziPodSet cannot be read/,
      );
    }
  });

  test('a Kafka that cannot be read says so', async () => {
    const memory = await settledKafka();
    memory.put({ ...kafkaObject(), spec: { kafka: { listeners: 'all' } } });
    await memory.step();
    assert.equal(conditionOf(memory, 'Accepted')?.reason, 'Invalid');
  });
});

suite('looking again', () => {
  test('is not at once where nobody makes pods', async () => {
    const memory = createMemoryKafka();
    memory.keepsPods = false;
    memory.put(kafkaObject());
    memory.put(poolObject());
    await memory.settle();
    assert.deepEqual(namesOf(memory, 'StrimziPodSet'), ['events-dual']);
    assert.ok(memory.plan().lookAgainInMs! >= 1000);
  });

  test('is not at once while an authority that its owner has to bring is missing', async () => {
    const memory = createMemoryKafka();
    const { spec, ...rest } = kafkaObject();
    memory.put({
      ...rest,
      spec: { ...(spec as object), clientsCa: { generateCertificateAuthority: false } },
    });
    memory.put(poolObject());
    await memory.settle();
    assert.ok(memory.plan().lookAgainInMs! >= 1000);
    assert.equal(conditionOf(memory, 'Ready')?.reason, 'CertificateAuthority');
  });

  test('nothing is written, and no key made, while it is paused', () => {
    const memory = createMemoryKafka();
    memory.put(withAnnotations(kafkaObject(), { 'strimzi.io/pause-reconciliation': 'true' }));
    memory.put(poolObject());
    const plan = memory.plan();
    assert.deepEqual(writesOf(plan), [[], [], []]);
    assert.ok(plan.lookAgainInMs! >= 1000);
    assert.match(JSON.stringify(plan.statuses), /pause-reconciliation is true/);
  });
});

suite('certificates in what is said', () => {
  test('an authority that its owner brought, and that ends soon, is told of', async () => {
    const memory = await settledKafka();
    const { spec, ...rest } = kafkaObject();
    memory.put({
      ...rest,
      spec: { ...(spec as object), clusterCa: { generateCertificateAuthority: false } },
    });
    memory.now += 340 * 24 * 3600 * 1000;
    await memory.step();
    assert.match(
      JSON.stringify(memory.plan().statuses),
      /cluster-ca: the supplied CA ends at .*supply a new one/,
    );
  });

  test('pods have the generations of authorities, as Strimzi writes them', async () => {
    const memory = await settledKafka();
    const { annotations = {} } = memory.get('Pod', 'events-dual-0')!.metadata;
    assert.equal(annotations['strimzi.io/cluster-ca-cert-generation'], '0');
    assert.equal(annotations['strimzi.io/clients-ca-cert-generation'], '0');
  });
});
