import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { createShardedMap } from './sharded-map.ts';

test('it holds what a Map holds', () => {
  const change = fc.tuple(fc.string({ maxLength: 2 }), fc.option(fc.nat(), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const [ours, plain] = [createShardedMap<number>(), new Map<string, number>()];
      for (const [key, value] of changes) {
        if (value === undefined) assert.equal(ours.delete(key), plain.delete(key));
        else for (const map of [ours, plain]) map.set(key, value);
        assert.deepEqual([ours.get(key), ours.has(key)], [plain.get(key), plain.has(key)]);
      }
      assert.equal(ours.size, plain.size);
      assert.deepEqual(new Map(ours), plain);
      assert.deepEqual([[...ours.keys()].length, [...ours.values()].length], [plain.size, plain.size]);
    }),
  );
});

test('keys that differ in a number are spread over all parts, so that no part grows with all the others', () => {
  const seen = new Map<string, number>();
  const map = createShardedMap<number>();
  for (let i = 0; i < 64_000; i++) map.set(`Service default/s${i}`, i);
  // The keys of one part come one after the other.
  let last = '';
  let longest = 0;
  let run = 0;
  for (const [key, i] of map) {
    run = i > (seen.get(last) ?? -1) ? run + 1 : 1;
    longest = Math.max(longest, run);
    seen.set((last = key), i);
  }
  assert.ok(longest < 2000, `${longest} of 64,000 keys are in one part`);
});
