/** Record batches against Kafka's own Java classes: what Java writes we read, and the other way round. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { offsetOf, readBatches, timestampOf } from '../../../src/kafka/records/batch.ts';
import type { KafkaRecord, RecordBatch } from '../../../src/kafka/records/batch.ts';
import { COMPRESSIONS } from '../../../src/kafka/records/compression.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { SEED } from '../../support/seed.ts';
import { startHarness } from './harness/harness.ts';
import type { Harness } from './harness/harness.ts';
import { parseExactly } from './harness/json.ts';

const BASE_TIME = 1_700_000_000_000n;

const words = fc.array(fc.constantFrom('order', 'payment', '{"id": 17}', 'Ω', '\0'), {
  maxLength: 300,
  size: 'max',
});
const bytes = fc.option(
  fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
    words.map((each) => Buffer.from(each.join(' '))),
  ),
);
const headerKey = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\u2028'));
const headers = fc.array(fc.record({ key: headerKey, value: bytes }), { maxLength: 3 });

/** Batches of up to 200 records, some of them far over the 64 KB blocks of lz4 and the 32 KB chunks of snappy. */
const someRecords = fc
  .array(fc.record({ key: bytes, value: bytes, headers, delay: fc.nat(10_000) }), {
    minLength: 1,
    maxLength: 200,
    size: 'max',
  })
  .map((records) =>
    records.map(({ key, value, headers: own, delay }, offsetDelta): KafkaRecord => {
      return { offsetDelta, timestampDelta: delay, key, value, headers: own };
    }),
  );

/** What Java tells of a batch, told of ours. Numbers are texts, as in `parseExactly`. */
function describe(batch: RecordBatch): unknown {
  const base64 = (each: Buffer | null) => each?.toString('base64') ?? null;
  return {
    magic: String(batch.magic),
    compression: batch.compression,
    timestampType: batch.magic === 0 ? 'NoTimestampType' : batch.timestampType,
    baseOffset: String(batch.baseOffset),
    lastOffset: String(batch.baseOffset + BigInt(batch.lastOffsetDelta)),
    maxTimestamp: String(batch.maxTimestamp),
    producerId: String(batch.producerId),
    producerEpoch: String(batch.producerEpoch),
    baseSequence: String(batch.baseSequence),
    transactional: batch.transactional,
    control: batch.control,
    partitionLeaderEpoch: String(batch.partitionLeaderEpoch),
    records: Array.from(batch.records(), (record) => ({
      offset: String(offsetOf(batch, record)),
      timestamp: String(timestampOf(batch, record)),
      key: base64(record.key),
      value: base64(record.value),
      headers: record.headers.map(({ key, value }) => ({ key, value: base64(value) })),
    })),
  };
}

suite('records and Java', () => {
  let java: Harness;
  before(async () => {
    java = await startHarness();
  });
  after(() => java.stop());

  const javaReads = async (field: Buffer) => {
    const [json = ''] = await java.ask('read', field.toString('base64'));
    return parseExactly(json);
  };

  for (const compression of COMPRESSIONS) {
    test(`Java reads what we write with ${compression}`, async () => {
      for (const records of fc.sample(someRecords, { numRuns: 10, seed: SEED })) {
        const head = { baseOffset: 1234n, baseTimestamp: BASE_TIME, producerId: 9n, producerEpoch: 3 };
        const field = encodeBatch({ ...head, compression, baseSequence: 77, transactional: true }, records);
        assert.deepEqual(await javaReads(field), readBatches(field).batches.map(describe), `seed ${SEED}`);
      }
    });

    for (const magic of [0, 1, 2]) {
      if (magic < 2 && compression === 'zstd') continue; // newer than the formats
      test(`we read what Java writes with ${compression}, magic ${magic}`, async () => {
        for (const records of fc.sample(someRecords, { numRuns: 4, seed: SEED })) {
          for (const time of magic === 0 ? ['NoTimestampType'] : ['CreateTime', 'LogAppendTime']) {
            const json = javaRecords(records, magic);
            const [field = ''] = await java.ask('write', magic, compression, time, json);
            const ours = readBatches(Buffer.from(field, 'base64'));
            assert.equal(ours.rest.length, 0);
            assert.deepEqual(
              ours.batches.map(describe),
              await javaReads(Buffer.from(field, 'base64')),
              `seed ${SEED}`,
            );
          }
        }
      });
    }
  }

  test('an uncompressed batch of Java is written by us to the byte', async () => {
    for (const records of fc.sample(someRecords, { numRuns: 10, seed: SEED })) {
      const [field = ''] = await java.ask('write', 2, 'none', 'CreateTime', javaRecords(records, 2));
      const [batch] = readBatches(Buffer.from(field, 'base64')).batches;
      assert.equal(encodeBatch(batch!, [...batch!.records()]).toString('base64'), field, `seed ${SEED}`);
    }
  });

  test('control batches', async () => {
    for (const outcome of ['commit', 'abort']) {
      const [field = ''] = await java.ask('mark', outcome);
      const [batch] = readBatches(Buffer.from(field, 'base64')).batches;
      assert.deepEqual([batch!.control, batch!.transactional, batch!.count], [true, true, 1]);
      const [marker] = [...batch!.records()];
      assert.equal(marker?.key?.readInt16BE(2), outcome === 'commit' ? 1 : 0);
      assert.equal(encodeBatch(batch!, [marker]).toString('base64'), field);
    }
  });
});

function javaRecords(records: KafkaRecord[], magic: number): string {
  return JSON.stringify({
    baseOffset: 1234,
    appendTime: 1_700_000_123_456,
    records: records.map((record) => ({
      offset: 1234 + record.offsetDelta,
      timestamp: magic === 0 ? -1 : Number(BASE_TIME) + record.timestampDelta,
      key: record.key?.toString('base64') ?? null,
      value: record.value?.toString('base64') ?? null,
      headers:
        magic === 2
          ? record.headers.map(({ key, value }) => ({ key, value: value?.toString('base64') ?? null }))
          : [],
    })),
  });
}
