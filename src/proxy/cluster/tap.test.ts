import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, suite, test } from 'node:test';
import { MOST_A_BEAT, Tap } from './tap.ts';
import type { TapBatch, TapEntry } from './tap.ts';

const entry = (client: string) => ({ client }) as TapEntry;

suite('a tap', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
  afterEach(() => mock.timers.reset());

  function tap() {
    const sent: TapBatch[] = [];
    const made = new Tap((batch) => void sent.push(batch));
    return { tap: made, sent };
  }

  test('is off at first, and shows nothing then', () => {
    const { tap: made, sent } = tap();
    assert.equal(made.on, false);
    made.show(entry('a'));
    mock.timers.tick(1000);
    assert.deepEqual(sent, []);
  });

  test('shows what it is given, a batch a beat, and sends nothing where there is nothing', () => {
    const { tap: made, sent } = tap();
    made.set(true);
    made.show(entry('a'));
    made.show(entry('b'));
    mock.timers.tick(100);
    mock.timers.tick(1000);
    assert.deepEqual(
      sent.map(({ entries }) => entries.map(({ client }) => client)),
      [['a', 'b']],
    );
  });

  test('admits so many a beat, and counts the rest', () => {
    const { tap: made, sent } = tap();
    made.set(true);
    const admitted = Array.from({ length: MOST_A_BEAT + 7 }, () => made.admits());
    assert.equal(admitted.filter(Boolean).length, MOST_A_BEAT);
    mock.timers.tick(100);
    assert.deepEqual(sent, [{ entries: [], missed: 7 }]);
    assert.equal(made.admits(), true, 'again, in the next beat');
  });

  test('holds a bounded number of entries, however many answers come at once', () => {
    const { tap: made, sent } = tap();
    made.set(true);
    for (let i = 0; i < 1000; i++) made.show(entry(String(i)));
    mock.timers.tick(100);
    const [{ entries, missed } = assert.fail()] = sent;
    assert.equal(entries.length + missed, 1000);
    assert.ok(entries.length <= 2 * MOST_A_BEAT);
  });

  test('forgets what it holds when it is switched off', () => {
    const { tap: made, sent } = tap();
    made.set(true);
    made.show(entry('a'));
    made.set(false);
    made.set(true);
    mock.timers.tick(1000);
    assert.deepEqual(sent, []);
  });
});
