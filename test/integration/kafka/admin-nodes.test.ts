/** The admin client while the cluster changes: voters come and go, the controller moves, brokers stop and are forgotten. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { PATIENT, addressesOf, ascending, errorsOf, gather, valueOf } from './admin-site.ts';

suite('admin and nodes that come and go', () => {
  let kafka: KafkaCluster;
  /** By way of the brokers, and by way of the controllers. */
  let admin: Admin;
  let controllers: Admin;

  before(async () => {
    kafka = await startKafka({
      brokers: 3,
      dynamicQuorum: true,
      // A broker that is gone counts as gone soon, but not as soon as a busy machine makes one late.
      properties: { 'broker.session.timeout.ms': 20_000 },
    });
    admin = openAdmin({ ...PATIENT, bootstrap: addressesOf(kafka.addresses('PLAINTEXT')) });
    controllers = openAdmin({
      ...PATIENT,
      bootstrap: addressesOf(kafka.controllers),
      endpoints: 'controllers',
    });
  });
  after(async () => {
    admin?.close();
    controllers?.close();
    await kafka?.stop();
  });

  const voterIds = async () => valueOf(await admin.quorum()).voters.map(({ id }) => id);
  const voterOf = async (id: number) => {
    const { observers, voters } = valueOf(await admin.quorum());
    const found = [...observers, ...voters].find((replica) => replica.id === id);
    const [address] = addressesOf([kafka.controllers[id - 1]!]);
    return found && { id, directoryId: found.directoryId, listeners: [{ name: 'CONTROLLER', ...address! }] };
  };
  const partitionOf = async (topic: string) =>
    (await gather(admin.topics({ names: [topic] }))).topics.get(topic)?.partitions[0];

  test('voters are added and removed', async () => {
    assert.deepEqual(await voterIds(), [1]);
    for (const id of [2, 3]) {
      const voter = await waitFor(`node ${id} observes`, () => voterOf(id));
      // Kafka takes one change at a time, and wants the new voter to have caught up.
      await waitFor(`node ${id} votes`, async () => {
        const { error } = await controllers.addVoter(voter);
        assert.ok(!error || error.retriable || error.name === 'DUPLICATE_VOTER', String(error?.message));
        return (await voterIds()).includes(id);
      });
    }
    const third = await voterOf(3);
    assert.deepEqual(errorsOf([await admin.addVoter(third!)]), ['DUPLICATE_VOTER']);
    assert.deepEqual(errorsOf([await admin.removeVoter(third!)]), ['NONE']);
    await waitFor('two voters', async () => (await voterIds()).length === 2);
    assert.deepEqual(errorsOf([await admin.removeVoter(third!)]), ['VOTER_NOT_FOUND']);
    await waitFor('three voters', async () => {
      await admin.addVoter(third!);
      return (await voterIds()).length === 3;
    });
  });

  test('controllers can be asked, whichever of them leads', async () => {
    const quorum = await waitFor('a quorum of three that agrees', async () => {
      const { value } = await controllers.quorum();
      return value?.voters.length === 3 && value;
    });
    const cluster = valueOf(await controllers.cluster());
    assert.deepEqual(ascending(cluster.nodes.map(({ id }) => id)), [1, 2, 3]);
    assert.equal(cluster.controllerId, quorum.leaderId);
    for (const bootstrap of addressesOf(kafka.controllers)) {
      const one = openAdmin({ ...PATIENT, bootstrap: [bootstrap], endpoints: 'controllers' });
      const name = `by-${bootstrap.port}`;
      assert.deepEqual(errorsOf(await one.createTopics([{ name, replicationFactor: 3 }])), ['NONE']);
      assert.equal(valueOf(await one.quorum()).leaderId, quorum.leaderId);
      one.close();
    }
    const change = { name: 'log.cleaner.threads', change: 'set', value: '2' } as const;
    const resource = { type: 'broker', name: '2' } as const;
    assert.deepEqual(errorsOf(await controllers.alterConfigs([{ resource, changes: [change] }])), ['NONE']);
    await waitFor('the broker has it', async () => {
      const [found] = await admin.configs([resource], [change.name]);
      return found?.configs[change.name]?.value === '2';
    });
  });

  test('the controller moves, and every call finds it', async () => {
    const { leaderId } = valueOf(await controllers.quorum());
    await kafka.stopBroker(leaderId, 'SIGKILL');
    // A change may be lost with a connection of which nobody knows yet that it is gone; a question is asked again.
    await controllers.cluster();
    assert.deepEqual(errorsOf(await controllers.createTopics([{ name: 'after', replicationFactor: 2 }])), [
      'NONE',
    ]);
    await waitFor('all agree on another', async () => {
      const [one, other] = [await controllers.quorum(), await admin.quorum()];
      const next = one.value?.leaderId;
      return next !== undefined && next !== leaderId && next === other.value?.leaderId;
    });
    await waitFor('the lost one is fenced', async () => {
      const { nodes } = valueOf(await admin.cluster());
      return nodes.some(({ id, fenced }) => id === leaderId && fenced);
    });
    await assert.rejects(admin.logDirs(leaderId), { code: 'KAFKA_UNREACHABLE' });
    await kafka.startBroker(leaderId);
    await waitFor('it is back', async () => {
      const { nodes } = valueOf(await admin.cluster());
      return nodes.every(({ fenced }) => !fenced) && (await admin.logDirs(leaderId)).value !== undefined;
    });
  });

  test('a broker stops: moves to it wait and can be taken back, and it can be forgotten', async () => {
    const { leaderId } = valueOf(await admin.quorum());
    const gone = leaderId === 3 ? 2 : 3;
    const stays = gone === 3 ? 2 : 3;
    await admin.createTopics([{ name: 'moving', replicationFactor: 1 }]);
    const ref = { topic: 'moving', partition: 0 };
    const to = async (...replicas: number[]) => {
      assert.deepEqual(errorsOf(await admin.reassign([{ ...ref, replicas }])), ['NONE']);
    };
    await waitFor('the topic', () => partitionOf('moving'));
    await to(stays);
    await waitFor('the replica', async () => (await partitionOf('moving'))?.replicas.join() === `${stays}`);
    await kafka.stopBroker(gone, 'SIGKILL');
    await admin.cluster();
    await to(gone);
    assert.deepEqual(valueOf(await admin.reassignments()), [
      { ...ref, replicas: [gone, stays], adding: [gone], removing: [stays] },
    ]);
    assert.deepEqual(errorsOf(await admin.reassign([{ ...ref, replicas: null }])), ['NONE']);
    assert.deepEqual(valueOf(await admin.reassignments()), []);
    assert.deepEqual(errorsOf(await admin.reassign([{ ...ref, replicas: null }])), [
      'NO_REASSIGNMENT_IN_PROGRESS',
    ]);

    await waitFor('it is fenced', async () => {
      const { nodes } = valueOf(await admin.cluster());
      return nodes.some(({ id, fenced }) => id === gone && fenced);
    });
    assert.deepEqual(errorsOf([await controllers.unregisterBroker(gone)]), ['NONE']);
    await waitFor('it is forgotten', async () => {
      const { nodes } = valueOf(await admin.cluster());
      return nodes.every(({ id }) => id !== gone);
    });
    assert.deepEqual(errorsOf([await admin.logDirs(gone)]), ['BROKER_NOT_AVAILABLE']);
  });
});
