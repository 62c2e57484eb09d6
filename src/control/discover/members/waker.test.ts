import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createWaker } from './waker.ts';

/** Keys that each take a millisecond to be found. */
function* slowly(count: number): Generator<string> {
  for (let i = 0; i < count; i++) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    yield `default/s${i}`;
  }
}

test('all keys are woken, and others have their turns meanwhile', async () => {
  const woken: string[] = [];
  const waker = createWaker((key) => void woken.push(key));
  waker.wakeAll(slowly(60));
  let turns = 0;
  for (; waker.isWaking; turns++) await turn();
  assert.deepEqual(woken, [...slowly(60)]);
  assert.ok(turns >= 8, `${turns} turns`);
});

test('nobody is woken once it is stopped', async () => {
  const woken: string[] = [];
  const waker = createWaker((key) => void woken.push(key));
  waker.wakeAll(slowly(60));
  waker.stop();
  const before = woken.length;
  // More turns than all keys would take, whatever it says of itself.
  for (let turns = 0; turns < 200; turns++) await turn();
  assert.equal(waker.isWaking, false);
  assert.equal(woken.length, before);
  assert.ok(before < 60);
});
