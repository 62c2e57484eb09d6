import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterWith, poolWith } from '../../../../test/support/brokers/models.ts';
import { exposedNames } from './certificate-names.ts';

test('names that clients use are in the certificates of brokers, and only for listeners with TLS', () => {
  const listener = (name: string, tls: boolean, alternativeNames: string[]) => ({
    ...clusterWith({}).listeners[0]!,
    name,
    tls,
    alternativeNames,
  });
  const cluster = clusterWith({
    pools: [poolWith('b', [0], ['broker']), poolWith('c', [1], ['controller'])],
    listeners: [listener('tls', true, ['kafka.example.com', '192.0.2.1']), listener('plain', false, ['no'])],
  });
  assert.deepEqual(exposedNames(cluster, 'events-b-0', {}), ['kafka.example.com', '192.0.2.1']);
  assert.deepEqual(exposedNames(cluster, 'events-c-1', {}), []);
});
