import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { turnsDuring } from '../../../../test/support/turns.ts';
import { createWaker } from './waker.ts';

function* keys(count: number): Generator<string> {
  for (let i = 0; i < count; i++) yield `default/s${i}`;
}

test('all keys are woken, and others have their turns meanwhile', async () => {
  const woken: string[] = [];
  const waker = createWaker((key) => void woken.push(key));
  const { turns } = await turnsDuring(async () => {
    waker.wakeAll(keys(60));
    while (waker.isWaking) await turn();
  });
  assert.deepEqual(woken, [...keys(60)]);
  assert.ok(turns >= 10, `${turns} turns`);
});

test('nobody is woken once it is stopped', async () => {
  const woken: string[] = [];
  const waker = createWaker((key) => void woken.push(key));
  await turnsDuring(async () => {
    waker.wakeAll(keys(60));
    waker.stop();
    const before = woken.length;
    // More turns than all keys would take, whatever it says of itself.
    for (let turns = 0; turns < 200; turns++) await turn();
    assert.equal(waker.isWaking, false);
    assert.equal(woken.length, before);
    assert.ok(before < 60);
  });
});
