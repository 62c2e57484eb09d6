import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { inSlices } from './time-slice.ts';

function* counting(steps: number, onStep: () => void, result: string) {
  for (let i = 0; i < steps; i++) {
    onStep();
    yield;
  }
  return result;
}

test('others work between the slices, and the result is that of the last step', async () => {
  let turns = 0;
  const tick = () => {
    turns++;
    if (turns < 100) setImmediate(tick);
  };
  setImmediate(tick);
  assert.equal(
    await inSlices(
      counting(10, () => {}, 'done'),
      0,
    ),
    'done',
  );
  assert.ok(turns >= 9, `${turns} turns`);
});

test('many works at once take one slice of a turn together, each in its turn', async () => {
  const done: string[] = [];
  let [inThisTurn, most] = [0, 0];
  const all = ['a', 'b', 'c'].map((name) => {
    const onStep = () => {
      done.push(name);
      most = Math.max(most, ++inThisTurn);
    };
    return inSlices(counting(4, onStep, name), 0);
  });
  const ended = new AbortController();
  const results = Promise.all(all).finally(() => ended.abort());
  while (!ended.signal.aborted) {
    await turn();
    inThisTurn = 0;
  }
  assert.deepEqual(await results, ['a', 'b', 'c']);
  assert.equal(done.join(''), 'abcabcabcabc');
  assert.ok(most <= 2, `${most} steps in one turn`); // the one of this test may be counted between two of theirs
});

test('work that fails does not keep others from theirs', async () => {
  function* failing() {
    yield;
    throw new Error('no');
  }
  const other = inSlices(
    counting(5, () => {}, 'fine'),
    0,
  );
  await assert.rejects(inSlices(failing(), 0), /no/);
  assert.equal(await other, 'fine');
});
