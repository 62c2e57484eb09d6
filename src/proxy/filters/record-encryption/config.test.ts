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

const rules = [{ topic: 'orders', action: 'seal', key: 'KEK-a', format: 'isthmus/1' }];
const byRules = { kms: good.kms, kmsConfig: good.kmsConfig, rules, unopenable: 'skip' };

const check = (document: unknown) => checkConfig(recordEncryptionSchema, document, 'filter');

test('the original’s configuration is taken, with its defaults but for one: nothing passes in the clear', () => {
  const config = check(good);
  const sealed = { action: 'seal', format: 'kroxylicious/2' };
  const strict = { ...sealed, withoutKey: 'refuse', acceptPlain: false };
  assert.deepEqual(config.policyOf('orders'), { ...strict, alias: 'KEK-orders' });
  assert.deepEqual(config.policyOf('$&$1'), { ...strict, alias: 'KEK-$&$1' });
  const lenient = check({ ...good, unresolvedKeyPolicy: 'PASSTHROUGH_UNENCRYPTED' });
  assert.deepEqual(lenient.policyOf('a'), {
    ...sealed,
    alias: 'KEK-a',
    withoutKey: 'plain',
    acceptPlain: true,
  });
  assert.equal(config.unopenable, 'error');
  assert.deepEqual(check({ ...good, formerKeys: { 'KEK-a': ['x'] } }).formerKeys.get('KEK-a'), ['x']);
  assert.equal(config.limits.maxEncryptionsPerDek, 5_000_000);
  assert.equal(config.limits.notFoundAliasExpireAfterWriteSeconds, 30);
});

test('limits can be set, also as text, and the original’s buffer sizes are taken', () => {
  const experimental = { maxEncryptionsPerDek: '7', encryptionBufferMaximumSizeBytes: 1024 };
  assert.equal(check({ ...good, experimental }).limits.maxEncryptionsPerDek, 7);
});

test('rules stand in place of the original’s selector', () => {
  const config = check(byRules);
  assert.equal(config.policyOf('orders').action, 'seal');
  assert.deepEqual(config.policyOf('other'), { action: 'refuse' });
  assert.equal(config.unopenable, 'skip');
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
    [{ ...good, unopenable: 'ignore' }, /unopenable: /],
    [{ ...good, rules }, /selector: says nothing where there are rules/],
    [{ ...byRules, rules: [{ topic: 'a', action: 'seal' }] }, /rules\.0\.key: is needed to seal/],
    [
      { ...byRules, rules: [{ action: 'plain' }] },
      /rules\.0: needs exactly one of topic, prefix and pattern/,
    ],
    [{ ...byRules, rules: undefined }, /selector: /],
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
