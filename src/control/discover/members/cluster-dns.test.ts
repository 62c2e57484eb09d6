import assert from 'node:assert/strict';
import test from 'node:test';
import { clusterDnsAddresses } from './cluster-dns.ts';
import type { EndpointSlice } from '../objects.ts';

test('the addresses of the pods of the cluster’s DNS, whatever it is called, each once', () => {
  const slice = (...addresses: string[]) =>
    ({
      endpoints: [{ addresses }, { addresses: ['203.0.113.9'], conditions: { ready: false } }],
    }) as EndpointSlice;
  const slices: Record<string, EndpointSlice[]> = {
    'kube-system/kube-dns': [slice('203.0.113.7'), slice('2001:db8::7')],
    'openshift-dns/dns-default': [slice('203.0.113.8')],
    'kube-system/node-local-dns': [slice('198.51.100.4')],
    'default/web': [slice('203.0.113.66')],
  };
  assert.deepEqual(
    clusterDnsAddresses((key) => slices[key] ?? []),
    ['198.51.100.4', '2001:db8::7', '203.0.113.7', '203.0.113.8', '203.0.113.9'],
  );
  assert.deepEqual(
    clusterDnsAddresses(() => []),
    [],
  );
});
