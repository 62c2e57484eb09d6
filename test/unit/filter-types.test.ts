/** What the resources say of filters' secret fields is what the filters themselves say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FILTER_TYPES, loadFilterType } from '../../src/proxy/filters/registry.ts';
import { secretFieldsOf } from '../../src/resources/kroxylicious/filter-types.ts';

for (const names of FILTER_TYPES)
  test(`placeholders are allowed where ${names[0]} has its secrets, by each of its names`, async () => {
    const { secretFields = [] } = await loadFilterType(names[0]!);
    for (const name of names) assert.deepEqual(secretFieldsOf(name, []), secretFields);
  });

test('a filter of a user’s own has those that an admin names', () => {
  const modules = [{ name: 'a', secretFields: ['x.y'] }, { name: 'b' }];
  assert.deepEqual(secretFieldsOf('module:a', modules), ['x.y']);
  assert.deepEqual(secretFieldsOf('module:b', modules), []);
  assert.deepEqual(secretFieldsOf('module:c', modules), []);
  assert.deepEqual(secretFieldsOf('nothing', modules), []);
});
