import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkConfig } from '../../../ops/config.ts';
import { recordEncryptionSchema } from './config.ts';

const kek = {
  uuid: '11111111-2222-3333-4444-555555555555',
  key: Buffer.alloc(32, 107).toString('base64'),
  algorithm: 'AES',
  alias: 'KEK-a',
};
const good = {
  kms: 'UnitTestingKmsService',
  kmsConfig: { numIvBytes: 12, numAuthBits: 128, existingKeks: [kek] },
  selector: 'TemplateKekSelector',
  selectorConfig: { template: 'KEK-$(topicName)' },
};

const check = (document: unknown) => checkConfig(recordEncryptionSchema, document, 'filter');

test('the original’s configuration is taken, with its defaults but for one: nothing passes in the clear', () => {
  const config = check(good);
  assert.equal(config.aliasOf('orders'), 'KEK-orders');
  assert.equal(config.aliasOf('$&$1'), 'KEK-$&$1');
  assert.equal(config.unresolvedKeyPolicy, 'REJECT');
  const policy = 'PASSTHROUGH_UNENCRYPTED';
  assert.equal(check({ ...good, unresolvedKeyPolicy: policy }).unresolvedKeyPolicy, policy);
  assert.deepEqual(check({ ...good, formerKeys: { 'KEK-a': ['x'] } }).formerKeys.get('KEK-a'), ['x']);
  assert.equal(config.limits.maxEncryptionsPerDek, 5_000_000);
  assert.equal(config.limits.notFoundAliasExpireAfterWriteSeconds, 30);
});

test('limits can be set, also as text, and the original’s buffer sizes are taken', () => {
  const experimental = { maxEncryptionsPerDek: '7', encryptionBufferMaximumSizeBytes: 1024 };
  assert.equal(check({ ...good, experimental }).limits.maxEncryptionsPerDek, 7);
});

test('a mistake is named by its key', () => {
  const cases: [unknown, RegExp][] = [
    [{ ...good, kms: 'NoSuchKms' }, /kms: is not one of UnitTestingKmsService/],
    [{ ...good, kmsConfig: { numAuthBits: 5 } }, /kmsConfig\.numAuthBits: /],
    [
      { ...good, kmsConfig: { existingKeks: [{ ...kek, key: 'AA==' }] } },
      /kmsConfig\.existingKeks\.0\.key: must be 32 bytes/,
    ],
    [{ ...good, selector: 'Other' }, /selector: must be TemplateKekSelector/],
    [
      { ...good, selectorConfig: { template: '$(partition)' } },
      /selectorConfig\.template: has a token other than/,
    ],
    [{ ...good, selectorConfig: {} }, /selectorConfig\.template: /],
    [{ ...good, formerKeys: { a: 'x' } }, /formerKeys\.a: /],
    [{ ...good, unresolvedKeyPolicy: 'MAYBE' }, /unresolvedKeyPolicy: /],
    [{ ...good, experimental: { decryptedDekCacheSize: 0 } }, /experimental\.decryptedDekCacheSize: /],
    [{ ...good, experimental: { unheardOf: 1 } }, /unheardOf/],
    [{ ...good, unheardOf: 1 }, /unheardOf/],
  ];
  for (const [document, expected] of cases) assert.throws(() => check(document), expected);
});

test('no message ever shows a key', () => {
  const secret = 'c2VjcmV0IGtleSBtYXRlcmlhbCBvZiB3cm9uZyBsZW5ndGg=';
  assert.throws(
    () => check({ ...good, kmsConfig: { existingKeks: [{ ...kek, key: secret }] } }),
    (error) => error instanceof Error && !error.message.includes(secret),
  );
});
