import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changeAssignment, changeMemberRequest, changeSubscription } from './consumer-protocol.ts';
import { Writer } from './writer.ts';

interface Subscription {
  version: number;
  topics: string[];
  userData: Buffer | null;
  owned: [string, number[]][];
  generation: number;
  rack: string | null;
}

/** As Kafka's schemas ConsumerProtocolSubscription and ConsumerProtocolAssignment say, apart from the code under test. */
function encodeSubscription({ version, topics, userData, owned, generation, rack }: Subscription): Buffer {
  const writer = new Writer();
  writer.int16(version);
  writer.int32(topics.length);
  for (const topic of topics) writer.string(topic);
  writer.bytesField(userData);
  if (version >= 1) writeOwned(writer, owned);
  if (version >= 2) writer.int32(generation);
  if (version >= 3) writer.string(rack);
  return writer.done();
}

function encodeAssignment({ version, owned, userData }: Subscription): Buffer {
  const writer = new Writer();
  writer.int16(version);
  writeOwned(writer, owned);
  writer.bytesField(userData);
  return writer.done();
}

function writeOwned(writer: Writer, owned: Subscription['owned']): void {
  writer.int32(owned.length);
  for (const [topic, partitions] of owned) {
    writer.string(topic);
    writer.int32(partitions.length);
    for (const each of partitions) writer.int32(each);
  }
}

const topic = fc.constantFrom('orders', 'news', 'hidden');
const subscription: fc.Arbitrary<Subscription> = fc.record({
  version: fc.integer({ min: 0, max: 3 }),
  topics: fc.array(topic, { maxLength: 4 }),
  userData: fc.option(fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes))),
  owned: fc.array(fc.tuple(topic, fc.array(fc.nat(50), { maxLength: 3 })), { maxLength: 3 }),
  generation: fc.integer({ min: -1, max: 9 }),
  rack: fc.option(fc.constantFrom('a', 'zone-1')),
});

const change = (name: string) => (name === 'hidden' ? undefined : `prod.${name}`);
const changedTopics = <T extends { topics: string[]; owned: [string, number[]][] }>(before: T): T => ({
  ...before,
  topics: before.topics.flatMap((name) => change(name) ?? []),
  owned: before.owned.flatMap(([name, partitions]): [string, number[]][] =>
    change(name) ? [[change(name)!, partitions]] : [],
  ),
});

test('topics of subscriptions and assignments are changed in every version, and nothing else', () => {
  fc.assert(
    fc.property(subscription, (before) => {
      const after = changedTopics(before);
      assert.deepEqual(changeSubscription(encodeSubscription(before), change), encodeSubscription(after));
      assert.deepEqual(changeAssignment(encodeAssignment(before), change), encodeAssignment(after));
    }),
  );
});

test('what a later version adds stays behind what is known', () => {
  const before = { version: 3, topics: ['orders'], userData: null, owned: [], generation: 1, rack: 'a' };
  const late = (each: Subscription) =>
    Buffer.concat([encodeSubscription({ ...each, version: 9 }), Buffer.from('new')]);
  assert.deepEqual(changeSubscription(late(before), change), late({ ...before, topics: ['prod.orders'] }));
});

test('bytes that are something else are left as they are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const given = Buffer.from(bytes);
      for (const changeBytes of [changeSubscription, changeAssignment]) {
        const result = changeBytes(given, (name) => name);
        // Null has many lengths below zero, and is written with one; else nothing changes.
        assert.equal(result.length, given.length);
        assert.deepEqual(
          changeBytes(result, (name) => name),
          result,
        );
      }
    }),
    { numRuns: 1000 },
  );
  const good = encodeSubscription({
    version: 0,
    topics: ['orders'],
    userData: null,
    owned: [],
    generation: 0,
    rack: null,
  });
  for (const odd of [Buffer.alloc(0), Buffer.concat([good, Buffer.from([1])]), good.subarray(0, -1)])
    assert.equal(changeSubscription(odd, change), odd);
});

test('members of other protocols keep their bytes', () => {
  const metadata = encodeSubscription({
    version: 0,
    topics: ['orders'],
    userData: null,
    owned: [],
    generation: 0,
    rack: null,
  });
  const join = { protocolType: 'connect', protocols: [{ metadata }] };
  changeMemberRequest('JoinGroup', join, change);
  assert.equal(join.protocols[0]!.metadata, metadata);
  join.protocolType = 'consumer';
  changeMemberRequest('JoinGroup', join, change);
  assert.ok(join.protocols[0]!.metadata.includes('prod.orders'));
});
