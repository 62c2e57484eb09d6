import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedMap } from '../../ops/bounded-map.ts';
import { learnTopic } from './topic-names.ts';

test('an id belongs to the topic that had it first; what is no topic is not kept', () => {
  const names = new BoundedMap<string, string>(2);
  assert.equal(learnTopic(names, 'one', 'secret'), true);
  assert.equal(learnTopic(names, 'one', 'secret'), true);
  assert.equal(learnTopic(names, 'one', 'public'), false);
  assert.equal(names.get('one'), 'secret');
  assert.equal(learnTopic(names, 'two', 'secret'), true); // deleted, and created again
  for (const [id, name] of [
    ['three', null],
    ['three', ''],
    ['three', 'x'.repeat(250)],
    ['AAAAAAAAAAAAAAAAAAAAAA', 'of a broker without ids'],
  ] as const)
    assert.equal(learnTopic(names, id, name), true);
  assert.deepEqual([...names.keys()], ['one', 'two']);
});

test('an id that had to make room for others is believed anew; one that is named again and again stays', () => {
  const names = new BoundedMap<string, string>(2);
  for (const id of ['old', 'used', 'new']) {
    learnTopic(names, 'used', 'public');
    learnTopic(names, id, id === 'used' ? 'public' : 'secret');
  }
  assert.equal(learnTopic(names, 'used', 'secret'), false);
  assert.equal(learnTopic(names, 'old', 'public'), true);
});
