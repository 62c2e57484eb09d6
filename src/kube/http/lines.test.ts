import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createLineSplitter } from './lines.ts';

/** Cuts bytes at any places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end));
}

suite('lines', () => {
  test('come out whole, however the stream is cut', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ''));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, places) => {
        const split = createLineSplitter(10_000);
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const found = cut(bytes, places).flatMap((chunk) => split(chunk));
        assert.deepEqual(
          found,
          lines.filter((text) => text !== ''),
        );
      }),
    );
  });

  test('an unfinished line stays inside', () => {
    const split = createLineSplitter(100);
    assert.deepEqual(split(Buffer.from('abc')), []);
    assert.deepEqual(split(Buffer.from('def\ngh')), ['abcdef']);
    assert.deepEqual(split(Buffer.from('\n')), ['gh']);
  });

  test('a line without end is refused before it fills the memory', () => {
    const split = createLineSplitter(1000);
    assert.throws(() => {
      for (let i = 0; i < 100; i++) split(Buffer.alloc(100, 'x'));
    }, /longer than 1000 bytes/);
  });
});
