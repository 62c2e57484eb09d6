import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { nextReload, settlesInMs } from './reloading.ts';
import type { Reloading } from './reloading.ts';

const settlesMs = 180_000;
const LOOK_MS = 2000;

/** Looks every two seconds; `problemAt` says what is seen. Returns when the broker was told, and when it was done. */
function run(problemAt: (now: number, asks: readonly number[]) => string | undefined, forMs: number) {
  const asks: number[] = [];
  let state: Reloading | undefined;
  for (let now = 0; now < forMs; now += LOOK_MS) {
    const step = nextReload('mark', problemAt(now, asks), state, { now, settlesMs });
    state = step.state;
    if (step.do === 'ask') asks.push(now);
    if (step.do === 'record') return { asks, done: now };
  }
  return { asks, done: undefined };
}

suite('a broker that is to load new certificates', () => {
  test('is told at once, once more when kubelets must have brought the files, and is done then', () => {
    assert.deepEqual(
      run(() => undefined, 600_000),
      { asks: [0, 180_000], done: 182_000 },
    );
  });

  test('is told until it is seen to have them, and is never done before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600_000 }), (broughtAt) => {
        const isLoaded = (asks: readonly number[]) => asks.some((at) => at >= broughtAt);
        const { asks, done } = run((_, told) => (isLoaded(told) ? undefined : 'old'), 3_600_000);
        assert.ok(done !== undefined && isLoaded(asks) && done > asks.at(-1)!);
        assert.ok(asks.at(-1)! >= settlesMs);
      }),
    );
  });

  test('is told less and less often where that does not help', () => {
    const { asks, done } = run(() => 'unreachable', 24 * 3_600_000);
    assert.equal(done, undefined);
    const pauses = asks.slice(1).map((at, n) => at - asks[n]!);
    assert.ok(asks.length > 5 && asks.length < 30, `${asks.length}`);
    assert.deepEqual(
      pauses,
      pauses.toSorted((a, b) => a - b),
    );
    assert.ok(pauses.at(-1)! > 100 * pauses[0]!, pauses.join());
  });

  test('begins anew when other certificates are wanted', () => {
    const before = { mark: 'old', since: 0, askedAt: 500_000, problem: undefined };
    assert.equal(nextReload('new', undefined, before, { now: 600_000, settlesMs }).do, 'ask');
    assert.equal(nextReload('old', undefined, before, { now: 600_000, settlesMs }).do, 'record');
  });

  test('certificates that live for minutes do not wait for minutes', () => {
    assert.equal(settlesInMs({ renewalMs: 30 * 24 * 3_600_000 }), 180_000);
    assert.equal(settlesInMs({ renewalMs: 120_000 }), 6000);
  });
});
