import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { kafkaTopic } from '../../../resources/strimzi/kafka-topic.ts';
import { read } from '../../kernel/read.ts';
import { lookAtTopics, takeSteps } from './look.ts';
import type { TopicStep } from './plan-topic.ts';
import { planTopic } from './plan-topic.ts';
import { SURPLUS_SETTLES_MS } from './replicas.ts';
import type { Surpluses } from './replicas.ts';

/** Writes down how many partitions each request would make. */
async function requestsFor(partitions: readonly (number | undefined)[]): Promise<(number | undefined)[][]> {
  const requests: (number | undefined)[][] = [];
  const admin: Pick<Admin, 'createTopics'> = {
    async createTopics(topics) {
      requests.push(topics.map((topic) => topic.partitions));
      return topics.map(({ name }) => ({ name }));
    },
  };
  const steps = partitions.map((count, n): TopicStep => ({
    do: 'create',
    topic: { name: `t${n}`, ...(count !== undefined && { partitions: count }) },
  }));
  await takeSteps(admin as Admin, steps);
  return requests;
}

test('topics are made in as few requests as can be, none of them with more partitions than Kafka takes', async () => {
  const sums = (requests: (number | undefined)[][]) =>
    requests.map((request) => request.reduce<number>((sum, count) => sum + (count ?? 50), 0));
  assert.deepEqual(sums(await requestsFor(Array.from({ length: 400 }, () => undefined))), [10_000, 10_000]);
  assert.deepEqual(sums(await requestsFor(Array.from({ length: 200 }, () => 60))), [9960, 2040]);
});

test('a topic with more partitions than Kafka makes at once is refused alone', async () => {
  assert.deepEqual(await requestsFor([1, 1_000_000, 2]), [[1], [1_000_000], [2]]);
});

/** A topic that is to have three replicas, as a broker tells of it, and the controller of what it moves. */
const adminWith = (replicas: readonly number[], isMoving = false) => {
  const partition = { index: 0, leader: 0, leaderEpoch: 0, replicas, isr: replicas, offline: [] };
  const reassignment = { topic: 'orders', partition: 0, replicas, adding: [3], removing: [0] };
  return {
    cluster: async () => ({ value: { nodes: [0, 1, 2, 3].map((id) => ({ id, rack: undefined, fenced: false })) } }),
    reassignments: async () => ({ value: isMoving ? [reassignment] : [] }),
    async *topics() {
      yield { value: [{ name: 'orders', id: 'id', internal: false, partitions: [partition] }] };
    },
    configs: async () => [],
  } as unknown as Admin; // prettier-ignore
};

test('a replica too many is taken away only when the same has been seen for a while, and nothing was moved', async () => {
  const object: AnyObject = {
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'KafkaTopic',
    metadata: { name: 'orders', namespace: 'kafka', uid: 'uid' },
    spec: { replicas: 3 },
  };
  const { resource: topic } = read(kafkaTopic, object);
  assert.ok(topic);
  let surpluses: Surpluses = new Map();
  const taken = async (admin: Admin, now: number) => {
    const seen = await lookAtTopics(admin, [topic], { leaving: new Set(), surpluses, now });
    ({ surpluses } = seen);
    const live = seen.live.get('orders');
    assert.ok(live && !('message' in live));
    return planTopic(topic, live, seen.board, { holds: true }).steps.some((step) => step.do === 'reassign');
  };
  const both = [0, 1, 2, 3];
  assert.equal(await taken(adminWith(both), 0), false, 'at first sight');
  assert.equal(await taken(adminWith(both), SURPLUS_SETTLES_MS - 1), false);
  assert.equal(await taken(adminWith(both), SURPLUS_SETTLES_MS), true);
  // The broker has heard of the end of the move, and of the next one's beginning.
  assert.equal(await taken(adminWith([1, 2, 3]), 10_000), false);
  assert.equal(await taken(adminWith(both), 11_000), false);
  assert.equal(await taken(adminWith(both, true), 17_000), false, 'while it is moved');
  assert.equal(await taken(adminWith(both), 18_000), false, 'just after it was moved');
  assert.equal(await taken(adminWith([3, 2, 1, 0]), 22_000), false, 'another order');
  assert.equal(await taken(adminWith([3, 2, 1, 0]), 22_000 + SURPLUS_SETTLES_MS), true);
});
