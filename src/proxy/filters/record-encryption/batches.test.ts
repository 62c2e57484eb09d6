import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { aesGcm } from '../../../crypto/aes-gcm.ts';
import { createKeyRing, DEFAULT_LIMITS } from '../../../crypto/key-ring.ts';
import type { KeyRing } from '../../../crypto/key-ring.ts';
import { BadEnvelope, UnknownKey } from '../../../crypto/kms.ts';
import { inMemoryKms, inMemorySchema } from '../../../crypto/kms/in-memory.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { readBatches } from '../../../kafka/records/batch.ts';
import type { KafkaRecord } from '../../../kafka/records/batch.ts';
import { checksumOf } from '../../../kafka/records/checksum.ts';
import { COMPRESSIONS } from '../../../kafka/records/compression.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import { openBatches, sealBatches } from './batches.ts';
import type { Opener } from './open.ts';
import { TooOldToSeal } from './sound-batch.ts';
import { createTimeSlice } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';

const kek = '11111111-2222-3333-4444-555555555555';

function newRing(limits = {}): KeyRing {
  const keys = [{ uuid: kek, key: Buffer.alloc(32, 107).toString('base64'), algorithm: 'AES', alias: 'a' }];
  const kms = inMemoryKms(inMemorySchema.parse({ existingKeks: keys }));
  return createKeyRing(kms, { ...DEFAULT_LIMITS, ...limits });
}

function record(offsetDelta: number, value: string | null, more: Partial<KafkaRecord> = {}): KafkaRecord {
  const base = {
    offsetDelta,
    timestampDelta: offsetDelta * 3,
    key: Buffer.from(`k${offsetDelta}`),
    headers: [],
  };
  return { ...base, value: value === null ? null : Buffer.from(value), ...more };
}

/** As a topic would be opened that any key of the ring may have sealed. */
const openWith = (field: Buffer, ring: KeyRing, ...yieldTurn: [YieldTurn?]) =>
  openAll(field, { openingKey: (edek) => ring.openingKey(edek), owner: ring, place }, ...yieldTurn);

const place = { topic: 'secret', partition: 0 };

/** What is opened of a field of which all must be. */
async function openAll(field: Buffer, opener: Opener, ...yieldTurn: [YieldTurn?]) {
  const { bytes, failed } = await openBatches(field, opener, ...yieldTurn);
  if (failed) throw failed.error;
  return bytes;
}

const recordsOf = (field: Buffer) => readBatches(field).batches.flatMap((batch) => [...batch.records()]);
const headsOf = (field: Buffer) =>
  readBatches(field).batches.map((batch) => ({ ...batch, bytes: undefined, records: undefined }));

const bytes = fc.uint8Array({ maxLength: 400, size: 'max' }).map((array) => Buffer.from(array));
const nullable = fc.option(bytes, { freq: 5 });
const header = fc.record({ key: fc.string({ maxLength: 70, size: 'max' }), value: nullable });
const records = fc.array(
  fc.record({ key: nullable, value: nullable, headers: fc.array(header, { maxLength: 70, size: 'small' }) }),
  { minLength: 1, maxLength: 30 },
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

test('what is sealed comes back, and the batch says the same of its records before, between and after', async () => {
  const ring = newRing();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(head, records), { minLength: 1, maxLength: 3 }), async (batches) => {
      const field = Buffer.concat(
        batches.map(([head, list]) =>
          encodeBatch(
            head,
            list.map((each, i) => ({ ...each, offsetDelta: i, timestampDelta: i * 1000 })),
          ),
        ),
      );
      const sealed = await sealBatches(field, kek, ring);
      assert.equal(
        sealed.count,
        batches.reduce((sum, [, list]) => sum + list.length, 0),
      );
      assert.deepEqual(headsOf(sealed.bytes), headsOf(field));
      const opened = (await openWith(sealed.bytes, ring)) ?? sealed.bytes;
      assert.deepEqual(headsOf(opened), headsOf(field));
      assert.deepEqual(recordsOf(opened), recordsOf(field));
    }),
    { numRuns: 200 },
  );
  ring.close();
});

test('only the value is hidden, and the mark comes first', async () => {
  const ring = newRing();
  const headers = [{ key: 'mine', value: Buffer.from('x') }];
  const field = encodeBatch({}, [record(0, 'the secret', { headers })]);
  const { bytes } = await sealBatches(field, kek, ring);
  assert.equal(bytes.includes('the secret'), false);
  const [sealed] = recordsOf(bytes);
  assert.equal(sealed?.key?.toString(), 'k0');
  assert.deepEqual(
    sealed?.headers.map(({ key }) => key),
    ['kroxylicious.io/encryption', 'mine'],
  );
  assert.deepEqual(sealed?.headers[0]?.value, Buffer.from([2]));
  assert.equal(sealed?.value?.length, 1 + 1 + 78 + 1 + 12 + (1 + 10 + 1) + 16);
  ring.close();
});

test('every record has an IV of its own', async () => {
  const ring = newRing();
  const field = encodeBatch(
    {},
    Array.from({ length: 100 }, (_, i) => record(i, 'same')),
  );
  const sealed = await Promise.all([1, 2, 3].map(async () => (await sealBatches(field, kek, ring)).bytes));
  const ivs = sealed.flatMap(recordsOf).map(({ value }) => value!.toString('hex', 81, 93));
  assert.equal(new Set(ivs).size, 300);
  ring.close();
});

test('tombstones, control batches and empty batches stay as they are', async () => {
  const ring = newRing();
  const untouched = [
    encodeBatch({}, [record(0, null)]),
    encodeBatch({ control: true }, [record(0, 'end of a transaction')]),
    encodeBatch({ lastOffsetDelta: 7 }, []),
  ];
  for (const field of untouched) assert.deepEqual((await sealBatches(field, kek, ring)).bytes, field);
  for (const field of untouched) assert.equal(await openWith(field, ring), undefined);
  ring.close();
});

test('records in the clear pass, alone or among sealed ones', async () => {
  const ring = newRing();
  const plain = encodeBatch({}, [record(0, 'clear'), record(1, null)]);
  assert.equal(await openWith(plain, ring), undefined);
  const { bytes } = await sealBatches(encodeBatch({}, [record(0, 'one'), record(1, 'two')]), kek, ring);
  const [one, two] = recordsOf(bytes);
  const list = [
    record(0, 'a'),
    { ...one!, offsetDelta: 1 },
    record(2, 'b'),
    { ...two!, offsetDelta: 3 },
    record(4, 'c'),
  ];
  const opened = await openWith(Buffer.concat([plain, encodeBatch({ compression: 'gzip' }, list)]), ring);
  const values = recordsOf(opened!).map(({ value }) => value?.toString());
  assert.deepEqual(values, ['clear', undefined, 'a', 'one', 'b', 'two', 'c']);
  ring.close();
});

test('a parcel with headers in it, or without a value, is opened too', async () => {
  const ring = newRing();
  const original = [{ key: 'outer', value: Buffer.from('o') }];
  // zig-zag 1 'v', then two headers: 'h' with 'x', 'n' with null; or the value null; or no value and no headers
  const cases: [number[], string | null | undefined, string[]][] = [
    [[0x02, 0x76, 0x04, 0x01, 0x68, 0x02, 0x78, 0x01, 0x6e, 0x01], 'v', ['h=x', 'n=null']],
    [[0x01, 0x03], null, ['outer=o']],
    [[0x02, 0x76, 0x00], 'v', []],
  ];
  for (const [parcel, value, headers] of cases) {
    const field = await sealParcel(ring, Buffer.from(parcel), original);
    const [opened] = recordsOf((await openWith(field, ring))!);
    assert.equal(opened?.value?.toString() ?? null, value);
    assert.deepEqual(
      opened?.headers.map((header) => `${header.key}=${header.value?.toString() ?? null}`),
      headers,
    );
  }
  ring.close();
});

test('a record that is longer when opened harms none of its neighbours', async () => {
  const ring = newRing();
  // The length of a header's key takes one byte in a parcel, and two in a record if it is 64 or more.
  const keys = Array.from({ length: 300 }, (_, i) => `${i}`.padStart(100, 'k'));
  const headers = keys.map((key) => Buffer.concat([Buffer.from([100]), Buffer.from(key), Buffer.from([1])]));
  const parcel = Buffer.concat([Buffer.from([0x02, 0x76, 0xd8, 0x04]), ...headers]);
  const [long] = recordsOf(await sealParcel(ring, parcel, []));
  const { bytes } = await sealBatches(encodeBatch({}, [record(0, 'one'), record(1, 'two')]), kek, ring);
  const [one, two] = recordsOf(bytes);
  const list = [one!, long!, two!].map((each, offsetDelta) => ({ ...each, offsetDelta }));
  for (const compression of ['none', 'gzip'] as const) {
    const field = Buffer.concat([encodeBatch({ compression }, list), bytes]);
    const opened = recordsOf((await openWith(field, ring))!);
    assert.deepEqual(
      opened.map(({ value }) => value?.toString()),
      ['one', 'v', 'two', 'one', 'two'],
    );
    assert.deepEqual(
      opened[1]?.headers.map(({ key }) => key),
      keys,
    );
  }
  ring.close();
});

/** A batch of one record, sealed around a parcel that we would not write. */
async function sealParcel(ring: KeyRing, parcel: Buffer, headers: KafkaRecord['headers']): Promise<Buffer> {
  const key = await ring.sealingKey(kek, 1);
  const value = Buffer.concat([key.prefix, Buffer.alloc(12, 1), parcel, Buffer.alloc(16)]);
  key.cipher.apply(aesGcm.pin(value), key.prefix.length + 12, value.length - 16);
  key.release();
  const mark = { key: 'kroxylicious.io/encryption', value: Buffer.from([2]) };
  return encodeBatch({}, [{ ...record(0, ''), value, headers: [mark, ...headers] }]);
}

test('many data keys in one batch, more than are kept', async () => {
  const ring = newRing({ maxEncryptionsPerDek: 1, decryptedDekCacheSize: 2 });
  const sealed: KafkaRecord[] = [];
  for (let i = 0; i < 8; i++) {
    const { bytes } = await sealBatches(encodeBatch({}, [record(0, `value ${i}`)]), kek, ring);
    sealed.push({ ...recordsOf(bytes)[0]!, offsetDelta: i });
  }
  const opened = await openWith(encodeBatch({}, [...sealed, ...sealed]), ring);
  const expected = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `value ${i}`);
  assert.deepEqual(
    recordsOf(opened!).map(({ value }) => value?.toString()),
    [...expected, ...expected],
  );
  ring.close();
});

test('a batch cut off at the end of a fetched field stays', async () => {
  const ring = newRing();
  const { bytes } = await sealBatches(encodeBatch({}, [record(0, 'one')]), kek, ring);
  const cut = bytes.subarray(0, bytes.length - 10);
  const opened = (await openWith(Buffer.concat([bytes, cut]), ring))!;
  assert.deepEqual(opened.subarray(-cut.length), cut);
  await assert.rejects(sealBatches(cut, kek, ring), MalformedMessage);
  ring.close();
});

const marked = (version: number[], value: Buffer | null = Buffer.alloc(60)) =>
  encodeBatch({}, [
    {
      ...record(0, ''),
      value,
      headers: [{ key: 'kroxylicious.io/encryption', value: Buffer.from(version) }],
    },
  ]);

test('what cannot be opened is refused with the reason', async () => {
  const ring = newRing();
  await assert.rejects(openWith(marked([1]), ring), /version is 1, and only 2/);
  await assert.rejects(openWith(marked([2, 2]), ring), /version is missing/);
  await assert.rejects(openWith(marked([2]), ring), BadEnvelope);
  assert.equal(await openWith(marked([2], null), ring), undefined);

  const { bytes } = await sealBatches(encodeBatch({}, [record(0, 'one')]), kek, ring);
  const [sealed] = recordsOf(Buffer.from(bytes));
  sealed!.value![sealed!.value!.length - 1]! ^= 1;
  await assert.rejects(openWith(encodeBatch({}, [sealed!]), ring), /tag does not fit/);
  const stranger = createKeyRing(inMemoryKms(inMemorySchema.parse({})));
  await assert.rejects(openWith(bytes, stranger), (error) => error instanceof UnknownKey);
  stranger.close();
  ring.close();
});

test('records of before there were headers cannot be sealed', async () => {
  const ring = newRing();
  const message = Buffer.from(
    // magic 1: offset, size, crc, magic, attributes, timestamp, key null, value "v"
    '0000000000000000' +
      '00000017' +
      '00000000' +
      '01' +
      '00' +
      '0000000000000001' +
      'ffffffff' +
      '00000001' +
      '76',
    'hex',
  );
  message.writeUInt32BE(crc32(message.subarray(16)), 12);
  await assert.rejects(sealBatches(message, kek, ring), TooOldToSeal);
  assert.equal(await openWith(message, ring), undefined);
  ring.close();
});

test('damaged bytes are refused, never sealed', async () => {
  const ring = newRing();
  const field = encodeBatch({}, [record(0, 'one'), record(1, 'two')]);
  const broken = Buffer.from(field);
  broken[70]! ^= 1;
  await assert.rejects(sealBatches(broken, kek, ring), /checksum/);
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 80, size: 'max' }),
      fc.nat({ max: 20 }),
      async (body, count) => {
        const batch = encodeBatch({}, []);
        const crafted = Buffer.concat([batch.subarray(0, 61), body]);
        crafted.writeInt32BE(crafted.length - 12, 8);
        crafted.writeInt32BE(count, 57);
        crafted.writeUInt32BE(checksumOf(crafted), 17);
        for (const work of [() => sealBatches(crafted, kek, ring), () => openWith(crafted, ring)]) {
          await work().catch((error: unknown) => {
            assert.ok(error instanceof MalformedMessage || error instanceof BadEnvelope, String(error));
          });
        }
      },
    ),
    { numRuns: 3000 },
  );
  ring.close();
});

test('a batch that claims more records than it can hold costs no data key', async () => {
  let made = 0;
  const keys = [{ uuid: kek, key: Buffer.alloc(32, 107).toString('base64'), algorithm: 'AES', alias: 'a' }];
  const kms = inMemoryKms(inMemorySchema.parse({ existingKeks: keys }));
  const counting = { ...kms, generateDek: (id: string) => (made++, kms.generateDek(id)) };
  const ring = createKeyRing(counting);
  const field = encodeBatch({}, [record(0, 'one')]);
  field.writeInt32BE(DEFAULT_LIMITS.maxEncryptionsPerDek, 57);
  field.writeUInt32BE(checksumOf(field), 17);
  await assert.rejects(sealBatches(field, kek, ring), MalformedMessage);
  assert.equal(made, 0);
  ring.close();
});

test('between the batches of a long field others get their turn', async () => {
  const ring = newRing();
  const one = encodeBatch({ compression: 'gzip' }, [record(0, 'one')]);
  const { bytes: sealed } = await sealBatches(Buffer.concat([one, one, one]), kek, ring);
  let clock = 0;
  let turns = 0;
  const yieldTurn = createTimeSlice(10, () => (clock += 6));
  const opened = await openWith(sealed, ring, () => yieldTurn()?.then(() => void turns++));
  assert.deepEqual(recordsOf(opened!), recordsOf(Buffer.concat([one, one, one])));
  assert.equal(turns, 1); // after 12 ms, of 18
  ring.close();
});

test('within a batch others get their turn, when it is sealed and when it is opened', async () => {
  const ring = newRing();
  const many = Array.from({ length: 5000 }, (_, i) => record(i, 'v'));
  const large = [record(0, 'v'.repeat(3_000_000)), record(1, 'w'.repeat(3_000_000))];
  for (const [list, least] of [
    [many, 10],
    [large, 10],
  ] as const) {
    let looks = 0;
    const count = () => void looks++;
    const { bytes } = await sealBatches(encodeBatch({}, list), kek, ring, undefined, count);
    assert.ok(looks >= least, `${looks} looks at the clock while sealing`);
    looks = 0;
    const opened = await openWith(bytes, ring, count);
    assert.ok(looks >= least, `${looks} looks at the clock while opening`);
    assert.deepEqual(recordsOf(opened!), list);
  }
  ring.close();
});

test('a message of before there were batches is refused without a look inside', async () => {
  const inner = Buffer.alloc(5_000_000);
  const value = gzipSync(inner);
  const message = Buffer.alloc(34 + value.length);
  message.writeInt32BE(message.length - 12, 8);
  message[16] = 1;
  message[17] = 1; // gzip
  message.writeInt32BE(-1, 26);
  message.writeInt32BE(value.length, 30);
  value.copy(message, 34);
  message.writeUInt32BE(crc32(message.subarray(16)), 12);
  const ring = newRing();
  // Inside it is broken, which nobody finds out.
  await assert.rejects(sealBatches(message, kek, ring), TooOldToSeal);
  assert.equal(await openWith(message, ring), undefined);
  ring.close();
});

test('nothing binds a sealed value to its record: a broker can reorder, repeat, leave out, and change all around it', async () => {
  const ring = newRing();
  const { bytes } = await sealBatches(encodeBatch({}, [record(0, 'one'), record(1, 'two')]), kek, ring);
  const [one, two] = recordsOf(bytes);
  const forged = [
    { ...two!, offsetDelta: 0 },
    { ...one!, offsetDelta: 1, key: Buffer.from('another key'), timestampDelta: 99 },
    { ...two!, offsetDelta: 2, headers: [...two!.headers, { key: 'added', value: null }] },
  ];
  const opened = recordsOf((await openWith(encodeBatch({}, forged), ring))!);
  assert.deepEqual(
    opened.map(({ key, value, headers }) => [key?.toString(), value?.toString(), headers.length]),
    [
      ['k1', 'two', 0],
      ['another key', 'one', 0],
      ['k1', 'two', 1],
    ],
  );
  ring.close();
});
