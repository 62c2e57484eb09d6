import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readBatches, timestampOf } from '../../kafka/records/batch.ts';
import type { KafkaRecord } from '../../kafka/records/batch.ts';
import { COMPRESSIONS } from '../../kafka/records/compression.ts';
import { encodeBatch } from '../../kafka/records/write.ts';
import { progressLine } from './progress.ts';
import { batchOf, chunksOf, committedBatches, nextSequence } from './rewrite.ts';

const bytes = fc.option(fc.uint8Array({ maxLength: 30 }).map((each) => Buffer.from(each)));
const record = fc.record({
  key: bytes,
  value: bytes,
  headers: fc.array(
    fc.record({ key: fc.string({ maxLength: 5 }), value: bytes }, { noNullPrototype: true }),
    {
      maxLength: 2,
    },
  ),
  timestampDelta: fc.nat(10_000),
});
/** Batches as a broker may have them: with gaps where compaction removed records, and times of their own or the broker's. */
const batches = fc.array(
  fc.record({
    compression: fc.constantFrom(...COMPRESSIONS),
    timestampType: fc.constantFrom('CreateTime', 'LogAppendTime'),
    gap: fc.nat(3),
    records: fc.array(record, { minLength: 1, maxLength: 5 }),
  }),
  { minLength: 1, maxLength: 4 },
);

test('all records come through once, in order, with their keys, values, headers and times', () => {
  fc.assert(
    fc.property(batches, fc.nat(10), (parts, skipped) => {
      let offset = 100n;
      const sent: unknown[] = [];
      const encoded = parts.map(({ compression, timestampType, gap, records }) => {
        const placed: KafkaRecord[] = records.map((each, i) => ({ ...each, offsetDelta: i * (gap + 1) }));
        const head = {
          baseOffset: offset,
          compression,
          timestampType,
          baseTimestamp: 5000n,
          maxTimestamp: 20_000n,
        };
        for (const { key, value, headers, timestampDelta, offsetDelta } of placed)
          if (offset + BigInt(offsetDelta) >= 100n + BigInt(skipped)) {
            const timestamp = timestampType === 'LogAppendTime' ? 20_000n : 5000n + BigInt(timestampDelta);
            sent.push({ key, value, headers, timestamp });
          }
        const lastOffsetDelta = placed.at(-1)!.offsetDelta + gap;
        offset += BigInt(lastOffsetDelta + 1);
        return encodeBatch({ ...head, lastOffsetDelta }, placed);
      });
      const chunks = chunksOf(readBatches(Buffer.concat(encoded)).batches, 100n + BigInt(skipped));
      const produced = chunks.map((chunk) =>
        batchOf(chunk, { producerId: 7n, producerEpoch: 2, baseSequence: 9 }),
      );
      const got = readBatches(Buffer.concat(produced)).batches.flatMap((batch) => {
        const all = [...batch.records()];
        // What a broker asks of a batch that is produced.
        assert.deepEqual(
          all.map(({ offsetDelta }) => offsetDelta),
          [...all.keys()],
        );
        assert.equal(batch.lastOffsetDelta, all.length - 1);
        assert.deepEqual(
          [batch.transactional, batch.producerId, batch.producerEpoch, batch.baseSequence],
          [true, 7n, 2, 9],
        );
        return all.map((each) => {
          const { key, value, headers } = each;
          return { key, value, headers, timestamp: timestampOf(batch, each) };
        });
      });
      assert.deepEqual(got, sent);
    }),
  );
});

test('chunks are of a size that brokers take, and a large record is one by itself', () => {
  const value = (size: number) => ({ key: null, value: Buffer.alloc(size), headers: [], timestampDelta: 0 });
  const records = [value(300_000), value(300_000), value(2_000_000), value(1), value(1)];
  const encoded = encodeBatch(
    {},
    records.map((each, i) => ({ ...each, offsetDelta: i })),
  );
  const sizes = chunksOf(readBatches(encoded).batches, 0n).map((chunk) => chunk.records.length);
  assert.deepEqual(sizes, [1, 1, 1, 2]);
});

test('nothing of an aborted transaction is copied, and no marker; what the same producer commits later is', () => {
  const data = (baseOffset: bigint, producerId: bigint) =>
    encodeBatch({ baseOffset, producerId, producerEpoch: 0, baseSequence: 0, transactional: true }, [
      { offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from(String(baseOffset)), headers: [] },
    ]);
  const marker = (baseOffset: bigint, producerId: bigint, type: number) =>
    encodeBatch({ baseOffset, producerId, producerEpoch: 0, transactional: true, control: true }, [
      {
        offsetDelta: 0,
        timestampDelta: 0,
        key: Buffer.from([0, 0, 0, type]),
        value: Buffer.alloc(6),
        headers: [],
      },
    ]);
  const log = [
    data(0n, 1n),
    data(1n, 2n),
    marker(2n, 1n, 0),
    data(3n, 1n),
    marker(4n, 2n, 1),
    marker(5n, 1n, 1),
    data(6n, 2n),
    marker(7n, 2n, 0),
  ];
  const aborted = [
    { producerId: 2n, firstOffset: 6n },
    { producerId: 1n, firstOffset: 0n },
  ];
  const kept = committedBatches(readBatches(Buffer.concat(log)).batches, aborted);
  assert.deepEqual(
    kept.map(({ baseOffset }) => baseOffset),
    [1n, 3n],
  );
});

test('sequences begin anew after the largest', () => {
  assert.equal(nextSequence(2 ** 31 - 2, 1), 2 ** 31 - 1);
  assert.equal(nextSequence(2 ** 31 - 1, 1), 0);
});

test('progress says the share, the rate and how long the rest takes', () => {
  const at = (left: number, elapsedMs: number) =>
    progressLine({ total: 1000, left, bytes: 2 * 1024 * 1024, elapsedMs, leftAtStart: 800 });
  assert.equal(at(800, 0), '20%, 800 of 1000 records left, 2000.0 MiB/s');
  assert.equal(at(400, 10_000), '60%, 400 of 1000 records left, 0.2 MiB/s, about 10 s to go');
  assert.equal(at(700, 1_080_000), '30%, 700 of 1000 records left, 0.0 MiB/s, about 2.1 h to go');
  assert.equal(at(0, 1000), '100%, 0 of 1000 records left, 2.0 MiB/s');
});
