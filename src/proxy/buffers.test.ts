import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBufferPool, ReadBuffer } from './buffers.ts';

test('a buffer grows with full reads and shrinks after many small ones', () => {
  const buffer = new ReadBuffer(createBufferPool());
  const small = buffer.current.length;
  const middle = buffer.adapt(small, 0).length;
  const large = buffer.adapt(middle, 0).length;
  assert.ok(small < middle && middle < large);
  for (let i = 0; i < 31; i++) buffer.adapt(10, 0);
  assert.equal(buffer.current.length, large);
  assert.equal(buffer.adapt(10, 0).length, middle);
  for (let i = 0; i < 32; i++) buffer.adapt(10, 0);
  assert.equal(buffer.current.length, small);
});

test('a frame that is known to be large gets a large buffer at once', () => {
  const buffer = new ReadBuffer(createBufferPool());
  assert.equal(buffer.adapt(100, 1_000_000).length, 262_144);
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
