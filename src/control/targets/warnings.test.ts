import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { expiryWarnings } from './warnings.ts';

const DAY = 24 * 60 * 60 * 1000;

suite('the end of a credential', () => {
  const reasons = (issuedAt: number, expiresAt: number, now: number, isRenewed: boolean) =>
    expiryWarnings({ issuedAt, expiresAt }, { now, isRenewed }).map(({ reason }) => reason);

  test('one that never ends needs no word', () => {
    assert.deepEqual(expiryWarnings({}, { now: 0, isRenewed: false }), []);
  });
  test('one that is renewed is worth a word only when that has failed for long', () => {
    assert.deepEqual(reasons(0, 7 * DAY, 4 * DAY, true), []);
    assert.deepEqual(reasons(0, 7 * DAY, 6 * DAY, true), ['CredentialExpires']);
    assert.deepEqual(reasons(0, 7 * DAY, 7 * DAY, true), ['CredentialExpired']);
  });
  test('one that nobody renews is told of two weeks before, or in the second half of a shorter life', () => {
    assert.deepEqual(reasons(0, 365 * DAY, 350 * DAY, false), []);
    assert.deepEqual(reasons(0, 365 * DAY, 352 * DAY, false), ['CredentialExpires']);
    assert.deepEqual(reasons(0, 2 * DAY, DAY / 2, false), []);
    assert.deepEqual(reasons(0, 2 * DAY, 1.5 * DAY, false), ['CredentialExpires']);
  });
});
