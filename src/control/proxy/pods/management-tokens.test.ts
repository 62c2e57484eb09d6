import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyObject } from '../../../kube/object.ts';
import { createTokens, tokensIn } from './management-tokens.ts';

function secretOf(token: string, metricsToken: string): AnyObject {
  const data = {
    token: Buffer.from(token).toString('base64'),
    'metrics-token': Buffer.from(metricsToken).toString('base64'),
  };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'p-management', namespace: 'n' }, data };
}

test('tokens are made once for a proxy, and again when their Secret was deleted', () => {
  const tokensOf = createTokens();
  const first = tokensOf('n/p', undefined);
  assert.ok(first.token.length >= 43 && first.token !== first.metricsToken);
  assert.deepEqual(tokensOf('n/p', undefined), first, 'before the Secret is seen');
  assert.notDeepEqual(tokensOf('n/q', undefined), first);
  assert.deepEqual(tokensOf('n/p', secretOf(first.token, first.metricsToken)), first);
  assert.notDeepEqual(tokensOf('n/p', undefined), first, 'after it was deleted');
});

test('tokens that somebody has chosen stay, and half a Secret is none', () => {
  const chosen = { token: 'mine', metricsToken: 'theirs' };
  assert.deepEqual(createTokens()('n/p', secretOf('mine', 'theirs\n')), chosen);
  assert.equal(tokensIn(secretOf('mine', '')), undefined);
});
