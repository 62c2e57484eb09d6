import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchesPattern, policyOfRules, rulesSchema } from './policy.ts';

const check = (...rules: unknown[]) => rulesSchema.safeParse(rules);
const policyOf = (...rules: unknown[]) => policyOfRules(rulesSchema.parse(rules));

test('the first rule that fits counts, and what none fits is refused', () => {
  const policy = policyOf(
    { topic: 'orders', action: 'seal', key: 'KEK-orders', format: 'isthmus/1' },
    { prefix: 'orders', action: 'seal', key: 'KEK-$(topicName)', acceptPlain: true },
    { pattern: 'public-*-v?', action: 'plain' },
    { prefix: 'public-', action: 'refuse' },
  );
  const sealed = { action: 'seal', withoutKey: 'refuse' };
  const whole = { ...sealed, alias: 'KEK-orders', format: 'isthmus/1', acceptPlain: false };
  assert.deepEqual(policy('orders'), whole);
  assert.deepEqual(policy('orders'), whole); // remembered
  const template = { ...sealed, alias: 'KEK-orders-eu', format: 'kroxylicious/2', acceptPlain: true };
  assert.deepEqual(policy('orders-eu'), template);
  assert.deepEqual(policy('public-news-v1'), { action: 'plain' });
  assert.deepEqual(policy('public-news-v10'), { action: 'refuse' });
  assert.deepEqual(policy('anything'), { action: 'refuse' });
});

test('a rule is for one kind of name, and says no more than its action needs', () => {
  assert.ok(!check().success);
  assert.ok(!check({ action: 'plain' }).success);
  assert.ok(!check({ topic: 'a', prefix: 'a', action: 'plain' }).success);
  assert.ok(!check({ topic: 'a', action: 'seal' }).success);
  assert.ok(!check({ topic: 'a', action: 'seal', key: '$(partition)' }).success);
  assert.ok(!check({ topic: 'a', action: 'seal', key: 'k', format: 'isthmus/9' }).success);
  for (const more of [{ key: 'k' }, { format: 'isthmus/1' }, { acceptPlain: true }])
    assert.ok(!check({ topic: 'a', action: 'refuse', ...more }).success);
});

test('a pattern says the same as the regular expression that it stands for', () => {
  const letter = fc.constantFrom('a', 'b', '*', '?');
  const pattern = fc.array(letter, { maxLength: 8 }).map((letters) => letters.join(''));
  const name = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 10 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(pattern, name, (wanted, given) => {
      const expression = new RegExp(`^${wanted.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      assert.equal(matchesPattern(wanted, given), expression.test(given));
    }),
    { numRuns: 1000 },
  );
  const started = performance.now();
  assert.equal(matchesPattern(`${'*a'.repeat(100)}b`, 'a'.repeat(249)), false);
  assert.ok(performance.now() - started < 1000);
});
