/** Authorities whose Secrets are to stay when the Kafka goes (`generateSecretOwnerReference: false`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf, kafkaObject, namesOf, poolObject } from '../../../../test/support/brokers/kafka-objects.ts'; // prettier-ignore
import { collectGarbage } from '../../../../test/support/brokers/memory-controllers.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';

const kafkaWith = (spec: object, uid = 'uid-kafka') => {
  const { metadata, ...kafka } = kafkaObject();
  return {
    ...kafka,
    metadata: { ...metadata, uid },
    spec: { ...(kafka['spec'] as object), ...spec },
  };
};

test('they have no owner, and a Kafka that is applied again goes on with them', async () => {
  const memory = createMemoryKafka();
  memory.put(kafkaWith({ clusterCa: { generateSecretOwnerReference: false } }));
  memory.put(poolObject());
  await memory.settle();
  const ownersOf = (secret: string) => memory.get('Secret', secret)?.metadata.ownerReferences?.length ?? 0;
  const owners = ['cluster-ca', 'cluster-ca-cert', 'clients-ca', 'trustbundle'].map((name) =>
    ownersOf(`events-${name}`),
  );
  assert.deepEqual(owners, [0, 0, 1, 1]);
  const authority = () => memory.get('Secret', 'events-cluster-ca-cert')?.['data'];
  const before = authority();

  memory.put(kafkaWith({}, 'uid-later'));
  for (let round = 0; round < 20; round++) collectGarbage(memory);
  for (const name of namesOf(memory, 'Pod')) memory.delete('Pod', name);
  assert.deepEqual(namesOf(memory, 'Secret'), ['events-cluster-ca', 'events-cluster-ca-cert']);
  await memory.settle();
  assert.equal(conditionOf(memory, 'Ready')?.status, 'True');
  assert.deepEqual(authority(), before);
  assert.equal(ownersOf('events-cluster-ca'), 1, 'the next Kafka says otherwise');
});
