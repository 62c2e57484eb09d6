import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createQueue } from './queue.ts';
import type { Queue } from './queue.ts';

/** The contract, as plainly as it can be said. */
interface Model {
  now: number;
  ready: string[];
  active: Set<string>;
  again: Set<string>;
  delayed: Map<string, number>;
}

const keys = fc.constantFrom('a', 'b', 'c');

function wakeDue(model: Model): void {
  const due = [...model.delayed].filter(([, at]) => at <= model.now).toSorted((a, b) => a[1] - b[1]);
  for (const [key] of due) {
    model.delayed.delete(key);
    modelAdd(model, key);
  }
}

function modelAdd(model: Model, key: string): void {
  if (model.active.has(key)) model.again.add(key);
  else if (!model.ready.includes(key)) model.ready.push(key);
}

function modelDelay(model: Model, key: string, at: number): void {
  if (at < (model.delayed.get(key) ?? Infinity)) model.delayed.set(key, at);
}

type Command = fc.Command<Model, Queue>;

const command = (label: string, run: (model: Model, queue: Queue) => void): Command => ({
  check: () => true,
  run,
  toString: () => label,
});

const commands = [
  keys.map((key) =>
    command(`add ${key}`, (model, queue) => {
      modelAdd(model, key);
      queue.add(key);
    }),
  ),
  fc.tuple(keys, fc.nat(100)).map(([key, delay]) =>
    command(`addAfter ${key} ${delay}`, (model, queue) => {
      modelDelay(model, key, model.now + delay);
      queue.addAfter(key, delay, model.now);
    }),
  ),
  fc.nat(60).map((ms) => command(`advance ${ms}`, (model) => void (model.now += ms))),
  fc.constant(
    command('take', (model, queue) => {
      wakeDue(model);
      const taken = queue.take(model.now);
      if (taken !== undefined) assert.ok(!model.active.has(taken), 'a key was given to two workers');
      // Keys due at the same moment may come in either order.
      assert.equal(taken === undefined, model.ready.length === 0);
      if (taken === undefined) return;
      assert.ok(model.ready.includes(taken));
      model.ready.splice(model.ready.indexOf(taken), 1);
      model.delayed.delete(taken);
      model.active.add(taken);
    }),
  ),
  keys.map((key) =>
    command(`done ${key}`, (model, queue) => {
      if (!model.active.delete(key)) return;
      queue.done(key);
      if (model.again.delete(key)) model.ready.push(key);
    }),
  ),
  keys.map((key) =>
    command(`retry ${key}`, (model, queue) => {
      const failures = queue.failuresOf(key);
      const delay = queue.retry(key, model.now);
      assert.equal(queue.failuresOf(key), failures + 1);
      const nominal = Math.min(300_000, 500 * 2 ** failures);
      assert.ok(delay >= nominal * 0.75 && delay <= nominal * 1.25, `${delay} for ${nominal}`);
      modelDelay(model, key, model.now + delay);
    }),
  ),
  keys.map((key) =>
    command(`forget ${key}`, (_model, queue) => {
      queue.forget(key);
      assert.equal(queue.failuresOf(key), 0);
    }),
  ),
  fc.constant(
    command('look', (model, queue) => {
      assert.equal(queue.active, model.active.size);
      const next = Math.min(...model.delayed.values());
      assert.equal(queue.nextAt(), model.delayed.size === 0 ? undefined : next);
    }),
  ),
];

suite('queue', () => {
  test('does what its contract says, in any order of events', () => {
    fc.assert(
      fc.property(fc.commands(commands, { size: '+1' }), (script) => {
        const model: Model = { now: 0, ready: [], active: new Set(), again: new Set(), delayed: new Map() };
        fc.modelRun(() => ({ model, real: createQueue() }), script);
      }),
      { numRuns: 300 },
    );
  });

  test('nothing is lost: when all is done, everything asked for has been taken since', () => {
    const wish = fc.record({ key: keys, at: fc.nat(100), delay: fc.nat(50), work: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(wish), (wishes) => {
        const queue = createQueue();
        const takenAt = new Map<string, number>();
        const busy = new Map<string, number>();
        for (let now = 0; now < 500; now++) {
          for (const { key, delay } of wishes.filter(({ at }) => at === now)) queue.addAfter(key, delay, now);
          for (const [key, until] of busy) {
            if (until > now) continue;
            busy.delete(key);
            queue.done(key);
          }
          for (let key = queue.take(now); key !== undefined; key = queue.take(now)) {
            takenAt.set(key, now);
            busy.set(key, now + (wishes.find((one) => one.key === key)?.work ?? 0));
          }
        }
        for (const { key, at } of wishes) assert.ok(takenAt.get(key)! >= at, `${key}, asked for at ${at}`);
        assert.equal(queue.size, 0);
      }),
    );
  });

  test('the server’s own wish for a pause counts', () => {
    const queue = createQueue({ random: () => 0.5 });
    assert.equal(queue.retry('a', 0, 7000), 7000);
    assert.equal(queue.retry('a', 0, 10), 1000);
  });

  test('a key that is looked at again and again does not fill the memory', () => {
    const queue = createQueue();
    for (let now = 0; now < 100_000; now++) {
      queue.add('busy');
      assert.equal(queue.take(now), 'busy');
      queue.addAfter('busy', 1_000_000, now);
      queue.done('busy');
    }
    assert.equal(queue.size, 1);
    assert.equal(queue.nextAt(), 99_999 + 1_000_000);
  });
});
