import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCache } from './cache.ts';
import type { CacheOptions } from './cache.ts';

function setUp(options: Partial<CacheOptions<string>> = {}) {
  const clock = { ms: 0 };
  const loads: string[] = [];
  const evicted: string[] = [];
  const cache = createCache<string>({
    load: async (key) => {
      loads.push(key);
      return `${key}${loads.length}`;
    },
    lifetimeMs: () => 100,
    maxSize: 2,
    onEvict: (value) => void evicted.push(value),
    now: () => clock.ms,
    ...options,
  });
  return { cache, clock, loads, evicted };
}

test('many who ask at once cause one load', async () => {
  const { cache, loads } = setUp();
  assert.deepEqual(await Promise.all([cache.get('a'), cache.get('a'), cache.get('a')]), ['a1', 'a1', 'a1']);
  assert.equal(cache.get('a'), 'a1');
  assert.deepEqual(loads, ['a']);
});

test('a value expires, and is let go of', async () => {
  const { cache, clock, evicted } = setUp();
  await cache.get('a');
  clock.ms = 99;
  assert.equal(cache.get('a'), 'a1');
  clock.ms = 100;
  assert.equal(await cache.get('a'), 'a2');
  assert.deepEqual(evicted, ['a1']);
});

test('counted from the last use, a used value stays', async () => {
  const { cache, clock, evicted } = setUp({ fromLastUse: true });
  await cache.get('a');
  for (clock.ms = 90; clock.ms < 500; clock.ms += 90) assert.equal(cache.get('a'), 'a1');
  clock.ms += 100;
  cache.sweep();
  assert.deepEqual(evicted, ['a1']);
});

test('the least recently used goes first', async () => {
  const { cache, evicted } = setUp();
  await cache.get('a');
  await cache.get('b');
  await cache.get('a');
  await cache.get('c');
  assert.deepEqual(evicted, ['b2']);
  assert.equal(cache.get('a'), 'a1');
});

test('an ageing value serves while its successor is fetched', async () => {
  const { cache, clock, evicted } = setUp({ refreshAfterMs: () => 50 });
  await cache.get('a');
  clock.ms = 50;
  assert.equal(cache.get('a'), 'a1');
  assert.equal(cache.get('a'), 'a1');
  await new Promise(setImmediate);
  assert.equal(cache.get('a'), 'a2');
  assert.deepEqual(evicted, ['a1']);
});

test('a failed load is not remembered, and a failed refresh harms nobody', async () => {
  let fail = true;
  const { cache, clock } = setUp({
    refreshAfterMs: () => 50,
    load: async () => {
      if (fail) throw new Error('down');
      return 'up';
    },
  });
  await assert.rejects(Promise.resolve(cache.get('a')), /down/);
  fail = false;
  assert.equal(await cache.get('a'), 'up');
  fail = true;
  clock.ms = 60;
  assert.equal(cache.get('a'), 'up');
  await new Promise(setImmediate);
  assert.equal(cache.get('a'), 'up');
});

test('only the value meant is dropped', async () => {
  const { cache, evicted } = setUp();
  await cache.get('a');
  cache.drop('a', 'another');
  assert.deepEqual(evicted, []);
  cache.drop('a', 'a1');
  assert.deepEqual(evicted, ['a1']);
  await cache.get('b');
  cache.clear();
  assert.deepEqual(evicted, ['a1', 'b2']);
});

test('a load that failed is not tried again for a while, however many ask', async () => {
  const state = { loads: 0, isDown: true };
  const { cache, clock } = setUp({
    failureMs: 50,
    refreshAfterMs: () => 50,
    async load(key) {
      state.loads += 1;
      if (state.isDown) throw new Error('down');
      return key;
    },
  });
  for (let i = 0; i < 10; i++) await assert.rejects(async () => cache.get('a'), /down/);
  assert.equal(state.loads, 1);
  state.isDown = false;
  await assert.rejects(async () => cache.get('a'), /down/);
  assert.equal(await cache.get('b'), 'b');
  clock.ms = 50;
  assert.equal(await cache.get('a'), 'a');
  // Nor is a value refreshed more often than that.
  state.isDown = true;
  state.loads = 0;
  for (clock.ms = 100; clock.ms < 149; clock.ms += 5) assert.equal(await cache.get('a'), 'a');
  assert.equal(state.loads, 1);
});
