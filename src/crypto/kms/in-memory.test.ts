import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { testKmsContract } from '../../../test/support/kms-contract.ts';
import { UnknownKey } from '../kms.ts';
import { inMemoryKms, inMemorySchema } from './in-memory.ts';
import { findKmsProvider } from './providers.ts';

const one = '11111111-2222-3333-4444-555555555555';
const two = 'AAAAAAAA-2222-3333-4444-555555555555';

function config(extra: object = {}) {
  const keks = [one, two].map((uuid, i) => {
    return { uuid, key: Buffer.alloc(32, 107 + i).toString('base64'), algorithm: 'AES', alias: `kek-${i}` };
  });
  return { existingKeks: keks, ...extra };
}

for (const extra of [{}, { numIvBytes: 16, numAuthBits: 96 }]) {
  testKmsContract(`in-memory ${JSON.stringify(extra)}`, async () => {
    const kms = inMemoryKms(inMemorySchema.parse(config(extra)));
    return {
      kms,
      aliases: ['kek-0', 'kek-1'],
      unknownKekId: '99999999-2222-3333-4444-555555555555',
      [Symbol.asyncDispose]: async () => kms.close(),
    };
  });
}

test('the wrapped key has the original’s layout', async () => {
  const kms = inMemoryKms(inMemorySchema.parse(config()));
  const { edek } = await kms.generateDek(one);
  assert.equal(edek.length, 2 + 12 + 16 + 32 + 16);
  assert.deepEqual([edek[0], edek[1]], [128, 12]);
  assert.equal(edek.toString('hex', 14, 30), one.replaceAll('-', ''));
  kms.close();
});

test('another service with other keys does not know the wrapped key', async () => {
  const kms = inMemoryKms(inMemorySchema.parse(config()));
  const { edek } = await kms.generateDek(one);
  await assert.rejects(inMemoryKms(inMemorySchema.parse({})).decryptEdek(edek), UnknownKey);
  kms.close();
});

test('the configuration is checked key by key', () => {
  const keys = (document: unknown) =>
    inMemorySchema.safeParse(document).error?.issues.map(({ path }) => path.join('.'));
  assert.equal(keys({}), undefined);
  assert.deepEqual(keys({ numAuthBits: 1 }), ['numAuthBits']);
  assert.deepEqual(keys({ numIvBytes: 0 }), ['numIvBytes']);
  const short = { uuid: one, key: randomBytes(16).toString('base64'), algorithm: 'AES', alias: 'a' };
  assert.deepEqual(keys({ existingKeks: [short] }), ['existingKeks.0.key']);
  assert.deepEqual(keys({ existingKeks: [{ ...short, uuid: 'x' }] })?.includes('existingKeks.0.uuid'), true);
});

test('it is found by both of its names', () => {
  const full = 'io.kroxylicious.kms.provider.kroxylicious.inmemory.UnitTestingKmsService';
  assert.ok(findKmsProvider('UnitTestingKmsService'));
  assert.equal(findKmsProvider(full), findKmsProvider('UnitTestingKmsService'));
  assert.equal(findKmsProvider('Nobody'), undefined);
});
