import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { planToldPod } from './told-pod.ts';

const NODE = {
  name: 'n1',
  labels: { 'topology.kubernetes.io/zone': 'z1' },
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
};
const pod = (annotations: Record<string, string> = {}, rest: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u', annotations, ...rest },
});
const TOLD = {
  'isthmus.dev/node-name': 'n1',
  'isthmus.dev/node-zone': 'z1',
  'isthmus.dev/node-address': '10.0.0.1',
  'isthmus.dev/node-addresses': '[{"type":"InternalIP","address":"10.0.0.1"}]',
  'isthmus.dev/told-address': '10.0.0.1',
};

suite('a pod of no set that is to be told about its node', () => {
  test('is told once, and again when it differs', () => {
    assert.deepEqual(planToldPod({ pod: pod(), node: NODE }).actions, [
      { do: 'annotate', name: 'p', uid: 'u', annotations: TOLD },
    ]);
    assert.deepEqual(planToldPod({ pod: pod(TOLD), node: NODE }).actions, []);
    const moved = { ...TOLD, 'isthmus.dev/node-zone': 'z0' };
    assert.deepEqual(planToldPod({ pod: pod(moved), node: NODE }).actions, [
      { do: 'annotate', name: 'p', uid: 'u', annotations: { 'isthmus.dev/node-zone': 'z1' } },
    ]);
  });

  test('knows which address it was told first, when its node has another', () => {
    const node = { ...NODE, addresses: [{ type: 'InternalIP', address: '10.0.0.9' }] };
    const [action] = planToldPod({ pod: pod(TOLD), node }).actions;
    assert.deepEqual((action as { annotations: object }).annotations, {
      'isthmus.dev/node-address': '10.0.0.9',
      'isthmus.dev/node-addresses': '[{"type":"InternalIP","address":"10.0.0.9"}]',
    });
  });

  test('is told the address that it prefers, and no labels of its node', () => {
    const external = { type: 'ExternalIP', address: '192.0.2.1' };
    const node = { ...NODE, labels: { a: 'b' }, addresses: [...NODE.addresses, external] };
    const told = (annotations: Record<string, string>) => {
      const [action] = planToldPod({ pod: pod(annotations), node }).actions;
      return (action as { annotations: Record<string, string> }).annotations;
    };
    assert.equal(told({})['isthmus.dev/node-address'], '192.0.2.1');
    const asked = { 'isthmus.dev/preferred-address-type': 'InternalIP', 'isthmus.dev/node-labels': 'a' };
    assert.equal(told(asked)['isthmus.dev/node-address'], '10.0.0.1');
    assert.ok(!JSON.stringify(told(asked)).includes('node-label.a'));
  });

  test('is left alone without a node, and when it goes', () => {
    assert.deepEqual(planToldPod({ pod: pod(), node: undefined }).actions, []);
    const going = pod({}, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    assert.deepEqual(planToldPod({ pod: going, node: NODE }).actions, []);
    assert.deepEqual(planToldPod({ pod: undefined, node: NODE }).actions, []);
  });
});
