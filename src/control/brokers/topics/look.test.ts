import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Admin } from '../../../kafka/admin/admin.ts';
import { takeSteps } from './look.ts';
import type { TopicStep } from './plan-topic.ts';

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
