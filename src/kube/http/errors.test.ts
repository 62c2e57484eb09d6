import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ApiError, apiErrorOf, hasStatus, localError, userErrorOf } from './errors.ts';

suite('errors', () => {
  test('an answer’s Status says what is wrong, and when to come back', () => {
    const body = JSON.stringify({
      kind: 'Status',
      reason: 'TooManyRequests',
      message: 'busy',
      details: { retryAfterSeconds: 3 },
    });
    const error = apiErrorOf(429, body, undefined);
    assert.deepEqual(
      [error.status, error.reason, error.message, error.retryAfterMs],
      [429, 'TooManyRequests', 'busy', 3000],
    );
    assert.equal(apiErrorOf(429, body, '7').retryAfterMs, 7000, 'the header counts for more');
    assert.equal(apiErrorOf(503, '', 'Wed, 21 Oct 2015 07:28:00 GMT').retryAfterMs, undefined);
    assert.ok(hasStatus(error, 429) && !hasStatus(error, 404) && !hasStatus(new Error('x'), 429));
  });

  test('an answer that is no Status, as from a load balancer, is quoted, but not at length', () => {
    const error = apiErrorOf(502, `<html>${'x'.repeat(5000)}`, undefined);
    assert.equal(error.reason, 'Status502');
    assert.ok(error.message.startsWith('<html>') && error.message.length <= 200);
    assert.equal(apiErrorOf(500, 'null', undefined).message, 'null');
    assert.equal(apiErrorOf(500, '', undefined).message, 'HTTP status 500');
  });

  test('a user is told apart: not reached, or refused', () => {
    assert.equal(userErrorOf(localError('Timeout', 'late')).code, 'CLUSTER_UNREACHABLE');
    assert.equal(userErrorOf(new ApiError(403, 'Forbidden', 'no')).code, 'CLUSTER_REFUSED');
    assert.equal(userErrorOf(localError('KindNotServed', 'no such kind')).code, 'CLUSTER_REFUSED');
  });
});
