import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { reachAfter } from './health.ts';
import { stateWarnings } from './warnings.ts';

suite('how a cluster is', () => {
  test('a state lasts since it began, whatever the problem is called', () => {
    const up = reachAfter({ state: 'unknown' }, undefined, 1);
    assert.deepEqual(up, { state: 'reachable', since: 1 });
    assert.deepEqual(reachAfter(up, undefined, 5), { state: 'reachable', since: 1 });
    const down = reachAfter(up, 'no route', 7);
    assert.deepEqual(down, { state: 'unreachable', since: 7, problem: 'no route' });
    assert.deepEqual(reachAfter(down, 'refused', 9), { state: 'unreachable', since: 7, problem: 'refused' });
  });

  test('what it answered becomes warnings', () => {
    const reasons = (health: Partial<Parameters<typeof stateWarnings>[0]['health']>) =>
      stateWarnings({
        problem: undefined,
        joined: undefined,
        health: { missing: [], isAdministrator: false, ...health },
        now: 0,
      }).map(({ reason }) => reason);
    assert.deepEqual(reasons({}), []);
    assert.deepEqual(reasons({ missing: ['create pods'] }), ['RightsMissing']);
    assert.deepEqual(reasons({ isAdministrator: true }), ['FullAdministrator']);
    assert.deepEqual(reasons({ clockAheadMs: -90_000 }), ['ClockDiffers']);
    assert.deepEqual(reasons({ clockAheadMs: 30_000 }), []);
  });
});
