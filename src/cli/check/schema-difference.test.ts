import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { KINDS } from '../../resources/registry.ts';
import { droppedFields } from './schema-difference.ts';

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
