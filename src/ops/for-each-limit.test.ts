import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { forEachLimit } from './for-each-limit.ts';

suite('working through a list', () => {
  test('does all of it, no more than so many at a time', async () => {
    const done: number[] = [];
    let active = 0;
    let most = 0;
    const items = Array.from({ length: 20 }, (_, i) => i);
    await forEachLimit(items, 3, async (item) => {
      most = Math.max(most, (active += 1));
      await turn();
      active -= 1;
      done.push(item);
    });
    assert.deepEqual(
      done.toSorted((a, b) => a - b),
      items,
    );
    assert.equal(most, 3);
  });

  test('one that fails keeps none from being done, and the failure comes when nothing is under way any more', async () => {
    const done: number[] = [];
    const working = forEachLimit([1, 2, 3, 4, 5], 2, async (item) => {
      if (item < 3) throw new Error(`no ${item}`);
      await turn();
      done.push(item);
    });
    await assert.rejects(working, /no 1/);
    assert.deepEqual(done, [3, 4, 5]);
  });
});
