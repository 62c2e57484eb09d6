/** How much may be unpacked of a message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyRing } from '../../../crypto/key-ring.ts';
import type { KeyRing } from '../../../crypto/key-ring.ts';
import { inMemoryKms, inMemorySchema } from '../../../crypto/kms/in-memory.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { COMPRESSIONS } from '../../../kafka/records/compression.ts';
import { roomForMessage } from '../../../kafka/records/unpack.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import { openBatches, sealBatches } from './batches.ts';

const kek = '11111111-2222-3333-4444-555555555555';

function newRing(): KeyRing {
  const keys = [{ uuid: kek, key: Buffer.alloc(32, 107).toString('base64'), algorithm: 'AES', alias: 'a' }];
  return createKeyRing(inMemoryKms(inMemorySchema.parse({ existingKeks: keys })));
}

const record = (offsetDelta: number, value: string) => ({
  offsetDelta,
  timestampDelta: 0,
  key: null,
  value: Buffer.from(value),
  headers: [],
});

const NOTHING_SEALED = {
  openingKey: () => assert.fail('nothing is sealed'),
  place: { topic: 'secret', partition: 0 },
};

test('what a message unpacks to is bounded for all of its batches together', async () => {
  const ring = newRing();
  const value = 'x'.repeat(1_000_000);
  const field = encodeBatch({ compression: 'zstd' }, [record(0, value)]);
  const room = roomForMessage(2_500_000);
  await sealBatches(field, kek, ring, room);
  await sealBatches(field, kek, ring, room);
  const plain = encodeBatch({}, [record(0, value)]);
  await sealBatches(plain, kek, ring, room); // what is not compressed takes what it took to send
  await assert.rejects(sealBatches(field, kek, ring, room), MalformedMessage);
  ring.close();
});

test('what is opened is bounded for all of a message, too: a field ends before the batch that might be too much', async () => {
  const ring = newRing();
  const opener = { ...NOTHING_SEALED, owner: ring };
  const value = 'x'.repeat(4_000_000);
  const log = Array.from({ length: 10 }, (_, i) =>
    encodeBatch({ baseOffset: BigInt(i), compression: 'gzip' }, [record(0, value)]),
  );
  const room = roomForMessage(20_000_000);
  const opened = await openBatches(Buffer.concat(log), opener, undefined, undefined, room);
  assert.deepEqual([opened.failed, opened.endsBefore], [undefined, 4n]);
  assert.deepEqual(opened.bytes, Buffer.concat(log.slice(0, 4)));
  const next = await openBatches(Buffer.concat(log), opener, undefined, undefined, room);
  assert.deepEqual([next.failed, next.endsBefore, next.bytes], [undefined, 0n, Buffer.alloc(0)]);
  const whole = await openBatches(Buffer.concat(log), opener);
  assert.deepEqual([whole.bytes, whole.endsBefore], [undefined, undefined]);
  ring.close();
});

test('a fetched batch that unpacks to far more than was fetched is not opened', async () => {
  const ring = newRing();
  const bomb = encodeBatch({ compression: 'gzip' }, [record(0, '\0'.repeat(20_000_000))]);
  const { failed } = await openBatches(bomb, { ...NOTHING_SEALED, owner: ring });
  assert.ok(failed?.error instanceof MalformedMessage);
  ring.close();
});

test('countless batches in one field are refused', async () => {
  const ring = newRing();
  const one = encodeBatch({}, []);
  await sealBatches(Buffer.concat(Array.from({ length: 1000 }, () => one)), kek, ring);
  const more = Buffer.concat(Array.from({ length: 1001 }, () => one));
  await assert.rejects(sealBatches(more, kek, ring), MalformedMessage);
  ring.close();
});

test('records that unpack to far more than was sent are refused before a key is asked for', async () => {
  const ring = { ...newRing(), sealingKey: () => assert.fail('a key was asked for') };
  for (const compression of COMPRESSIONS.filter((kind) => kind !== 'none' && kind !== 'snappy')) {
    const field = encodeBatch({ compression }, [record(0, '\0'.repeat(20_000_000))]);
    await assert.rejects(sealBatches(field, kek, ring), MalformedMessage, compression);
  }
  ring.close();
});
