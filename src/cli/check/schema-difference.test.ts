import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { KINDS } from '../../resources/registry.ts';
import { droppedFields, refusedValues } from './schema-difference.ts';

suite('fields that a schema drops', () => {
  test('a schema drops nothing of its own', () => {
    for (const kind of KINDS) assert.deepEqual(droppedFields(kind.structural(), kind.structural()), []);
  });

  test('a field stands for what is below it; lists and maps are looked into', () => {
    const text = { type: 'string' };
    const ours = {
      properties: {
        a: { properties: { b: text, c: text } },
        list: { items: { properties: { x: text, y: text } } },
        map: { additionalProperties: { properties: { z: text } } },
        free: { properties: { any: text } },
      },
    };
    const theirs = {
      properties: {
        list: { items: { properties: { x: text } } },
        map: { additionalProperties: { properties: {} } },
        free: { 'x-kubernetes-preserve-unknown-fields': true as const },
      },
    };
    assert.deepEqual(droppedFields(ours, theirs), ['a', 'list[].y', 'map.*.z']);
  });
});

test('values that a schema refuses are named; one that lists none refuses none', () => {
  const type = (...values: string[]) => ({ properties: { list: { items: { properties: { type: { enum: values } } } } } }); // prettier-ignore
  assert.deepEqual(refusedValues(type('a', 'b', 'c'), type('a', 'z')), ['list[].type: b', 'list[].type: c']);
  assert.deepEqual(refusedValues(type('a'), { properties: {} }), []);
  for (const kind of KINDS) assert.deepEqual(refusedValues(kind.structural(), kind.structural()), []);
});
