import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterCaName, isSecretOf, operatorCertsName, podName, trustBundleName } from './names.ts';

test('the Secrets of a cluster are known by their names, and no others are', () => {
  for (const name of [
    clusterCaName('events'),
    trustBundleName('events'),
    operatorCertsName('events'),
    podName('events', 'dual', 0),
    podName('events', 'a-pool', 12),
  ])
    assert.ok(isSecretOf('events', name), name);
  for (const name of ['events', 'other-cluster-ca', 'events-notes', 'my-events-dual-0', 'events-dual-'])
    assert.ok(!isSecretOf('events', name), name);
});
