import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { LivePod } from '../observed.ts';
import { observePods, pollIntervalMs } from './poll-interval.ts';
import type { PodObservation, PodState } from './poll-interval.ts';

const pod = (change: Partial<LivePod> = {}): LivePod => ({ name: 'p-1', ready: false, ...change });
const sight = (change: Partial<PodState> = {}): PodState => ({
  generation: 1,
  configVersion: 'new',
  pods: [pod()],
  ...change,
});

/** When pods are looked at, in milliseconds, if nothing about them changes. */
function looksWithin(ms: number, shortestMs: number): number[] {
  const times: number[] = [];
  let look: PodObservation | undefined;
  for (let now = 0; now <= ms; now += pollIntervalMs(now - look.since, shortestMs)) {
    look = observePods(sight(), look, now);
    times.push(now);
  }
  return times;
}

suite('patience with pods', () => {
  test('looks each second at first, and after some minutes each half minute', () => {
    const times = looksWithin(600_000, 1000);
    assert.deepEqual(times.slice(0, 5), [0, 1000, 2000, 3000, 4000]);
    assert.ok(times.length < 45, `${times.length} looks in ten minutes`);
    assert.equal(times.at(-1)! - times.at(-2)!, 30_000);
  });

  test('whatever comes is noticed within half a minute, and within a third of the time it took', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_600_000 }), (at) => {
        const noticed = looksWithin(at + 60_000, 1000).find((time) => time >= at)!;
        assert.ok(noticed - at <= Math.min(30_000, Math.max(1000, at / 3)), `${at} at ${noticed}`);
      }),
    );
  });

  test('any change of the proxy, its configuration or its pods begins anew, and nothing else does', () => {
    const target = (message: string) =>
      new Map([['vc', { isLoad: false, isOut: false, isTarget: true, message }]]);
    const before = observePods(sight({ pods: [pod({ problems: target('a') })] }), undefined, 0);
    const sinceOf = (change: Partial<PodState>) => observePods(sight(change), before, 99_000).since;
    assert.equal(sinceOf({ pods: [pod({ problems: target('other words') })] }), 0);
    const changes: Partial<PodState>[] = [
      { generation: 2 },
      { configVersion: 'newer' },
      { pods: [] },
      { pods: [pod({ ready: true })] },
      { pods: [pod({ name: 'p-2' })] },
      { pods: [pod({ configVersion: 'new' })] },
      { pods: [pod({ refusal: 'bad' })] },
      { pods: [pod()] },
    ];
    for (const change of changes) {
      const pods = change.pods ?? [pod({ problems: target('a') })];
      assert.equal(sinceOf({ ...change, pods }), 99_000, JSON.stringify(change));
    }
  });
});
