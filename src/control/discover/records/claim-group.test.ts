import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { groupOf, namespaceOfGroup, sliceGroupOf } from './claim-group.ts';

suite('claim groups', () => {
  test('say of which namespace they are', () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'shop', namespace: 'team-a' } };
    assert.equal(namespaceOfGroup(groupOf(service)), 'team-a');
    assert.equal(namespaceOfGroup(sliceGroupOf('*.b.example.test', 'team-b')), 'team-b');
  });

  test('of an exported service, or of what somebody else wrote, say nothing', () => {
    for (const group of [
      'exported team-a/shop',
      'Service',
      'Service team-a',
      'EndpointSlices of x',
      '{"a": 1}',
    ])
      assert.equal(namespaceOfGroup(group), undefined, group);
  });
});
