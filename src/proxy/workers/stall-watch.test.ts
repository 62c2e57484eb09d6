import assert from 'node:assert/strict';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { suite, test } from 'node:test';
import { pino } from 'pino';
import { createOwned } from '../cluster/filter-owner.ts';
import type { ConnectionContext, FilterSetting } from '../filter.ts';
import { readNote } from './stall-note.ts';
import type { StallNote } from './stall-note.ts';
import { watchStalls } from './stall-watch.ts';

const OWNER = { service: 'a 1', filter: 'guard' };
const setting = { peers: {}, metrics: {} } as FilterSetting;
const file = join(mkdtempSync(join(tmpdir(), 'stall-')), 'notes');
const fd = openSync(file, 'w');
const notes = (): (StallNote | undefined)[] =>
  readFileSync(file, 'utf8').split('\n').filter(Boolean).map(readNote);
/** Computes until there is such a note: the machine may be slow. */
const computeUntil = (isIt: (note: StallNote | undefined) => boolean) => {
  while (!notes().some(isIt));
};

/** A filter that keeps the process from going on by this. */
async function standStill(work: () => void): Promise<void> {
  const filter = await createOwned(OWNER, setting, async () => ({
    connect: () => ({
      onRequest: {
        async Metadata() {
          await delay(1);
          work();
          return undefined;
        },
      },
    }),
  }));
  const { onRequest } = filter.connect({} as ConnectionContext);
  await onRequest?.Metadata?.({} as never, {} as never);
  while (notes().at(-1)?.owner) await delay(20);
}

suite('the watch for stalls', () => {
  test('notes whose code computes without an end, how long it has been at it, and when it has ended after all', async () => {
    watchStalls(fd, pino({ level: 'silent' }));
    await standStill(() => computeUntil((note) => (note?.forMs ?? 0) >= 1000));
    const all = notes();
    assert.deepEqual(all.pop(), { forMs: 0 });
    assert.deepEqual(
      new Set(all.map((note) => JSON.stringify(note?.owner))),
      new Set([JSON.stringify(OWNER)]),
    );
    const times = all.map((note) => note!.forMs);
    assert.equal(times[0], 0);
    assert.ok(times.every((time, i) => i === 0 || time >= times[i - 1]!));
    assert.ok(times.at(-1)! >= 1000);
  });

  test('does not count the time in which there was no CPU to compute with', async () => {
    const before = notes().length;
    const cell = new Int32Array(new SharedArrayBuffer(4));
    await standStill(() => {
      while (notes().length < before + 12) Atomics.wait(cell, 0, 0, 50);
    });
    const times = notes()
      .slice(before)
      .map((note) => note!.forMs);
    assert.ok(Math.max(...times) < (times.length / 2) * 250, times.join());
  });

  test('notes nothing of our own code, and goes on to watch that of others', async () => {
    const before = notes().length;
    const until = performance.now() + 1500; // some samples
    while (performance.now() < until);
    assert.equal(notes().length, before);
    await standStill(() => {
      const late = performance.now() + 120_000; // or nobody watches any more
      while (notes().length === before && performance.now() < late);
    });
    assert.deepEqual(notes()[before]?.owner, OWNER);
  });

  test('a line that is no note is none', () => {
    assert.deepEqual(['', '{', 'null', '{"owner":{"service":1},"forMs":9}', '{"forMs":"9"}'].map(readNote), [
      undefined,
      undefined,
      undefined,
      { forMs: 0 },
      undefined,
    ]);
  });
});
