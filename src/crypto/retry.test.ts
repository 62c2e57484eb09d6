import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBreaker } from './breaker.ts';
import { BadEnvelope, KmsRefused, KmsThrottled, KmsUnavailable, UnknownKey } from './kms.ts';
import type { Kms } from './kms.ts';
import { backoffMs, retryingKms } from './retry.ts';

function failing(errors: Error[]): { kms: Kms; sleeps: number[]; calls: () => number } {
  let calls = 0;
  const sleeps: number[] = [];
  const act = async () => {
    calls += 1;
    const error = errors.shift();
    if (error) throw error;
    return 'kek';
  };
  const kms = { resolveAlias: act, generateDek: act, decryptEdek: act, close: () => {} } as unknown as Kms;
  const sleep = async (ms: number) => void sleeps.push(ms);
  return { kms: retryingKms(kms, { sleep, random: () => 0.5, timeoutMs: 50 }), sleeps, calls: () => calls };
}

test('two failures are survived, with growing pauses', async () => {
  const { kms, sleeps } = failing([new Error('1'), new Error('2')]);
  assert.equal(await kms.resolveAlias('a'), 'kek');
  assert.deepEqual(sleeps, [500, 1000]);
});

test('the third failure is the last', async () => {
  const { kms, calls } = failing([new Error('1'), new Error('2'), new Error('the reason')]);
  await assert.rejects(kms.generateDek('a'), (error) => {
    assert.ok(error instanceof KmsUnavailable);
    assert.equal((error.cause as Error).message, 'the reason');
    return true;
  });
  assert.equal(calls(), 3);
});

test('what will not get better is not tried again', async () => {
  for (const error of [new UnknownKey('x'), new BadEnvelope('x')]) {
    const { kms, calls } = failing([error]);
    await assert.rejects(kms.decryptEdek(Buffer.alloc(0)), error);
    assert.equal(calls(), 1);
  }
});

test('a service that never answers is given up on', async () => {
  const never = { resolveAlias: () => new Promise(() => {}), close: () => {} } as unknown as Kms;
  const kms = retryingKms(never, { timeoutMs: 5, sleep: async () => {} });
  await assert.rejects(kms.resolveAlias('a'), KmsUnavailable);
});

test('pauses stay within their limits', () => {
  for (let retry = 1; retry < 12; retry++) {
    for (const random of [0, 0.5, 0.999]) {
      const ms = backoffMs(retry, 500, 5000, () => random);
      assert.ok(ms >= 250 && ms <= 5000, `${ms}`);
    }
  }
});

test('a refusal is not asked for twice, but may get better', async () => {
  const { kms, calls } = failing([new KmsRefused('no rights')]);
  await assert.rejects(kms.generateDek('a'), KmsUnavailable);
  assert.equal(calls(), 1);
  assert.equal(await kms.resolveAlias('a'), 'kek');
});

test('a service that wants to be left alone is, within limits', async () => {
  const { kms, sleeps } = failing([new KmsThrottled('x', 3000), new KmsThrottled('x', 3_600_000)]);
  assert.equal(await kms.resolveAlias('a'), 'kek');
  assert.deepEqual(sleeps, [3000, 5000]);
});

/** A service that is down for as long as a test says. */
function sometimesDown(breaker = createBreaker({ failures: Infinity })) {
  const state = { calls: 0, isDown: true };
  const act = async () => {
    state.calls += 1;
    if (state.isDown) throw new Error('down');
    return 'kek';
  };
  const inner = { resolveAlias: act, close: () => {} } as unknown as Kms;
  return { state, kms: retryingKms(inner, { sleep: async () => {}, breaker }) };
}

test('when all fail, retries are few beside requests', async () => {
  const { state, kms } = sometimesDown();
  for (let i = 0; i < 100; i++) await assert.rejects(kms.resolveAlias('a'), KmsUnavailable);
  assert.ok(state.calls >= 110 && state.calls <= 121, `${state.calls} calls for 100 requests`);
});

test('a service that is down is left alone, and found again when it is back', async () => {
  const clock = { ms: 0 };
  const { state, kms } = sometimesDown(createBreaker({ now: () => clock.ms }));
  for (let i = 0; i < 50; i++) await assert.rejects(kms.resolveAlias('a'), KmsUnavailable);
  assert.equal(state.calls, 5);
  clock.ms += 2000;
  for (let i = 0; i < 50; i++) await assert.rejects(kms.resolveAlias('a'), KmsUnavailable);
  assert.equal(state.calls, 6, 'one has looked');
  state.isDown = false;
  clock.ms += 4000;
  assert.equal(await kms.resolveAlias('a'), 'kek');
  assert.equal(await kms.resolveAlias('a'), 'kek');
});

test('one key without rights does not keep others from theirs', async () => {
  const { kms } = failing(Array.from({ length: 20 }, () => new KmsRefused('no rights')));
  for (let i = 0; i < 20; i++) await assert.rejects(kms.generateDek('a'), KmsUnavailable);
  assert.equal(await kms.resolveAlias('b'), 'kek');
});
