import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSlices } from './time-slice.ts';

test('others work between the slices, and the result is that of the last step', async () => {
  let turns = 0;
  const tick = () => {
    turns++;
    if (turns < 100) setImmediate(tick);
  };
  setImmediate(tick);
  function* steps() {
    for (let i = 0; i < 10; i++) yield;
    return 'done';
  }
  assert.equal(await inSlices(steps(), 0), 'done');
  assert.ok(turns >= 9, `${turns} turns`);
});
