import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedMap } from './bounded-map.ts';

test('a full map forgets what was set longest ago', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  assert.deepEqual(
    [...map],
    [
      ['a', 3],
      ['c', 4],
    ],
  );
});

test('undefined is a value like any other', () => {
  const map = new BoundedMap<string | undefined, undefined>(1);
  map.set(undefined, undefined).set('a', undefined);
  assert.deepEqual([...map.keys()], ['a']);
});
