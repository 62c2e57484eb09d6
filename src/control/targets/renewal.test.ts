import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { renewalDueAt, retryAfterMs } from './renewal.ts';

const HOUR = 60 * 60 * 1000;
const due = (issuedAt: number, expiresAt: number, now: number) =>
  renewalDueAt({ kind: 'token', issuedAt, expiresAt }, now);

suite('when a token is renewed', () => {
  test('after a third of its life, and at the latest after a day', () => {
    assert.equal(due(0, 3 * HOUR, HOUR / 2), HOUR);
    assert.equal(due(0, 7 * 24 * HOUR, HOUR), 24 * HOUR);
  });
  test('never, if it does not end, or cannot be used any more', () => {
    assert.equal(renewalDueAt({ kind: 'token' }, 0), undefined);
    assert.equal(due(0, HOUR, HOUR), undefined);
  });
  test('at once, if nobody knows how old it is', () => {
    assert.equal(renewalDueAt({ kind: 'token', expiresAt: HOUR }, 5), 5);
    assert.equal(due(10, HOUR, 5), 5, 'or another clock has made it');
  });
  test('always before its end, with time for more than one try', () => {
    const token = fc.record({ issuedAt: fc.nat(1e12), life: fc.integer({ min: 600_000, max: 1e11 }) });
    fc.assert(
      fc.property(token, fc.double({ min: 0, max: 0.99, noNaN: true }), ({ issuedAt, life }, part) => {
        const at = due(issuedAt, issuedAt + life, issuedAt + life * part);
        assert.ok(at !== undefined && at <= issuedAt + life / 3 + 1);
      }),
    );
  });
  test('failures are retried ever more slowly, but not for ever', () => {
    assert.equal(retryAfterMs(1), 30_000);
    assert.equal(retryAfterMs(2), 60_000);
    assert.equal(retryAfterMs(1000), 15 * 60_000);
  });
});
