import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostsText, namesOf } from './hosts.ts';
import type { Pod, Service } from './types.ts';

const pod = (name: string, podIP: string, ready: boolean, more: object = {}): Pod => ({
  metadata: { name, namespace: 'ns', uid: name, labels: { app: 'kafka' }, ...more },
  spec: { hostname: name, subdomain: 'brokers', containers: [] },
  status: { podIP, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});

const service = (name: string, spec: Partial<Service['spec']>, namespace = 'ns'): Service => ({
  metadata: { name, namespace, uid: name },
  spec: { selector: { app: 'kafka' }, ...spec },
});

const PODS = [pod('k-0', '127.1.0.1', true), pod('k-1', '127.1.0.2', false)];

test('a headless Service names its pods, those that are not ready only if it says so', () => {
  const headless = (publishNotReadyAddresses: boolean) =>
    namesOf(PODS, [service('brokers', { clusterIP: 'None', publishNotReadyAddresses })]);
  assert.deepEqual(headless(true).get('k-1.brokers.ns.svc'), ['127.1.0.2']);
  assert.deepEqual(headless(true).get('brokers.ns.svc.cluster.local'), ['127.1.0.1', '127.1.0.2']);
  assert.equal(headless(false).get('k-1.brokers.ns.svc'), undefined);
  assert.deepEqual(headless(false).get('k-0.brokers.ns.svc.cluster.local'), ['127.1.0.1']);
});

test('without its Service a pod has no name, and another namespace has none of it', () => {
  assert.equal(namesOf(PODS, []).size, 0);
  assert.equal(namesOf(PODS, [service('brokers', { clusterIP: 'None' }, 'other')]).size, 0);
});

test('another Service stands for the pods that serve', () => {
  const going = pod('k-2', '127.1.0.3', true, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  const names = namesOf([...PODS, going], [service('bootstrap', { clusterIP: '10.96.0.7' })]);
  assert.equal(
    hostsText(names),
    '127.0.0.1 localhost\n127.1.0.1 bootstrap.ns.svc\n127.1.0.1 bootstrap.ns.svc.cluster.local\n',
  );
});
