/** The topic controller with a real broker that has not heard of the end of a move. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planTopic } from '../../../src/control/brokers/topics/plan-topic.ts';
import { lookAtTopics } from '../../../src/control/brokers/topics/look.ts';
import { SURPLUS_SETTLES_MS } from '../../../src/control/brokers/topics/replicas.ts';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import { read } from '../../../src/control/kernel/read.ts';
import { kafkaTopic } from '../../../src/resources/strimzi/kafka-topic.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startKafka } from '../../support/kafka.ts';
import { PATIENT, addressesOf, gather, valueOf } from '../kafka/admin-site.ts';

const TOPIC = 'moved';
const OBJECT: AnyObject = {
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'KafkaTopic',
  metadata: { name: TOPIC, namespace: 'default', labels: { 'strimzi.io/cluster': 'c' } },
  spec: { partitions: 1, replicas: 1 },
};
const RESOURCE = read(kafkaTopic, OBJECT).resource!;

/** A request that a stopped broker has in its socket is answered as soon as it goes on, before it has fetched what it missed. */
const GOES_ON_MS = 500;
/** It may all the same have fetched it first. */
const ATTEMPTS = 10;

test('of a move that has ended a broker that is behind still tells: its replicas are not taken for too many', async (context) => {
  await using kafka = await startKafka({ brokers: 3 });
  await kafka.createTopic(TOPIC, { replicas: 1 });
  const addresses = addressesOf(kafka.addresses('PLAINTEXT'));
  const adminOf = (id: number) =>
    openAdmin({ ...PATIENT, bootstrap: [addresses[id - 1]!], addressOf: (other) => (other === id ? addresses[id - 1] : undefined) }); // prettier-ignore
  const first = adminOf(1);
  // Whoever stands still leads nothing.
  const leader = valueOf(await first.quorum()).leaderId;
  first.close();
  const [target = 0, late = 0] = [1, 2, 3].filter((id) => id !== leader);
  const [ahead, behind] = [adminOf(leader), adminOf(late)];
  const replicasAt = async (admin: Admin) =>
    (await gather(admin.topics({ names: [TOPIC] }))).topics.get(TOPIC)?.partitions[0]?.replicas ?? [];
  const isMoving = async () => valueOf(await ahead.reassignments()).length > 0;
  const move = async (to: number) => {
    const [result] = await ahead.reassign([{ topic: TOPIC, partition: 0, replicas: [to] }]);
    assert.equal(result?.error, undefined);
  };
  const until = async (what: string, admin: Admin, isSo: (replicas: readonly number[]) => boolean) =>
    waitFor(what, async () => isSo(await replicasAt(admin)), { timeoutMs: 120_000, everyMs: 50 });

  /** One look at the topic while a broker wakes up that has slept through the end of a move. */
  async function look() {
    await move(leader);
    await until('the topic is where it began', behind, (ids) => ids.join() === `${leader}`);
    kafka.signal(target, 'SIGSTOP');
    try {
      await move(target);
      await until('the other broker knows of the move', behind, (ids) => ids.length === 2);
      kafka.signal(late, 'SIGSTOP');
      kafka.signal(target, 'SIGCONT');
      await waitFor('the end of the move', async () => !(await isMoving()), {
        timeoutMs: 120_000,
        everyMs: 50,
      });
      const topics: Admin['topics'] = (asked) => {
        setTimeout(() => kafka.signal(late, 'SIGCONT'), GOES_ON_MS);
        return behind.topics(asked);
      };
      const seen = { leaving: new Set<number>(), surpluses: new Map(), now: Date.now() };
      return await lookAtTopics({ ...ahead, topics }, [RESOURCE], seen);
    } finally {
      kafka.signal(target, 'SIGCONT');
      kafka.signal(late, 'SIGCONT');
    }
  }

  try {
    for (let attempt = 1; ; attempt++) {
      const { live, board } = await look();
      const topic = live.get(TOPIC);
      assert.ok(topic && 'partitions' in topic);
      const { length } = topic.partitions[0]!.replicas;
      assert.equal(topic.moving, false);
      if (length === 1 && attempt < ATTEMPTS) continue;
      context.diagnostic(`seen in attempt ${attempt}`);
      assert.equal(length, 2, 'the broker was never behind');
      const { steps, faults } = planTopic(RESOURCE, topic, board, { holds: true });
      assert.deepEqual(steps, []);
      assert.deepEqual(faults.map(({ reason }) => reason), ['Reassigning']); // prettier-ignore
      // What it would do if that lasted: this is what is waited for.
      const lasting = planTopic(RESOURCE, { ...topic, surplusForMs: SURPLUS_SETTLES_MS }, board, {
        holds: true,
      });
      assert.deepEqual(lasting.steps.map((step) => step.do), ['reassign']); // prettier-ignore
      break;
    }
    await until('it hears of the end', behind, (ids) => ids.join() === `${target}`);
    const seen = { leaving: new Set<number>(), surpluses: new Map(), now: Date.now() };
    const { live, board } = await lookAtTopics(behind, [RESOURCE], seen);
    const topic = live.get(TOPIC);
    assert.ok(topic && 'partitions' in topic);
    assert.deepEqual(planTopic(RESOURCE, topic, board, { holds: true }).steps, []);
  } finally {
    ahead.close();
    behind.close();
  }
});
