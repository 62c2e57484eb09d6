import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Answer } from './answer.ts';
import type { Send } from './routing.ts';
import { topicCalls } from './topics.ts';
import type { Topic } from './topics.ts';

interface Cursor {
  topicName: string;
  partitionIndex: number;
}

type Body = { cursor: Cursor | null; responsePartitionLimit: number };

/** More topics than a test could create, cut into pages as a broker does. */
function manyTopics(topics: number, partitions: number, answered: string[]): Send {
  const name = (index: number) => `topic-${String(index).padStart(6, '0')}`;
  const send = async (api: string, { cursor, responsePartitionLimit }: Body) => {
    answered.push(api);
    let at = cursor ? Number(cursor.topicName.slice(6)) * partitions + cursor.partitionIndex : 0;
    const found = [];
    for (let left = responsePartitionLimit; left > 0 && at < topics * partitions;) {
      const from = at % partitions;
      const count = Math.min(left, partitions - from);
      const indexes = Array.from({ length: count }, (_, i) => from + i);
      found.push({
        name: name(Math.floor(at / partitions)),
        errorCode: 0,
        partitions: indexes.map((partitionIndex) => ({ partitionIndex, replicaNodes: [1], isrNodes: [1] })),
      });
      at += count;
      left -= count;
    }
    const next = { topicName: name(Math.floor(at / partitions)), partitionIndex: at % partitions };
    return { value: { topics: found, nextCursor: at < topics * partitions ? next : null } };
  };
  return send as unknown as Send;
}

const collect = async (pages: AsyncIterable<Answer<Topic[]>>) => {
  const all: Answer<Topic[]>[] = [];
  for await (const page of pages) all.push(page);
  return all;
};

suite('topics', () => {
  test('100,000 partitions come in pages, each of them once', async () => {
    const answered: string[] = [];
    const seen = new Set<string>();
    let count = 0;
    let largest = 0;
    for await (const { value = [] } of topicCalls(manyTopics(300, 334, answered), {
      timeoutMs: 1,
    }).topics()) {
      const keys = value.flatMap(({ name, partitions }) => partitions.map(({ index }) => `${name}/${index}`));
      largest = Math.max(largest, keys.length);
      count += keys.length;
      for (const key of keys) seen.add(key);
    }
    assert.deepEqual([seen.size, count], [100_200, 100_200]);
    assert.ok(largest <= 2000, `${largest}`);
    assert.equal(answered.length, 51);
  });

  test('pages that do not go on end with an error', async () => {
    const nextCursor = { topicName: 't', partitionIndex: 3 };
    const send = (async () => ({ value: { topics: [], nextCursor } })) as unknown as Send;
    const pages = await collect(topicCalls(send, { timeoutMs: 1 }).topics());
    assert.match(pages.at(-1)?.error?.message ?? '', /do not go on/);
    assert.equal(pages.length, 3);
  });

  test('without that API the topics come from Metadata', async () => {
    const topic = { name: 't', topicId: 'i', errorCode: 0, isInternal: false, partitions: [] };
    const send = (async (api: string) =>
      api === 'Metadata'
        ? { value: { errorCode: 0, topics: [topic] } }
        : { error: { name: 'UNSUPPORTED_VERSION' } }) as unknown as Send;
    const [page] = await collect(topicCalls(send, { timeoutMs: 1 }).topics({ names: ['t'] }));
    assert.deepEqual(
      page?.value?.map(({ name }) => name),
      ['t'],
    );
  });
});
