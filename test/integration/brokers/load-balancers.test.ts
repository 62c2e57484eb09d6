/**
 * A broker behind load balancers, reached by a client that knows its names alone. The cloud that gives them addresses cannot be had: the
 * test writes the status of the Services in its place, with the address of the pod, where the port is the same.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { probeCluster } from '../../../src/probe/cluster.ts';
import { findingsOf } from '../../../src/probe/findings.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const SUBDOMAIN = 'kafka.example.test';
const PLAIN = { name: 'plain', port: 9092, type: 'internal', tls: false };
const BALANCED = {
  name: 'ext',
  port: 9094,
  type: 'loadbalancer',
  tls: true,
  configuration: { subdomain: SUBDOMAIN },
};
const SERVICES = ['lb-kafka-ext-bootstrap', 'lb-dual-ext-0'];

interface Listener {
  name: string;
  bootstrapServers: string;
  certificates?: string[];
}

describe('brokers behind load balancers', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: [{ name: 'a' }] });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const addressesOf = async (host: string): Promise<string[]> => {
    const endpoint = await bed.client.get(
      { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' },
      { namespace: 'default', name: 'lb-kafka-ext' },
    );
    const { endpoints = [] } = (endpoint?.['spec'] ?? {}) as {
      endpoints?: { dnsName: string; targets: string[] }[];
    };
    return endpoints.flatMap(({ dnsName, targets }) => (dnsName === host ? targets : []));
  };

  test('are reached by their names, as soon as these lead to an address', async () => {
    await bed.apply(kafka('lb', { listeners: [PLAIN, BALANCED] }), nodePool('lb', 'dual'));
    const isPending = async () => (await bed.condition('lb', 'Ready'))?.reason === 'LoadBalancerPending';
    await waitFor('nothing but load balancers is waited for', isPending, PATIENCE);
    const { status } = (await bed.get('Pod', 'lb-dual-0')) as unknown as { status: { podIP: string } };
    for (const name of SERVICES) await bed.giveAddress(name, status.podIP);
    const ready = (await bed.untilReady('lb')) as unknown as { status: { listeners: Listener[] } };
    const { bootstrapServers, certificates } = ready.status.listeners.find(({ name }) => name === 'ext')!;
    assert.equal(bootstrapServers, `bootstrap.${SUBDOMAIN}:9094`);
    const options = { resolve: addressesOf, tls: { ca: certificates!.join('') }, timeoutMs: 60_000 };
    const probed = await probeCluster([{ host: `bootstrap.${SUBDOMAIN}`, port: 9094 }], options);
    assert.deepEqual(findingsOf(probed), []);
    assert.deepEqual(
      probed.brokers.map(({ nodeId, host, port }) => [nodeId, host, port]),
      [[0, `0.${SUBDOMAIN}`, 9094]],
    );
  });

  test('have none any more when the listener is gone', async () => {
    await bed.apply(kafka('lb', { listeners: [PLAIN] }));
    const areGone = async () =>
      (await Promise.all(SERVICES.map((name) => bed.get('Service', name)))).every((one) => one === undefined);
    await waitFor('the Services to be deleted', areGone, PATIENCE);
    assert.ok(await bed.get('Service', 'lb-kafka-bootstrap'), 'the others stay');
    const isEmptied = async () => (await addressesOf(`0.${SUBDOMAIN}`)).length === 0;
    await waitFor('the records to be gone', isEmptied, PATIENCE);
  });
});
