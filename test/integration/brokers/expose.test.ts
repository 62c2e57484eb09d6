/**
 * Brokers that are reached by a port of their node and a name of their own, by a client that knows nothing else. Names are resolved
 * by the DNSEndpoints themselves: who publishes them is not the matter here.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { probeCluster } from '../../../src/probe/cluster.ts';
import { findingsOf } from '../../../src/probe/findings.ts';
import type { ProbedCluster } from '../../../src/probe/probed.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const SUBDOMAIN = 'kafka.example.test';
const exposed = {
  listeners: [
    { name: 'plain', port: 9092, type: 'internal', tls: false },
    { name: 'ext', port: 9094, type: 'hostport', tls: true, configuration: { subdomain: SUBDOMAIN } },
  ],
};

interface Listener {
  name: string;
  bootstrapServers: string;
  certificates?: string[];
}

describe('exposed brokers', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b', 'c'].map((name) => ({ name })) });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const endpoint = () =>
    bed.client.get(
      { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' },
      { namespace: 'default', name: 'out-kafka-ext' },
    );
  const addressesOf = async (host: string): Promise<string[]> => {
    const { endpoints = [] } = ((await endpoint())?.['spec'] ?? {}) as {
      endpoints?: { dnsName: string; targets: string[] }[];
    };
    const found = endpoints.flatMap(({ dnsName, targets }) => (dnsName === host ? targets : []));
    if (found.length === 0) throw new Error(`no record for ${host}`);
    return found;
  };
  const outside = async (): Promise<Listener> => {
    const { status } = (await bed.untilReady('out')) as unknown as { status: { listeners: Listener[] } };
    return status.listeners.find(({ name }) => name === 'ext')!;
  };
  const probe = async (): Promise<ProbedCluster> => {
    const { bootstrapServers, certificates } = await outside();
    const [host = '', port] = bootstrapServers.split(':');
    const tls = { ca: certificates!.join('') };
    return probeCluster([{ host, port: Number(port) }], { resolve: addressesOf, tls, timeoutMs: 60_000 });
  };
  /** Until a client gets to both brokers, and each is who it should be. */
  const untilReached = async () => {
    let last: ProbedCluster | undefined;
    const isReached = async () => {
      last = await probe();
      return last.brokers.length === 2 && findingsOf(last).length === 0;
    };
    await waitFor('both brokers are reached', isReached, PATIENCE).catch((error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(last && findingsOf(last))}`),
    );
    return last!;
  };
  const nodeOf = async (pod: string) =>
    ((await bed.get('Pod', pod))?.['spec'] as { nodeName?: string } | undefined)?.nodeName;

  test('are reached straight, each by its name, with a certificate that fits', async () => {
    await bed.apply(
      kafka('out', exposed),
      nodePool('out', 'dual'),
      nodePool('out', 'more', { roles: ['broker'] }),
    );
    const probed = await untilReached();
    assert.deepEqual(
      probed.brokers.map(({ nodeId, host }) => [nodeId, host]),
      [0, 1].map((id) => [id, `${id}.${SUBDOMAIN}`]),
    );
    assert.notEqual(await nodeOf('out-dual-0'), await nodeOf('out-more-1'), 'one of them a node');
  });

  test('keep their port when the Service is deleted, and when the operator is started again', async () => {
    const { bootstrapServers } = await outside();
    await bed.client.delete(
      { group: '', version: 'v1', kind: 'Service' },
      { namespace: 'default', name: 'out-kafka-ext-hostport' },
    );
    const portOf = async () => {
      const { ports = [] } = ((await bed.get('Service', 'out-kafka-ext-hostport'))?.['spec'] ?? {}) as {
        ports?: { nodePort: number }[];
      };
      return ports[0]?.nodePort;
    };
    const isBack = async () => bootstrapServers.endsWith(`:${await portOf()}`);
    await waitFor('the Service is back with its number', isBack, PATIENCE);
    const uids = await Promise.all(['out-dual-0', 'out-more-1'].map((pod) => bed.podUid(pod)));
    await bed.restartOperator();
    assert.equal((await outside()).bootstrapServers, bootstrapServers);
    assert.deepEqual(await Promise.all(['out-dual-0', 'out-more-1'].map((pod) => bed.podUid(pod))), uids);
  });

  test('one that moves is found where it is, and only its record changes', async () => {
    const [before, left] = [await addressesOf(`1.${SUBDOMAIN}`), await nodeOf('out-more-1')];
    const stays = await addressesOf(`0.${SUBDOMAIN}`);
    await bed.runner.cordon(left!);
    await bed.client.delete(
      { group: '', version: 'v1', kind: 'Pod' },
      { namespace: 'default', name: 'out-more-1' },
    );
    const hasMoved = async () => {
      const now = await addressesOf(`1.${SUBDOMAIN}`).catch(() => before);
      return now.join() !== before.join();
    };
    await waitFor('the record has changed', hasMoved, PATIENCE);
    await untilReached();
    assert.notEqual(await nodeOf('out-more-1'), left);
    assert.deepEqual(await addressesOf(`0.${SUBDOMAIN}`), stays);
  });
});
