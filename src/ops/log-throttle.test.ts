import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogThrottle } from './log-throttle.ts';

test('a flood is cut off, and what was left out is told with the next one', () => {
  let now = 0;
  const throttle = createLogThrottle(2, 1000, () => now);
  assert.deepEqual(
    [throttle('a'), throttle('a'), throttle('a'), throttle('a')],
    [0, 0, undefined, undefined],
  );
  assert.equal(throttle('b'), 0);
  now = 1001;
  assert.equal(throttle('a'), 2);
  assert.equal(throttle('a'), 0);
});
