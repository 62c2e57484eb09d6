/**
 * Exposure that is switched on while a cluster runs, changed and switched off: who is restarted for it, and what clients outside find.
 * The first part goes without names: clients are told addresses of nodes, which are in the certificates.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { probeCluster } from '../../../src/probe/cluster.ts';
import { findingsOf } from '../../../src/probe/findings.ts';
import type { ProbedCluster } from '../../../src/probe/probed.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const CONTROLLER = 'in-control-0';
const BROKER = 'in-work-1';
const PLAIN = { name: 'plain', port: 9092, type: 'internal', tls: false };
const exposed = (configuration: object) => ({
  listeners: [PLAIN, { name: 'ext', port: 9094, type: 'hostport', tls: true, configuration }],
});
const workers = (replicas: number) => nodePool('in', 'work', { roles: ['broker'], replicas });

const DNS_ENDPOINT = { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' };

interface DnsRecord {
  dnsName: string;
  recordType: string;
  targets: string[];
}

interface Listener {
  name: string;
  bootstrapServers: string;
  certificates?: string[];
}

describe('exposure that is changed while a cluster runs', () => {
  let bed: Bed;
  let controller: string | undefined;
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b', 'c'].map((name) => ({ name })) });
    await bed.apply(kafka('in', { listeners: [PLAIN] }), nodePool('in', 'control', { roles: ['controller'] }), workers(1)); // prettier-ignore
    await bed.untilReady('in');
    controller = await bed.podUid(CONTROLLER);
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const outside = async (): Promise<Listener | undefined> => {
    const { status } = (await bed.untilReady('in')) as unknown as { status: { listeners: Listener[] } };
    return status.listeners.find(({ name }) => name === 'ext');
  };
  const nodeOf = async (pod: string) => {
    const { nodeName } = ((await bed.get('Pod', pod))?.['spec'] ?? {}) as { nodeName?: string };
    return bed.runner.nodes.find(({ name }) => name === nodeName);
  };
  const annotationOf = async (pod: string, name: string) =>
    (await bed.get('Pod', pod))?.metadata.annotations?.[name];
  const probe = async (hosts: (host: string) => Promise<string[]>): Promise<ProbedCluster | undefined> => {
    const { bootstrapServers = '', certificates = [] } = (await outside()) ?? {};
    const [, bracketed, plain = '', port] = /^(?:\[(.*)\]|(.*)):(\d+)$/.exec(bootstrapServers) ?? [];
    const host = bracketed ?? plain;
    if (host === '') return undefined;
    const tls = { ca: certificates.join('') };
    return probeCluster([{ host, port: Number(port) }], { resolve: hosts, tls, timeoutMs: 60_000 });
  };
  /** Until a client that trusts the cluster's CA gets to the one broker, by what it is told. */
  const untilReached = async (told: (host: string) => boolean, hosts = async (host: string) => [host]) => {
    let last: ProbedCluster | undefined;
    const isReached = async () => {
      last = await probe(hosts);
      const [one] = last?.brokers ?? [];
      return one !== undefined && told(one.host) && findingsOf(last!).length === 0;
    };
    await waitFor('the broker is reached', isReached, PATIENCE).catch((error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(last)}`),
    );
  };
  /** Applies something, and waits until the broker is another pod than before. */
  const untilRolled = async (...objects: object[]) => {
    const uid = await bed.podUid(BROKER);
    await bed.apply(...objects);
    const isAnother = async () => ![undefined, uid].includes(await bed.podUid(BROKER));
    await waitFor('the broker is restarted', isAnother, PATIENCE);
    await bed.untilReady('in');
    assert.equal(await bed.podUid(CONTROLLER), controller, 'the controller is not');
  };

  test('switched on: brokers are restarted, and tell the address of their node', async () => {
    await untilRolled(kafka('in', exposed({})));
    const node = await nodeOf(BROKER);
    await untilReached((host) => host === node?.external);
  });

  test('a broker that moves has its new address in the certificate without another restart', async () => {
    const left = await nodeOf(BROKER);
    await bed.runner.cordon(left!.name);
    const uid = await bed.podUid(BROKER);
    const pod = { group: '', version: 'v1', kind: 'Pod' };
    await bed.client.delete(pod, { namespace: 'default', name: BROKER });
    const hasMoved = async () => {
      const [now, at] = [await bed.podUid(BROKER), await nodeOf(BROKER)];
      return now !== undefined && now !== uid && at !== undefined ? now : undefined;
    };
    const moved = await waitFor('the broker has moved', hasMoved, PATIENCE);
    const node = await nodeOf(BROKER);
    assert.notEqual(node?.name, left?.name);
    await untilReached((host) => host === node?.external);
    assert.equal(await bed.podUid(BROKER), moved);
    await bed.runner.cordon(left!.name, false);
  });

  test('another address of its node that clients are to be told: it is restarted for that', async () => {
    await untilRolled(kafka('in', exposed({ preferredAddressType: 'InternalIP' })));
    const node = await nodeOf(BROKER);
    await untilReached((host) => host === node?.internal);
    assert.equal(await annotationOf(BROKER, 'isthmus.dev/told-address'), node?.internal);
  });

  test('a node that is given another address, of the other family: it is restarted, and tells that', async () => {
    await untilRolled(kafka('in', exposed({})));
    const uid = await bed.podUid(BROKER);
    const node = (await nodeOf(BROKER))!;
    await bed.runner.readdress(node.name, 'v6');
    const isAnother = async () => ![undefined, uid].includes(await bed.podUid(BROKER));
    await waitFor('the broker is restarted', isAnother, PATIENCE);
    await bed.untilReady('in');
    assert.equal((await nodeOf(BROKER))?.name, node.name, 'where it was');
    await untilReached((host) => host === '::1');
    assert.match((await outside())!.bootstrapServers, /^\[::1\]:\d+$/);
    assert.equal(await bed.podUid(CONTROLLER), controller);
  });

  test('names instead, and others: brokers are restarted, and no controller', async () => {
    const lead = async () => [(await nodeOf(BROKER))!.external];
    for (const subdomain of ['a.example.test', 'b.example.test']) {
      await untilRolled(kafka('in', exposed({ subdomain })));
      await untilReached((host) => host === `1.${subdomain}`, lead);
    }
  });

  test('addresses of both families, given to its node while it runs: two records, and nobody is restarted', async () => {
    const uids = () => Promise.all([CONTROLLER, BROKER].map((pod) => bed.podUid(pod)));
    const before = await uids();
    const node = (await nodeOf(BROKER))!;
    await bed.runner.readdress(node.name, 'both');
    const records = async () => {
      const found = await bed.client.get(DNS_ENDPOINT, { namespace: 'default', name: 'in-kafka-ext' });
      const { endpoints = [] } = (found?.['spec'] ?? {}) as { endpoints?: DnsRecord[] };
      return endpoints.map(({ dnsName, recordType, targets }) => [dnsName, recordType, ...targets].join(' '));
    };
    const expected = ['bootstrap', '1'].flatMap((id) => [`${id}.b.example.test A ${node.external}`, `${id}.b.example.test AAAA ::1`]); // prettier-ignore
    await waitFor(
      'the records say so',
      async () => (await records()).join() === expected.join(),
      PATIENCE,
    ).catch(async (error: unknown) => assert.fail(`${String(error)}: ${(await records()).join()}`));
    const byBoth = async () => [node.external, '::1'];
    await untilReached((host) => host === '1.b.example.test', byBoth);
    assert.deepEqual(await uids(), before);
  });

  test('scaled up and down: nobody that stays is restarted', async () => {
    const uids = () => Promise.all([CONTROLLER, BROKER].map((pod) => bed.podUid(pod)));
    const before = await uids();
    await bed.apply(workers(2));
    const isThere = async () => (await bed.podUid('in-work-2')) !== undefined;
    await waitFor('there is one more', isThere, PATIENCE);
    await bed.untilReady('in');
    await bed.apply(workers(1));
    await waitFor('it is gone again', async () => !(await isThere()), PATIENCE);
    await bed.untilReady('in');
    assert.deepEqual(await uids(), before);
  });

  test('switched off: brokers are restarted, without the listener', async () => {
    await untilRolled(kafka('in', { listeners: [PLAIN] }));
    assert.equal(await outside(), undefined);
  });
});
