import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AnyObject } from '../../src/kube/object.ts';
import { manifestsOf } from './manifests.ts';

const served = (kind: string, name: string, rest: object = {}): AnyObject => ({
  apiVersion: 'v1',
  kind,
  metadata: {
    name,
    namespace: 'default',
    labels: { app: 'kafka' },
    uid: 'u',
    resourceVersion: '1',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Kafka', name: 'one', uid: 'k' }],
  },
  ...rest,
});
const written = { namespace: 'default', labels: { app: 'kafka' } };

suite('manifests by hand', () => {
  test('have nothing that only a server says, and no owner', () => {
    const [claim] = manifestsOf([
      served('PersistentVolumeClaim', 'data-0', {
        spec: { volumeName: 'v', x: 1 },
        status: { phase: 'Bound' },
      }),
    ]);
    assert.deepEqual(claim, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data-0', ...written },
      spec: { x: 1 },
    });
  });

  test('keep a Service headless that is, and ask for an address otherwise', () => {
    const specs = manifestsOf([
      served('Service', 'nodes', { spec: { clusterIP: 'None', clusterIPs: ['None'], ports: [] } }),
      served('Service', 'bootstrap', {
        spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [] },
      }),
    ]).map(({ ['spec']: spec }) => spec);
    assert.deepEqual(specs, [{ clusterIP: 'None', ports: [] }, { ports: [] }]);
  });

  test('take pods as their set lists them, after everything that they need', () => {
    const listed = { metadata: { name: 'one-0', annotations: { a: 'b' } }, spec: { containers: [] } };
    const manifests = manifestsOf([
      served('StrimziPodSet', 'one', { spec: { pods: [listed] } }),
      served('Pod', 'one-0', { spec: { nodeName: 'a' } }),
      served('Secret', 'one-0', { data: { k: 'eA==' } }),
      served('Kafka', 'one'),
    ]);
    assert.deepEqual(manifests, [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one-0', ...written }, data: { k: 'eA==' } },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'one-0', namespace: 'default', annotations: { a: 'b' } },
        spec: { containers: [] },
      },
    ]);
  });
});
