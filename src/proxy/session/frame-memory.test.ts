import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFrameMemory } from './frame-memory.ts';

const MIB = 1_048_576;

test('a buffer is large enough, and comes again when it was given back', () => {
  const memory = createFrameMemory();
  for (const size of [1, 32_768, 32_769, MIB, 3 * MIB, 8 * MIB, 9 * MIB])
    assert.ok(memory.take(size).length >= size);
  const buffer = memory.take(3 * MIB);
  assert.notEqual(memory.take(3 * MIB), buffer);
  memory.give(buffer);
  assert.equal(memory.take(2 * MIB + 1), buffer);
  assert.notEqual(memory.take(2 * MIB + 1), buffer);
});

test('no more is kept than allowed, and nothing that is too large', () => {
  const memory = createFrameMemory(3 * MIB);
  const [first, second] = [memory.take(2 * MIB), memory.take(2 * MIB)];
  const huge = memory.take(20 * MIB);
  for (const buffer of [first, second, huge]) memory.give(buffer);
  assert.equal(memory.take(2 * MIB), first);
  assert.notEqual(memory.take(2 * MIB), second);
  assert.notEqual(memory.take(20 * MIB), huge);
});
