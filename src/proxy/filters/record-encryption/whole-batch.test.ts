import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { createKeyRing, DEFAULT_LIMITS } from '../../../crypto/key-ring.ts';
import { BadEnvelope } from '../../../crypto/kms.ts';
import { inMemoryKms, inMemorySchema } from '../../../crypto/kms/in-memory.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { HEADER_LENGTH, readBatches } from '../../../kafka/records/batch.ts';
import type { BatchHead, KafkaRecord } from '../../../kafka/records/batch.ts';
import { checksumOf } from '../../../kafka/records/checksum.ts';
import { compress, COMPRESSIONS } from '../../../kafka/records/compression.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import { writeVarint, writeVarlong } from '../../../ops/varint.ts';
import { openBatches, sealBatches } from './batches.ts';
import { deflateRecords } from './record-deflate.ts';
import { storedGzip, storedPart } from './stored-gzip.ts';
import { sealWholeBatches } from './whole-batch.ts';

const kek = '11111111-2222-3333-4444-555555555555';
const keys = [{ uuid: kek, key: Buffer.alloc(32, 107).toString('base64'), algorithm: 'AES', alias: 'a' }];
const ring = createKeyRing(inMemoryKms(inMemorySchema.parse({ existingKeks: keys })), DEFAULT_LIMITS);
const place = { topic: 'orders', partition: 3 };

const seal = async (field: Buffer) => (await sealWholeBatches(field, kek, ring, place)).bytes;
const open = (field: Buffer, where = place, maySkip?: () => boolean) =>
  openBatches(
    Buffer.from(field),
    { openingKey: (edek) => ring.openingKey(edek), owner: ring, place: where, mustBeSealed: true },
    undefined,
    maySkip,
  );
const record = (offsetDelta: number, more: Partial<KafkaRecord> = {}): KafkaRecord => ({
  offsetDelta,
  timestampDelta: offsetDelta * 2,
  key: Buffer.from(`key ${offsetDelta}`),
  value: Buffer.from(`value ${offsetDelta}`),
  headers: [],
  ...more,
});
const listOf = (count: number) => Array.from({ length: count }, (_, i) => record(i));

const bytes = fc.uint8Array({ maxLength: 400, size: 'max' }).map((array) => Buffer.from(array));
const nullable = fc.option(bytes, { freq: 5 });
const header = fc.record({ key: fc.string({ maxLength: 70, size: 'max' }), value: nullable });
const delta = fc.oneof(
  fc.nat(200),
  fc.maxSafeNat().map((value) => value % 2 ** 40),
  fc.constant(0),
);
const records = fc.array(
  fc.record({
    key: nullable,
    value: nullable,
    timestampDelta: delta,
    headers: fc.array(header, { maxLength: 5, size: 'small' }),
  }),
  { minLength: 1, maxLength: 200, size: 'small' },
);
const head = fc.record({
  compression: fc.constantFrom(...COMPRESSIONS),
  baseOffset: fc.bigInt(0n, 2n ** 62n),
  baseTimestamp: fc.bigInt(0n, 2n ** 42n),
  producerId: fc.bigInt(-1n, 2n ** 40n),
  producerEpoch: fc.integer({ min: -1, max: 30_000 }),
  baseSequence: fc.integer({ min: -1, max: 2 ** 31 - 1 }),
  partitionLeaderEpoch: fc.integer({ min: -1, max: 1000 }),
  transactional: fc.boolean(),
});
const field = fc.array(fc.tuple(head, records), { minLength: 1, maxLength: 3 }).map((batches) =>
  Buffer.concat(
    batches.map(([each, list]) =>
      encodeBatch(
        each,
        list.map((one, offsetDelta) => ({ ...one, offsetDelta })),
      ),
    ),
  ),
);

test('what is sealed as a whole comes back byte by byte', async () => {
  await fc.assert(
    fc.asyncProperty(field, async (plain) => {
      const { bytes: opened, failed, skipped } = await open(await seal(plain));
      assert.deepEqual([failed, skipped], [undefined, []]);
      assert.ok(opened!.equals(plain));
    }),
    { numRuns: 200 },
  );
});

test('a broker sees as many records as before, with their offsets and timestamps, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(field, async (plain) => {
      const before = readBatches(plain).batches;
      const after = readBatches(await seal(plain)).batches;
      assert.equal(after.length, before.length);
      for (const [i, batch] of after.entries()) {
        const { bytes: was, records: old, compression: chosen, ...said } = before[i]!;
        const { bytes: is, records: now, compression, ...says } = batch;
        assert.deepEqual(says, said);
        assert.equal(compression, 'gzip');
        assert.ok(is.length > was.length, chosen);
        const seen = [...now()];
        assert.deepEqual(
          seen.map(({ offsetDelta, timestampDelta }) => [offsetDelta, timestampDelta]),
          [...old()].map(({ offsetDelta, timestampDelta }) => [offsetDelta, timestampDelta]),
        );
        assert.ok(seen.every(({ key }) => key === null));
        assert.ok(seen.slice(1).every(({ value, headers }) => value === null && headers.length === 0));
        assert.deepEqual(seen[0]!.headers, [{ key: 'isthmus.dev/sealed', value: Buffer.from([1]) }]);
      }
    }),
    { numRuns: 100 },
  );
});

test('keys, values and headers of a batch that is sealed as a whole are nowhere to be seen', async () => {
  const list = [record(0, { headers: [{ key: 'a header name', value: Buffer.from('header value') }] })];
  const sealed = gunzipSync((await seal(encodeBatch({}, list))).subarray(HEADER_LENGTH));
  for (const secret of ['key 0', 'value 0', 'a header name', 'header value'])
    assert.equal(sealed.includes(secret), false);
});

test('a sealed batch is not opened in another topic or partition, or with another head', async () => {
  const told = { producerId: 7n, producerEpoch: 1, baseSequence: 40, baseTimestamp: 5n };
  const sealed = await seal(encodeBatch({ ...told, compression: 'lz4' }, listOf(5)));
  const elsewhere = [
    { topic: 'payments', partition: 3 },
    { topic: 'orders', partition: 4 },
    { topic: 'orders3', partition: 0 },
  ];
  for (const where of elsewhere) assert.ok((await open(sealed, where)).failed?.error instanceof BadEnvelope);
  const changes: ((batch: Buffer) => void)[] = [
    (batch) => batch.writeBigInt64BE(8n, 43), // producer id
    (batch) => batch.writeInt16BE(2, 51), // its epoch
    (batch) => batch.writeInt32BE(45, 53), // sequence
    (batch) => batch.writeInt32BE(4, 57), // count
    (batch) => batch.writeInt16BE(batch.readInt16BE(21) | 16, 21), // transactional
  ];
  for (const change of changes) {
    const changed = Buffer.from(sealed);
    change(changed);
    changed.writeUInt32BE(checksumOf(changed), 17);
    assert.ok((await open(changed)).failed?.error instanceof BadEnvelope);
  }
});

test('any bit of the envelope that is changed is noticed', async () => {
  const plain = encodeBatch({}, listOf(3));
  const sealed = await seal(plain);
  const envelopeAt = HEADER_LENGTH + 10 + 5 + 8;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: envelopeAt, max: sealed.length - 60 }),
      fc.integer({ min: 0, max: 7 }),
      async (at, bit) => {
        const changed = Buffer.from(sealed);
        changed[at]! ^= 1 << bit;
        changed.writeUInt32BE(checksumOf(changed), 17);
        const { bytes: opened, failed } = await open(changed);
        assert.ok(failed !== undefined && opened?.length === 0);
      },
    ),
  );
});

test('what brokers set may change: offset, leader epoch, type and maximum of timestamps, base timestamp, compression', async () => {
  const head: Partial<BatchHead> = { compression: 'zstd', baseTimestamp: 1000n };
  const plain = encodeBatch(head, listOf(100));
  const sealed = await seal(plain);
  for (const compression of COMPRESSIONS) {
    // As a broker writes a batch anew that is compressed in another way than its topic says.
    const records = gunzipSync(sealed.subarray(HEADER_LENGTH));
    const anew = Buffer.concat([sealed.subarray(0, HEADER_LENGTH), compress(compression, records)]);
    anew.writeBigInt64BE(77n, 0);
    anew.writeInt32BE(anew.length - 12, 8);
    anew.writeInt32BE(9, 12);
    anew.writeInt16BE(COMPRESSIONS.indexOf(compression) | 8, 21);
    anew.writeBigInt64BE(2000n, 27);
    anew.writeBigInt64BE(5000n, 35);
    anew.writeUInt32BE(checksumOf(anew), 17);
    const { bytes: opened } = await open(anew);
    const [batch] = readBatches(opened!).batches;
    assert.deepEqual(
      [batch!.baseOffset, batch!.partitionLeaderEpoch, batch!.timestampType, batch!.maxTimestamp],
      [77n, 9, 'LogAppendTime', 5000n],
    );
    assert.deepEqual([batch!.baseTimestamp, batch!.compression], [1000n, 'zstd']);
    assert.deepEqual([...batch!.records()], listOf(100));
  }
});

test('one field may have batches of both formats', async () => {
  const plain = [encodeBatch({ baseOffset: 0n }, listOf(2)), encodeBatch({ baseOffset: 2n }, listOf(3))];
  const old = (await sealBatches(plain[0]!, kek, ring)).bytes;
  const sealed = Buffer.concat([old, await seal(plain[1]!), old]);
  assert.ok((await open(sealed)).bytes!.equals(Buffer.concat([plain[0]!, plain[1]!, plain[0]!])));
});

test('what precedes a batch that cannot be opened is delivered, or all but that batch', async () => {
  const plain = [0, 1, 2].map((i) => encodeBatch({ baseOffset: BigInt(i * 10) }, listOf(10)));
  const sealed = await Promise.all(plain.map(seal));
  const foreign = (await sealWholeBatches(plain[1]!, kek, ring, { ...place, topic: 'other' })).bytes;
  const mixed = Buffer.concat([sealed[0]!, foreign, sealed[2]!]);
  const stopped = await open(mixed);
  assert.equal(stopped.failed?.offset, 10n);
  assert.ok(stopped.bytes!.equals(plain[0]!));
  const passed = await open(mixed, place, () => true);
  assert.deepEqual([passed.failed, passed.skipped.map(({ offset }) => offset)], [undefined, [10n]]);
  const { batches } = readBatches(passed.bytes!);
  assert.deepEqual(
    batches.map(({ baseOffset, lastOffsetDelta, count }) => [baseOffset, lastOffsetDelta, count]),
    [
      [0n, 9, 10],
      [10n, 9, 0],
      [20n, 9, 10],
    ],
  );
});

test('values in the old format that cannot be opened spoil nothing of what precedes them', async () => {
  const plain = [0, 1].map((i) => encodeBatch({ baseOffset: BigInt(i * 10) }, listOf(10)));
  const [one, two] = await Promise.all(plain.map(async (each) => (await sealBatches(each, kek, ring)).bytes));
  two![two!.length - 5]! ^= 1; // the last value's tag: nine records are opened before that is known
  two!.writeUInt32BE(checksumOf(two!), 17);
  const mixed = Buffer.concat([one!, two!, one!]);
  const stopped = await open(mixed);
  assert.equal(stopped.failed?.offset, 10n);
  assert.ok(stopped.bytes!.equals(plain[0]!));
  const passed = await open(mixed, place, () => true);
  assert.deepEqual(
    readBatches(passed.bytes!).batches.map(({ count }) => count),
    [10, 0, 10],
  );
});

test('records that a broker would refuse are not sealed', async () => {
  const wrongOffset = encodeBatch({}, [record(0), record(2)]);
  await assert.rejects(seal(wrongOffset), MalformedMessage);
  const list = listOf(2);
  const behind = Buffer.concat([encodeBatch({}, list), Buffer.from([0])]);
  behind.writeInt32BE(behind.length - 12, 8);
  behind.writeUInt32BE(checksumOf(behind), 17);
  await assert.rejects(seal(behind), MalformedMessage);
});

test('a mark of an unknown version is refused, and records that were stored by others are read', async () => {
  const sealed = await seal(encodeBatch({}, listOf(1)));
  const markEnd = sealed.length - 8 - 2; // before the empty last block and the trailer of gzip
  assert.equal(sealed[markEnd - 1], 1);
  sealed[markEnd - 1] = 2;
  sealed.writeUInt32BE(checksumOf(sealed), 17);
  assert.match(String((await open(sealed)).failed?.error), /its version is 2/);
  const plain = encodeBatch({ compression: 'gzip' }, listOf(1));
  const old = (await sealBatches(encodeBatch({}, listOf(1)), kek, ring)).bytes;
  const stored = gzipSync(old.subarray(HEADER_LENGTH), { level: 0 });
  stored[9] = 0xff; // the system: as in ours
  assert.ok(storedPart(stored) === undefined || storedPart(stored)!.length > 0);
  const batch = Buffer.concat([old.subarray(0, HEADER_LENGTH), stored]);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt16BE(1, 21);
  batch.writeUInt32BE(checksumOf(batch), 17);
  const [opened] = readBatches((await open(batch)).bytes!).batches;
  assert.deepEqual([...opened!.records()], [...readBatches(plain).batches[0]!.records()]);
});

/** Numbers that look random and are the same in each run. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const WORDS =
  `the of and to in is that for it as was with be by on not he his but at are this have from or had an they which
 one you were all her she there would their we him been has when who will no more if out so up said what its about than into them
 can only other time new some could these two may first then do any like my now over such our man me even most made after also`
    .split(/\s+/)
    .filter(Boolean);

/** What people send: orders as JSON, and lines of text. */
const SAMPLES: Record<string, (dice: (sides: number) => number, i: number) => string> = {
  json: (dice, i) =>
    JSON.stringify({
      orderId: Array.from({ length: 4 }, () =>
        dice(2 ** 32)
          .toString(16)
          .padStart(8, '0'),
      ).join('-'),
      customer: { id: 100_000 + dice(900_000), country: ['DE', 'FR', 'US', 'JP'][dice(4)] },
      items: Array.from({ length: 1 + dice(3) }, () => ({
        sku: `SKU-${10_000 + dice(90_000)}`,
        quantity: 1 + dice(9),
        price: dice(100_000) / 100,
      })),
      status: ['created', 'paid', 'shipped'][dice(3)],
      createdAt: new Date(1_700_000_000_000 + i * 37 + dice(37)).toISOString(),
    }),
  text: (dice) => Array.from({ length: 30 + dice(40) }, () => WORDS[dice(WORDS.length)]).join(' '),
};

test('sealed as a whole, a batch takes at most 1.1 of what it takes in the clear, with every compression', async () => {
  for (const [kind, sample] of Object.entries(SAMPLES))
    for (const compression of COMPRESSIONS) {
      const dice = createDice(7);
      const list: KafkaRecord[] = [];
      let plain: Buffer = Buffer.alloc(0);
      // As producers fill a batch: until it has 16 KiB on the wire.
      while (plain.length < 16_384) {
        for (let i = 0; i < 10; i++)
          list.push({
            offsetDelta: list.length,
            timestampDelta: Math.floor(list.length / 3),
            key: Buffer.from(`customer-${dice(100_000)}`),
            value: Buffer.from(sample(dice, list.length)),
            headers: [],
          });
        plain = encodeBatch({ compression, baseTimestamp: 1_700_000_000_000n }, list);
      }
      const ratio = (await seal(plain)).length / plain.length;
      assert.ok(ratio <= 1.1, `${kind}, ${compression}: ${ratio.toFixed(3)} of ${plain.length} bytes`);
      const old = (await sealBatches(plain, kek, ring)).bytes.length / plain.length;
      assert.ok(
        ratio < old,
        `${kind}, ${compression}: ${ratio.toFixed(3)}, and ${old.toFixed(3)} in the old format`,
      );
    }
});

test('within a batch that is sealed as a whole others get their turn', async () => {
  const plain = encodeBatch({}, listOf(20_000));
  let turns = 0;
  const counting = () => {
    turns += 1;
    return undefined;
  };
  await sealWholeBatches(plain, kek, ring, place, undefined, counting);
  assert.ok(turns > 100, `${turns}`);
});

test('small records come back from what is deflated here, whatever they are', async () => {
  const anyRecord = fc.tuple(delta, fc.nat(2 ** 20)).map(([timestamp, offset]) => {
    const bytes = Buffer.alloc(40);
    let at = writeVarlong(bytes, 2, timestamp);
    at = writeVarint(bytes, at, offset);
    at = writeVarint(bytes, at, -1);
    at = writeVarint(bytes, at, -1);
    at = writeVarint(bytes, at, 0);
    writeVarint(bytes, 0, at - 1);
    return bytes.subarray(0, at);
  });
  const pass = () => undefined;
  await fc.assert(
    fc.asyncProperty(fc.array(anyRecord, { maxLength: 400, size: 'max' }), async (list) => {
      const all = Buffer.concat(list);
      assert.ok(inflateRawSync(await deflateRecords(all, pass)).equals(all));
    }),
  );
  const same = Buffer.concat(Array.from({ length: 5000 }, () => Buffer.from([12, 0, 2, 4, 1, 1, 0])));
  assert.ok(inflateRawSync(await deflateRecords(same, pass)).equals(same));
});

test('stored parts of any length are ordinary gzip, and are found again without unpacking', async () => {
  for (const length of [1, 65_534, 65_535, 65_536, 200_000]) {
    const stored = Buffer.alloc(length, 'abc');
    const small = Buffer.from([12, 0, 2, 4, 1, 1, 0]);
    const gzip = await storedGzip(stored, small, () => undefined);
    assert.ok(gunzipSync(gzip).equals(Buffer.concat([stored, small])));
    assert.ok(storedPart(gzip)!.equals(stored));
  }
  assert.equal(storedPart(compress('gzip', Buffer.alloc(100))), undefined);
});
