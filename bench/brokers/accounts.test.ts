import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedTo, sumOf } from './accounts.ts';

test('a metric is summed over its labels, and not with others that begin like it', () => {
  const text = '# HELP a_total x\na_total{verb="get"} 3\na_total{verb="list"} 4\na_total_more 5\nb 6\n';
  assert.equal(sumOf(text, 'a_total'), 7);
  assert.equal(sumOf(text, 'b'), 6);
  assert.equal(sumOf(text, 'none'), 0);
});

test('what was written since is told as often as it was written, in whatever order the log has it', () => {
  assert.deepEqual(addedTo(['pods d/a', 'pods d/b'], ['pods d/b', 'pods d/a', 'pods d/a']), ['pods d/a']);
  assert.deepEqual(addedTo(['pods d/a'], ['pods d/a']), []);
});
