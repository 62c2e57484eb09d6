import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createPool } from './pool.ts';

/** A pool of numbered servers that tells what became of each. */
function numbered(renew: (server: number) => Promise<boolean> = async () => true) {
  let made = 0;
  const stopped: number[] = [];
  const pool = createPool<number>({
    start: async () => ++made,
    renew,
    stop: async (server) => void stopped.push(server),
  });
  return { pool, stopped };
}

suite('a pool of servers', () => {
  test('starts as many as are in use at once, and no more', async () => {
    const { pool } = numbered();
    const [one, two] = [await pool.take(), await pool.take()];
    assert.deepEqual([one, two], [1, 2]);
    await pool.giveBack(two);
    assert.equal(await pool.take(), 2);
    assert.equal(await pool.take(), 3);
  });

  test('waits for one that is being renewed', async () => {
    const renewed = Promise.withResolvers<boolean>();
    const { pool } = numbered(() => renewed.promise);
    const back = pool.giveBack(await pool.take());
    const next = pool.take();
    renewed.resolve(true);
    assert.equal(await next, 1);
    await back;
  });

  test('does not use again what cannot be renewed', async () => {
    const outcomes = [async () => false, () => Promise.reject(new Error('broken'))];
    for (const renew of outcomes) {
      const { pool, stopped } = numbered(renew);
      await pool.giveBack(await pool.take());
      assert.deepEqual(stopped, [1]);
      assert.equal(await pool.take(), 2);
    }
  });

  test('stops all of them in the end, each once', async () => {
    const { pool, stopped } = numbered();
    const [, two] = [await pool.take(), await pool.take()];
    await pool.giveBack(two);
    await pool.close();
    await pool.giveBack(1);
    assert.deepEqual(new Set(stopped), new Set([1, 2]));
    assert.equal(stopped.length, 2);
  });
});
