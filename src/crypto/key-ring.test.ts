import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { aesGcm } from './aes-gcm.ts';
import type { DataKey } from './data-key.ts';
import { createKeyRing, DEFAULT_LIMITS } from './key-ring.ts';
import type { SealingKey } from './key-ring.ts';
import type { Kms } from './kms.ts';
import { inMemoryKms, inMemorySchema } from './kms/in-memory.ts';
import { readWrapper } from './wrapper.ts';

const uuid = '11111111-2222-3333-4444-555555555555';

function setUp(limits = {}) {
  const clock = { ms: 0 };
  const calls = { aliases: 0, generated: 0, decrypted: 0 };
  const config = {
    existingKeks: [{ uuid, key: randomBytes(32).toString('base64'), algorithm: 'AES', alias: 'a' }],
  };
  const inner = inMemoryKms(inMemorySchema.parse(config));
  const kms: Kms = {
    ...inner,
    resolveAlias: (alias) => ((calls.aliases += 1), inner.resolveAlias(alias)),
    generateDek: (kek) => ((calls.generated += 1), inner.generateDek(kek)),
    decryptEdek: (edek) => ((calls.decrypted += 1), inner.decryptEdek(edek)),
  };
  const ring = createKeyRing(kms, { ...DEFAULT_LIMITS, ...limits }, () => clock.ms);
  return { ring, clock, calls };
}

/** One text of 4 bytes sealed by the key, and the wrapped key that goes with it. */
function sealedBy(key: SealingKey): { frame: Buffer; edek: Buffer } {
  const frame = Buffer.alloc(12 + 4 + 16, 1);
  assert.ok(key.cipher.apply(aesGcm.pin(frame), 12, 16));
  const probe = Buffer.concat([key.prefix, Buffer.alloc(12 + 16)]);
  return { frame, edek: readWrapper(probe, 0, probe.length).edek };
}

const opens = (key: DataKey, frame: Buffer) => key.cipher.apply(aesGcm.pin(Buffer.from(frame)), 12, 16);

test('aliases are remembered, unknown ones not for long', async () => {
  const { ring, clock, calls } = setUp();
  assert.equal(await ring.resolveAlias('a'), uuid);
  assert.equal(await ring.resolveAlias('nobody'), undefined);
  assert.equal(ring.resolveAlias('a'), uuid);
  assert.equal(ring.resolveAlias('nobody'), undefined);
  clock.ms = 31_000;
  assert.equal(ring.resolveAlias('a'), uuid);
  assert.equal(await ring.resolveAlias('nobody'), undefined);
  assert.equal(calls.aliases, 3);
  ring.close();
});

test('what one key of the ring seals, another opens', async () => {
  const { ring, calls } = setUp();
  const sealing = await ring.sealingKey(uuid, 1);
  const { frame, edek } = sealedBy(sealing);
  const [one, two] = await Promise.all([ring.openingKey(edek), ring.openingKey(edek)]);
  assert.ok(opens(one, frame));
  assert.equal(one, two);
  assert.equal(calls.decrypted, 1);
  ring.close();
});

test('a data key is renewed by age and by number of records', async () => {
  const { ring, clock, calls } = setUp({ maxEncryptionsPerDek: 10 });
  const first = await ring.sealingKey(uuid, 6);
  assert.equal(await ring.sealingKey(uuid, 4), first);
  const second = await ring.sealingKey(uuid, 1);
  assert.notEqual(second, first);
  clock.ms = 7_200_000;
  const third = await ring.sealingKey(uuid, 1);
  assert.notEqual(third, second);
  assert.equal(calls.generated, 3);
  await assert.rejects(ring.sealingKey(uuid, 11), /more than one data key may seal/);
  ring.close();
});

test('a key is wiped when it is dropped and the last holder is done, not before', async () => {
  const { ring } = setUp({ decryptedDekCacheSize: 1, maxEncryptionsPerDek: 1 });
  const one = sealedBy(await ring.sealingKey(uuid, 1));
  const two = sealedBy(await ring.sealingKey(uuid, 1));
  const held = await ring.openingKey(one.edek);
  const other = await ring.openingKey(two.edek); // pushes the first out of the cache
  assert.ok(opens(held, one.frame));
  held.release();
  assert.throws(() => opens(held, one.frame), /wiped/);
  assert.equal(held.hold(), false);
  assert.ok(opens(other, two.frame));
  const again = await ring.openingKey(one.edek);
  assert.ok(opens(again, one.frame));
  ring.close();
});

test('many keys at once through a cache of one still all open', async () => {
  const { ring } = setUp({ decryptedDekCacheSize: 1, maxEncryptionsPerDek: 1 });
  const sealed: ReturnType<typeof sealedBy>[] = [];
  for (let i = 0; i < 10; i++) sealed.push(sealedBy(await ring.sealingKey(uuid, 1)));
  const keys = await Promise.all(sealed.map(async ({ edek }) => ring.openingKey(edek)));
  keys.forEach((key, i) => assert.ok(opens(key, sealed[i]!.frame)));
  ring.close();
});

test('closing wipes every key nobody holds', async () => {
  const { ring } = setUp();
  const key = await ring.sealingKey(uuid, 1);
  key.release();
  ring.close();
  assert.throws(() => key.cipher.apply(aesGcm.pin(Buffer.alloc(40)), 12, 20), /wiped/);
  await assert.rejects(ring.sealingKey(uuid, 1), /does not know/);
});
