/** How much memory a masked response may take, and that its reader gets everything all the same. */
import assert from 'node:assert/strict';
import { mock, suite, test } from 'node:test';
import { recordSchema, typeOf } from '../../../../test/support/avro.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import { cutBatches, readBatches } from '../../../kafka/records/batch.ts';
import type { KafkaRecord } from '../../../kafka/records/batch.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, FilterSetting } from '../../filter.ts';
import { maskingSchema } from './config.ts';
import { masking } from './masking.ts';

const MIB = 1024 * 1024;
/** What a response may become longer by. */
const MOST = 128 * MIB;

const schema = recordSchema('Note', { email: 'string', text: 'bytes' });
const type = typeOf(schema);
const PACKED = type.toBuffer({ email: 'a@b.c', text: Buffer.alloc(4 * MIB - 1000) });

interface Partition {
  errorCode: number;
  records: Buffer;
  acquiredRecords?: { firstOffset: bigint; lastOffset: bigint }[];
}

async function connect(...given: object[]) {
  const setting = { virtualCluster: 'vc', name: 'm', metrics: createMetrics() } as FilterSetting;
  const rules = given.map((rule) => ({ topics: ['t'], fields: ['email'], ...rule }));
  const filter = await masking.create(maskingSchema.parse({ rules }), setting);
  const { onResponse } = filter.connect({ principal: undefined } as ConnectionContext);
  type Handler = (response: object, about: object) => Promise<unknown>;
  return async (partitions: Partition[], api: 'Fetch' | 'ShareFetch' = 'Fetch') => {
    await (onResponse![api] as unknown as Handler)({ responses: [{ topic: 't', partitions }] }, {});
    return partitions;
  };
}

const record = (value: Buffer) => ({ offsetDelta: 0, timestampDelta: 0, key: null, value, headers: [] });
/** A few kilobytes each, and 4 MiB when they are unpacked. */
const packedBatches = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    encodeBatch({ baseOffset: BigInt(i), compression: 'gzip' }, [record(PACKED)]),
  );
const offsetsOf = (records: Buffer) =>
  cutBatches(records).unread.map(({ bytes }) => Number(bytes.readBigInt64BE(0)));
const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, i) => from + i);

suite('room for what is masked', () => {
  test('a partition that unpacks to far more than it takes ends early, and its reader gets the rest when it asks again', async () => {
    const fetch = await connect({ avro: { schema } });
    const log = packedBatches(40);
    const seen: number[] = [];
    let asked = 0;
    for (; seen.length < log.length; asked++) {
      const field = Buffer.concat(log.slice(seen.length));
      const [{ records, errorCode }] = (await fetch([{ errorCode: 0, records: field }])) as [Partition];
      assert.equal(errorCode, 0);
      assert.ok(records.length > 0 && records.length < MOST, `${records.length} bytes`);
      seen.push(...offsetsOf(records));
      for (const { magic } of cutBatches(records).unread) assert.equal(magic, 2);
    }
    assert.deepEqual(seen, upTo(log.length));
    assert.ok(asked < 6, `${asked} times`);
  });

  test('partitions for which no room is left are empty, and are not always the same', async () => {
    const fetch = await connect({ avro: { schema } });
    const field = Buffer.concat(packedBatches(20));
    const random = mock.method(Math, 'random');
    for (const first of [0, 1, 2]) {
      random.mock.mockImplementation(() => (first + 0.5) / 3);
      const given = [0, 1, 2].map(() => ({ errorCode: 0, records: field }));
      const lengths = (await fetch(given)).map(({ records }) => records.length);
      assert.deepEqual(
        lengths.map((length) => length > 0),
        [0, 1, 2].map((each) => each === first),
      );
      assert.ok(given.every(({ errorCode }) => errorCode === 0));
    }
    random.mock.restore();
  });

  test('a batch for which there is never room is answered by an error, as soon as it is the first', async () => {
    const fetch = await connect({ fields: ['*'], mask: 'x'.repeat(1000) });
    // A hundred bytes become sixty thousand, 2500 times.
    const value = Buffer.from(JSON.stringify(Array(60).fill(0)));
    const many = Array.from({ length: 2500 }, (_, offsetDelta) => ({ ...record(value), offsetDelta }));
    const good = encodeBatch({}, [record(Buffer.from('{"email":1}'))]);
    for (const compression of ['none', 'gzip'] as const) {
      const bad = encodeBatch({ baseOffset: 1n, compression }, many);
      const [before] = await fetch([{ errorCode: 0, records: Buffer.concat([good, bad]) }]);
      assert.deepEqual([before!.errorCode, offsetsOf(before!.records)], [0, [0]]);
      const [alone] = await fetch([{ errorCode: 0, records: bad }]);
      assert.deepEqual([alone!.errorCode, alone!.records.length], [ERRORS.CORRUPT_MESSAGE.code, 0]);
    }
  });

  test('batches count however short they are', async () => {
    const fetch = await connect({});
    const tiny = encodeBatch({}, [record(Buffer.from('{}'))]);
    const count = 140_000;
    const [{ records, errorCode }] = (await fetch([
      { errorCode: 0, records: Buffer.alloc(count * tiny.length, tiny) },
    ])) as [Partition];
    const shown = records.length / tiny.length;
    assert.ok(errorCode === 0 && shown > 100_000 && shown < count, `${shown} batches`);
  });

  test('a member of a share group is given no more than it finds', async () => {
    const fetch = await connect({ avro: { schema } });
    const field = Buffer.concat(packedBatches(40));
    const acquired = () => [
      { firstOffset: 0n, lastOffset: 3n, deliveryCount: 1 },
      { firstOffset: 4n, lastOffset: 30n, deliveryCount: 2 },
      { firstOffset: 31n, lastOffset: 39n, deliveryCount: 1 },
    ];
    const random = mock.method(Math, 'random', () => 0);
    const given = [0, 1].map(() => ({ errorCode: 0, records: field, acquiredRecords: acquired() }));
    const [one, two] = await fetch(given, 'ShareFetch');
    random.mock.restore();
    const end = offsetsOf(one!.records).length;
    assert.ok(end > 4 && end < 30, `${end} batches`);
    assert.deepEqual(one!.acquiredRecords, [
      { firstOffset: 0n, lastOffset: 3n, deliveryCount: 1 },
      { firstOffset: 4n, lastOffset: BigInt(end - 1), deliveryCount: 2 },
    ]);
    assert.deepEqual([two!.records.length, two!.acquiredRecords], [0, []]);
  });

  test('a value does not become four times as long with every rule that it goes through', async () => {
    const rules = [10, 40, 160].map((length) => ({ topics: ['t'], fields: ['*'], mask: 'x'.repeat(length) }));
    const fetch = await connect(...rules);
    const batch = encodeBatch({}, [record(Buffer.from(`[${Array<number>(20_000).fill(1234).join()}]`))]);
    const [{ records }] = (await fetch([{ errorCode: 0, records: batch }])) as [Partition];
    const [{ value }] = [...readBatches(records).batches[0]!.records()] as [KafkaRecord];
    assert.ok(value!.length < 1000, `${value!.length} bytes`);
  });
});
