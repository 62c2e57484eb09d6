import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { nextSerials, readSerials } from './serials.ts';
import type { ZoneVersion } from './serials.ts';

const isLater = (a: number, b: number) => ((a - b) | 0) > 0;

test('a zone that has changed gets a later serial, at least the time; others keep theirs', () => {
  const written = {
    'a.test': { serial: 100, content: 'x' },
    'b.test': { serial: 900, content: 'y' },
    'c.test': { serial: 100, content: 'z' },
  };
  const contents = new Map([
    ['a.test', 'x'],
    ['b.test', 'other'],
    ['c.test', 'other'],
    ['d.test', 'new'],
  ]);
  assert.deepEqual(nextSerials(written, contents, 500), {
    'b.test': { serial: 901, content: 'other' },
    'c.test': { serial: 500, content: 'other' },
    'd.test': { serial: 500, content: 'new' },
  });
});

test('whatever changes and however the clock runs, no serial stands for two contents, and none goes back', () => {
  const step = fc.record({
    content: fc.constantFrom('a', 'b', 'c'),
    now: fc.integer({ min: 1, max: 2 ** 31 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50, size: 'max' }), (steps) => {
      let written: Record<string, ZoneVersion> = {};
      const contentOf = new Map<number, string>();
      let last: number | undefined;
      for (const { content, now } of steps) {
        written = { ...written, ...nextSerials(written, new Map([['z', content]]), now) };
        const { serial } = written['z']!;
        // The first has none before it, however far from 0 it is.
        assert.ok(last === undefined || serial === last || isLater(serial, last));
        assert.equal(contentOf.get(serial) ?? content, content);
        contentOf.set((last = serial), content);
      }
    }),
  );
});

test('what somebody else has written there counts for nothing', () => {
  const object = (text: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x' },
    data: { 'serials.json': text },
  });
  for (const text of ['', 'not JSON', '[]', '{"a.test":7}', '{"a.test":{"serial":-1,"content":""}}'])
    assert.deepEqual(readSerials(object(text)), {}, text);
  assert.deepEqual(readSerials(undefined), {});
});
