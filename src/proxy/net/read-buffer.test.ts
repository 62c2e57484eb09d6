import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBufferPool, ReadBuffer } from './read-buffer.ts';

test('a buffer grows with full reads and shrinks after many small ones', () => {
  const buffer = new ReadBuffer(createBufferPool());
  const small = buffer.current.length;
  const middle = buffer.adapt(small, 0, false).length;
  const large = buffer.adapt(middle, 0, false).length;
  assert.ok(small < middle && middle < large);
  for (let i = 0; i < 31; i++) buffer.adapt(10, 0, false);
  assert.equal(buffer.current.length, large);
  assert.equal(buffer.adapt(10, 0, false).length, middle);
  for (let i = 0; i < 32; i++) buffer.adapt(10, 0, false);
  assert.equal(buffer.current.length, small);
});

test('a frame that is known to be large gets a large buffer at once', () => {
  const buffer = new ReadBuffer(createBufferPool());
  assert.equal(buffer.adapt(100, 1_000_000, false).length, 262_144);
});

test('no more large buffers are out than allowed, and a returned one is used again', () => {
  const pool = createBufferPool(2);
  const first = pool.take(2);
  pool.take(2);
  assert.ok(pool.take(2).length < first.length);
  pool.give(first, true);
  assert.equal(pool.take(2), first);
  pool.give(first, false);
  assert.notEqual(pool.take(2), first);
});

test('a buffer whose bytes are held is lent: others do not get it before it is settled', () => {
  const pool = createBufferPool();
  const buffer = new ReadBuffer(pool);
  const small = buffer.adapt(buffer.current.length, 0, false); // grown to the middle size
  const large = buffer.adapt(small.length, 0, true);
  assert.notEqual(large, small);
  assert.notEqual(pool.take(1), small);
  buffer.settle();
  assert.equal(pool.take(1), small);
});

test('a buffer that is held when its connection closes is never used again', () => {
  const pool = createBufferPool();
  const buffer = new ReadBuffer(pool);
  const held = buffer.adapt(buffer.current.length, 0, false);
  const next = buffer.adapt(held.length, 0, true);
  buffer.release(true);
  assert.notEqual(pool.take(1), held);
  assert.equal(pool.take(2), next);
});
