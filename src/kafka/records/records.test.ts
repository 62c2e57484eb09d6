import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { crc32, gzipSync } from 'node:zlib';
import { snappyCompress as snappyRaw } from '@platformatic/wasm-utils';
import fc from 'fast-check';
import { MalformedMessage } from '../malformed.ts';
import { offsetOf, readBatches, timestampOf } from './batch.ts';
import type { BatchHead, KafkaRecord, RecordBatch } from './batch.ts';
import { COMPRESSIONS, compress, decompress } from './compression.ts';
import { encodeBatch } from './write.ts';

const bytes = fc.option(fc.uint8Array({ maxLength: 200, size: 'max' }).map((each) => Buffer.from(each)));
const record: fc.Arbitrary<KafkaRecord> = fc.record(
  {
    offsetDelta: fc.nat(),
    timestampDelta: fc.integer({ min: -(2 ** 51), max: 2 ** 51 }),
    key: bytes,
    value: bytes,
    headers: fc.array(
      fc.record(
        { key: fc.string({ unit: 'binary', maxLength: 10 }), value: bytes },
        { noNullPrototype: true },
      ),
      { maxLength: 3 },
    ),
  },
  { noNullPrototype: true },
);

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const head: fc.Arbitrary<BatchHead> = fc.record(
  {
    baseOffset: int64,
    lastOffsetDelta: fc.nat(),
    partitionLeaderEpoch: fc.integer(),
    compression: fc.constantFrom(...COMPRESSIONS),
    timestampType: fc.constantFrom('CreateTime', 'LogAppendTime'),
    transactional: fc.boolean(),
    control: fc.boolean(),
    deleteHorizon: fc.boolean(),
    baseTimestamp: int64,
    maxTimestamp: int64,
    producerId: int64,
    producerEpoch: fc.integer({ min: -32_768, max: 32_767 }),
    baseSequence: fc.integer(),
  },
  { noNullPrototype: true },
);

function only(field: Buffer): RecordBatch {
  const { batches, rest } = readBatches(field);
  assert.equal(rest.length, 0);
  assert.equal(batches.length, 1);
  return batches[0]!;
}

suite('record batches', () => {
  test('come back as they were, in every compression', () => {
    const check = fc.property(head, fc.array(record, { maxLength: 20 }), (said, records) => {
      const written = encodeBatch(said, records);
      const batch = only(written);
      const { magic, count, bytes: whole, records: read, ...heard } = batch;
      assert.deepEqual(heard, said);
      assert.deepEqual([magic, count, whole.length], [2, records.length, written.length]);
      assert.deepEqual([...read()], records);
      assert.ok(encodeBatch(batch, records).equals(written));
    });
    fc.assert(check, { numRuns: 200 });
  });

  test('stand one after the other, and the last may be cut off', () => {
    const one = encodeBatch({ baseOffset: 5n }, [plain('a')]);
    const field = Buffer.concat([one, one, one.subarray(0, 40)]);
    const { batches, rest } = readBatches(field);
    assert.equal(batches.length, 2);
    assert.equal(rest.length, 40);
  });

  test('give offsets and times', () => {
    const records = [plain('a'), { ...plain('b'), offsetDelta: 3, timestampDelta: 20 }];
    const create = only(encodeBatch({ baseOffset: 100n, baseTimestamp: 1000n }, records));
    const append = only(encodeBatch({ timestampType: 'LogAppendTime', maxTimestamp: 77n }, records));
    assert.equal(offsetOf(create, records[1]!), 103n);
    assert.equal(timestampOf(create, records[1]!), 1020n);
    assert.equal(create.maxTimestamp, 1020n);
    assert.equal(timestampOf(append, records[1]!), 77n);
  });

  test('are refused with a wrong checksum, unless nobody asks', () => {
    const field = encodeBatch({}, [plain('hello')]);
    field[field.length - 3]! ^= 1;
    assert.throws(() => readBatches(field), /checksum/);
    assert.equal(readBatches(field, { verify: false }).batches.length, 1);
  });

  test('are refused when they decompress to more than the limit', () => {
    for (const compression of COMPRESSIONS.slice(1)) {
      const field = encodeBatch({ compression }, [plain('x'.repeat(1_000_000))]);
      const [batch] = readBatches(field, { maxDecompressed: 100_000 }).batches;
      assert.throws(() => [...batch!.records()], MalformedMessage, compression);
    }
  });

  test('that are malformed give MalformedMessage and nothing else', () => {
    const records = Array.from({ length: 20 }, (_, i) => plain(`value ${i} of many, somewhat alike`));
    for (const compression of COMPRESSIONS) {
      const field = encodeBatch({ compression }, records);
      const check = fc.property(fc.nat(field.length - 1), fc.nat(255), (at, byte) => {
        const broken = Buffer.from(field);
        broken[at] = byte;
        try {
          for (const batch of readBatches(broken, { verify: false, maxDecompressed: 1_000_000 }).batches) {
            for (const each of batch.records()) assert.ok(each.headers);
          }
        } catch (error) {
          assert.ok(error instanceof MalformedMessage, String(error));
        }
      });
      fc.assert(check, { numRuns: 1000 });
    }
  });
});

suite('compression', () => {
  test('gives back any data', () => {
    // Runs of words and of noise, up to some 200 KB: more than one block of every format.
    const part = fc.oneof(
      fc
        .tuple(fc.constantFrom('alpha', 'beta gamma ', '{"id":', 'Ω', 'x'), fc.nat(9000))
        .map(([word, times]) => word.repeat(times)),
      fc.uint8Array({ maxLength: 2000, size: 'max' }),
    );
    const data = fc
      .array(part, { maxLength: 8 })
      .map((parts) => Buffer.concat(parts.map((each) => Buffer.from(each))));
    const check = fc.property(data, fc.constantFrom(...COMPRESSIONS), (each, kind) =>
      decompress(kind, compress(kind, each), 1_000_000).equals(each),
    );
    fc.assert(check, { numRuns: 100 });
  });

  test('reads snappy without framing too', () => {
    const data = Buffer.from('snappy as librdkafka writes it '.repeat(5000));
    assert.ok(decompress('snappy', snappyRaw(data), 1_000_000).equals(data));
  });

  test('reads lz4 with linked blocks and stored ones', () => {
    // A stored block "abcdefgh", then a block that copies eight bytes from eight back and ends with "xyz12".
    const frame = Buffer.from(
      '04224d18404000080000806162636465666768090000000408005078797a313200000000',
      'hex',
    );
    assert.equal(decompress('lz4', frame, 100).toString(), 'abcdefghabcdefghxyz12');
  });

  test('does not leak when it is fed garbage', () => {
    const good = compress('snappy', Buffer.alloc(300_000, 'abcdef'));
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 1500; i++) {
      const broken = Buffer.from(good);
      broken[20 + (i % (broken.length - 20))]! ^= 1 << (i % 8);
      try {
        decompress('snappy', broken, 400_000);
      } catch (error) {
        assert.ok(error instanceof MalformedMessage, String(error));
      }
    }
    assert.ok(process.memoryUsage.rss() - before < 200 * 2 ** 20, 'grew by more than 200 MB');
  });
});

suite('messages of the old formats', () => {
  test('are read, and those inside of compressed ones', () => {
    const inner = [message(1, 0n, 500n, 'a'), message(1, 1n, 600n, 'b')];
    const outer = message(1, 41n, 600n, gzipSync(Buffer.concat(inner)), 1);
    const { batches } = readBatches(Buffer.concat([message(0, 7n, -1n, 'old'), outer]));
    const found = batches.flatMap((batch) =>
      [...batch.records()].map((each) => [
        batch.magic,
        offsetOf(batch, each),
        timestampOf(batch, each),
        each.value?.toString(),
      ]),
    );
    assert.deepEqual(found, [
      [0, 7n, -1n, 'old'],
      [1, 40n, 500n, 'a'],
      [1, 41n, 600n, 'b'],
    ]);
  });

  test('are refused with a wrong checksum', () => {
    const broken = message(1, 1n, 1n, 'abc');
    broken[broken.length - 1]! ^= 1;
    assert.throws(() => readBatches(broken), /checksum/);
  });
});

function plain(value: string): KafkaRecord {
  return { offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from(value), headers: [] };
}

/** A message of magic 0 or 1 without a key. */
function message(
  magic: 0 | 1,
  offset: bigint,
  timestamp: bigint,
  value: string | Buffer,
  attributes = 0,
): Buffer {
  const content = Buffer.from(value);
  const time = Buffer.alloc(magic === 1 ? 8 : 0);
  if (magic === 1) time.writeBigInt64BE(timestamp);
  const lengths = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
  lengths.writeInt32BE(content.length, 4);
  const body = Buffer.concat([Buffer.from([magic, attributes]), time, lengths, content]);
  const start = Buffer.alloc(16);
  start.writeBigInt64BE(offset);
  start.writeInt32BE(body.length + 4, 8);
  start.writeUInt32BE(crc32(body), 12);
  return Buffer.concat([start, body]);
}
