import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selects } from './selector.ts';

test('a label selector means what it means to Kubernetes', () => {
  const labels = { team: 'a', stage: 'prod' };
  const by = (key: string, operator: string, values?: string[]) => ({
    matchExpressions: [{ key, operator, ...(values && { values }) }],
  });
  assert.ok(selects({}, labels));
  assert.ok(!selects(undefined, labels));
  assert.ok(selects({ matchLabels: { team: 'a' } }, labels));
  assert.ok(!selects({ matchLabels: { team: 'a', stage: 'test' } }, labels));
  assert.ok(selects(by('team', 'In', ['a', 'b']), labels));
  assert.ok(!selects(by('none', 'In', ['a']), labels));
  assert.ok(selects(by('none', 'NotIn', ['a']), labels));
  assert.ok(!selects(by('team', 'NotIn', ['a']), labels));
  assert.ok(selects(by('team', 'Exists'), labels));
  assert.ok(selects(by('none', 'DoesNotExist'), labels));
  assert.ok(!selects(by('team', 'Unheard'), labels));
});
