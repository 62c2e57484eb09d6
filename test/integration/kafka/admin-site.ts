/** What the tests of the admin client have in common: where a testbed's nodes are, and patience for a busy machine. */
import assert from 'node:assert/strict';
import type { AdminOptions } from '../../../src/kafka/admin/admin.ts';
import type { Answer, ItemResult } from '../../../src/kafka/admin/answer.ts';
import type { Topic } from '../../../src/kafka/admin/topics.ts';

export const PATIENT = {
  connectTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  callTimeoutMs: 120_000,
} satisfies Partial<AdminOptions>;

export function addressesOf(addresses: readonly string[]): { host: string; port: number }[] {
  return addresses.map((address) => {
    const [host = '', port] = address.split(':');
    return { host, port: Number(port) };
  });
}

/** Ids in ascending order. */
export const ascending = (ids: readonly number[]) => ids.toSorted((a, b) => a - b);

/** The value of an answer that has to be one. */
export function valueOf<T>({ value, error }: Answer<T>): T {
  assert.equal(error, undefined);
  return value;
}

/** The names of errors; `NONE` for what went well. */
export const errorsOf = (results: readonly ItemResult[]) => results.map(({ error }) => error?.name ?? 'NONE');

/** All topics of all pages, parts of a topic joined; and how many pages there were. */
export async function gather(pages: AsyncIterable<Answer<Topic[]>>) {
  const topics = new Map<string, Topic>();
  let count = 0;
  for await (const page of pages) {
    count++;
    for (const topic of valueOf(page)) {
      const known = topics.get(topic.name);
      topics.set(
        topic.name,
        known ? { ...known, partitions: [...known.partitions, ...topic.partitions] } : topic,
      );
    }
  }
  return { topics, pages: count };
}
