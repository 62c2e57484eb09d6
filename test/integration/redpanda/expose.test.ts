/**
 * A Redpanda cluster that is opened to clients outside while it runs, by names and by addresses of its nodes, and closed again. The
 * stand-in listens and tells addresses as the rendered `redpanda.yaml` says, so that a wrong one keeps the client out.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { probeCluster } from '../../../src/probe/cluster.ts';
import { findingsOf } from '../../../src/probe/findings.ts';
import type { ProbedCluster } from '../../../src/probe/probed.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import { startOurs } from '../dns/server.ts';
import type { TestServer } from '../dns/server.ts';
import { PATIENCE } from '../brokers/fixture.ts';
import type { Bed } from '../brokers/fixture.ts';
import { cluster, podUids, startPlane, startRedpandaBed, untilCondition, untilQuiescent } from './fixture.ts';
import type { Condition } from './fixture.ts';

const SUBDOMAIN = 'panda.example.test';
const MOVED = `moved.${SUBDOMAIN}`;
const SERVICE = { group: '', version: 'v1', kind: 'Service' };
const POD = { group: '', version: 'v1', kind: 'Pod' };
const TLS = { enabled: true, nodeSecretRef: { name: 'panda-tls' } };
const NAMED = { tls: TLS, external: { enabled: true, subdomain: SUBDOMAIN } };
const BY_ADDRESS = { external: { enabled: true, portStrategy: 'range' } };

interface Endpoint {
  dnsName: string;
  recordType: 'A' | 'AAAA';
  targets: string[];
}

interface Told {
  name: string;
  expected: string[];
  reached: boolean;
  failed?: string;
  problem?: string;
}

describe('an exposed Redpanda cluster', () => {
  let bed: Bed;
  let authority: Authority;
  /** What the operator resolves names by. */
  let dns: TestServer;
  /** Of the brokers that there are. */
  let ids = [0, 1, 2];
  before(async () => {
    authority = await createAuthority('clients of panda');
    dns = await startOurs({ zones: [{ name: SUBDOMAIN, nameservers: [`ns.${SUBDOMAIN}`] }] });
    const operator = { probeResolver: `127.0.0.1:${dns.port}` };
    // One more than brokers at last, for the one that moves.
    const nodes = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, zone: `zone-${name}` }));
    bed = await startRedpandaBed(await startPlane(), { nodes, operator });
    const names = ['bootstrap', ...ids, 3].flatMap((id) => [`${id}.${SUBDOMAIN}`, `${id}.${MOVED}`]);
    const { certPem, keyPem } = await authority.issue({ commonName: 'panda', dns: names });
    const data = { 'tls.crt': btoa(certPem), 'tls.key': btoa(keyPem) };
    await bed.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'panda-tls', namespace: 'default' }, data }); // prettier-ignore
  });
  after(async () => {
    await bed?.[Symbol.asyncDispose]();
    await dns?.close();
  });

  const panda = (external?: object) =>
    cluster(
      'panda',
      { replicas: ids.length },
      { kafkaApi: [{ port: 9092 }, ...(external ? [external] : [])] },
    );
  const target = () => ({
    bootstrap: 'panda-cluster.default.svc:9092',
    topic: 'numbers',
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  });
  const records = Array.from({ length: 100 }, (_, n) => ({ key: `k${n}`, value: `v${n}` }));
  const keysOf = (all: readonly { key: string | null }[]) => all.map(({ key }) => key ?? '').toSorted();
  const nothingIsLost = async () =>
    assert.deepEqual(keysOf(await consume('java', { ...target(), count: records.length })), keysOf(records));
  const uids = () => podUids(bed, 'panda', ids.length);

  const dnsRecords = async () => {
    const found = await bed.client.get(
      { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' },
      { namespace: 'default', name: 'panda-external' },
    );
    return ((found?.['spec'] ?? {}) as { endpoints?: Endpoint[] }).endpoints;
  };
  const addressesOf = async (host: string): Promise<string[]> => {
    const found = ((await dnsRecords()) ?? []).flatMap(({ dnsName, targets }) => (dnsName === host ? targets : [])); // prettier-ignore
    if (found.length === 0) throw new Error(`no record for ${host}`);
    return found;
  };
  const nodePort = async () => {
    const { spec } = ((await bed.get('Service', 'panda-external')) ?? {}) as { spec?: { ports: { nodePort: number }[] } }; // prettier-ignore
    return spec?.ports[0]?.nodePort;
  };
  const nodeOf = async (ordinal: number) =>
    ((await bed.get('Pod', `panda-${ordinal}`))?.['spec'] as { nodeName?: string } | undefined)?.nodeName;
  const addressOfNode = async (name: string, type: string) => {
    const node = await bed.client.get({ group: '', version: 'v1', kind: 'Node' }, { name });
    const { addresses } = (node?.['status'] ?? {}) as { addresses?: { type: string; address: string }[] };
    return addresses?.find((one) => one.type === type)?.address;
  };

  /** In the place of external-dns. */
  const publish = async () => {
    const all = ((await dnsRecords()) ?? []).flatMap(({ dnsName: name, recordType: type, targets }) =>
      targets.map((data) => ({ name, type, data, ttl: 1 })),
    );
    assert.deepEqual(dns.upsert('DNSEndpoint default/panda', all), []);
    await dns.settled();
  };
  const anchor = async () =>
    (await bed.get('RedpandaAnchor', 'panda')) as unknown as
      | {
          spec: { ports: { name: string; port: number }[]; names?: { pattern: string; count: number }[] };
          status?: { exposed?: Told[]; conditions?: Condition[] };
        }
      | undefined;
  /** Waits until the operator's probe has found this of all that clients are told. */
  const untilTold = async (what: string, holds: (all: Told[]) => boolean) => {
    const told = async () => (await anchor())?.status?.exposed ?? [];
    await waitFor(what, async () => holds(await told()), PATIENCE).catch(async (error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(await told())}`),
    );
  };

  /** Applies it, and waits until every broker was restarted for it, one at a time. */
  async function rolledTo(external: object | undefined) {
    const old = await uids();
    const seen = new Set<string>();
    await bed.apply(panda(external));
    const areNew = async () => {
      const now = await uids();
      for (const uid of now) if (uid !== undefined) seen.add(uid);
      return now.every((uid, ordinal) => uid !== undefined && uid !== old[ordinal]);
    };
    await waitFor('all brokers were restarted', areNew, PATIENCE);
    const status = await untilQuiescent(bed, 'panda');
    for (const uid of await uids()) seen.add(uid ?? '');
    const later = [...seen].filter((uid) => !old.includes(uid));
    assert.equal(later.length, old.length, 'each of them once');
    return status;
  }

  /** As a client outside that knows one address finds the brokers. */
  async function untilReached(
    first: { host: string; port: number },
    options: Omit<Parameters<typeof probeCluster>[1], 'timeoutMs'>,
  ) {
    let last: ProbedCluster | undefined;
    const isReached = async () => {
      last = await probeCluster([first], { ...options, timeoutMs: 60_000 });
      return last.brokers.length === ids.length && findingsOf(last).length === 0;
    };
    await waitFor('all brokers are reached', isReached, PATIENCE).catch((error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(last && findingsOf(last))}`),
    );
    return last!.brokers.map(({ nodeId, host, port }) => `${nodeId} ${host}:${port}`).toSorted();
  }

  const byNames = async (subdomain = SUBDOMAIN) =>
    untilReached(
      { host: `bootstrap.${subdomain}`, port: (await nodePort())! },
      { resolve: addressesOf, tls: { ca: authority.certPem } },
    );

  test('runs without at first', async () => {
    await bed.apply(panda());
    const { nodes } = await untilQuiescent(bed, 'panda');
    assert.deepEqual(Object.keys(nodes ?? {}), ['internal']);
    await produce('java', { ...target(), records });
  });

  test('is opened while it runs: each broker is reached straight, by its name and with TLS', async () => {
    const before = (await bed.get('Service', 'panda'))?.metadata.resourceVersion;
    const { nodes } = await rolledTo(NAMED);
    const port = await nodePort();
    assert.deepEqual(
      nodes?.external,
      ids.map((id) => `${id}.${SUBDOMAIN}:${port}`),
    );
    assert.equal(nodes.externalBootstrap?.ingress?.[0]?.hostname, `bootstrap.${SUBDOMAIN}`);
    assert.deepEqual(
      await byNames(),
      ids.map((id) => `${id} ${id}.${SUBDOMAIN}:${port}`),
    );
    assert.equal(new Set(await Promise.all(ids.map(nodeOf))).size, 3, 'one of them a node');
    assert.equal(
      (await bed.get('Service', 'panda'))?.metadata.resourceVersion,
      before,
      'inside nothing changed',
    );
    await nothingIsLost();
  });

  test('is probed by the operator: its anchor says how far a client comes, and the Cluster what its CRD has words for', async () => {
    const ends = (at: string) => (all: Told[]) =>
      all.length === 4 && all.every(({ failed }) => failed === at);
    await untilTold('the names have no address', ends('resolve'));
    const isUnreached = ({ status, message }: Condition) => status === 'True' && /resolve: /.test(message);
    await untilCondition(bed, 'panda', 'OperatorQuiescent', isUnreached);
    await publish();
    await untilTold('all are reached', (all) => all.length === 4 && all.every(({ reached }) => reached));
    const { conditions = [] } = (await anchor())!.status!;
    assert.deepEqual(conditions.map(({ type, status }) => [type, status]), [['DNSPropagated', 'True'], ['Reachable', 'True']]); // prettier-ignore
    await untilCondition(bed, 'panda', 'OperatorQuiescent', ({ message }) => message === '');
  });

  test('keeps its port when the Service is deleted, and restarts nobody for that', async () => {
    const [port, before] = [await nodePort(), await uids()];
    await bed.restartOperator({}, () =>
      bed.client.delete(SERVICE, { namespace: 'default', name: 'panda-external' }).then(() => {}),
    );
    await waitFor('the Service is back with its number', async () => (await nodePort()) === port, PATIENCE);
    await untilQuiescent(bed, 'panda');
    assert.deepEqual(await uids(), before);
  });

  test('one broker more has a name and the port of the others, of which none is restarted', async () => {
    const [port, before] = [await nodePort(), await uids()];
    ids = [...ids, 3];
    await bed.apply(panda(NAMED));
    const { nodes } = await untilQuiescent(bed, 'panda');
    const told = ids.map((id) => `${id}.${SUBDOMAIN}:${port}`);
    assert.deepEqual(nodes?.external, told);
    assert.deepEqual(await byNames(), told.map((address, id) => `${id} ${address}`)); // prettier-ignore
    assert.deepEqual((await uids()).slice(0, before.length), before);
    assert.equal((await anchor())?.spec.names?.[0]?.count, 5);
    await nothingIsLost();
  });

  test('one broker that moves is found where it is, and only its record changes', async () => {
    const [stays, left] = [await addressesOf(`0.${SUBDOMAIN}`), await nodeOf(2)];
    const before = await addressesOf(`2.${SUBDOMAIN}`);
    await bed.runner.cordon(left!);
    await bed.client.delete(POD, { namespace: 'default', name: 'panda-2' });
    // Throws where there is no record, even for a moment.
    const hasMoved = async () => (await addressesOf(`2.${SUBDOMAIN}`)).join() !== before.join();
    await waitFor('the record has changed', hasMoved, PATIENCE);
    await byNames();
    assert.deepEqual(await addressesOf(`0.${SUBDOMAIN}`), stays);
    assert.notEqual(await nodeOf(2), left);
    await untilQuiescent(bed, 'panda');
  });

  test('restarts nobody for pods that nobody would let in', async () => {
    const enforce = (value: string) =>
      bed.plane.kubectl(['label', 'namespace/default', `pod-security.kubernetes.io/enforce${value}`]);
    assert.equal((await enforce('=baseline')).code, 0);
    const before = await uids();
    await bed.apply(panda({ ...NAMED, external: { ...NAMED.external, endpointTemplate: 'b-{{.Index}}' } }));
    const { conditions = [] } = await untilCondition(bed, 'panda', 'OperatorQuiescent', ({ reason }) => reason === 'RollBlocked'); // prettier-ignore
    assert.match(JSON.stringify(conditions), /violates PodSecurity .*baseline.*hostPort/);
    assert.deepEqual(await uids(), before);
    assert.equal((await enforce('-')).code, 0);
  });

  test('another subdomain: each broker is restarted once, its port stays, and nothing is left of the names before', async () => {
    const [port, service] = [await nodePort(), await bed.get('Service', 'panda')];
    const { nodes } = await rolledTo({ ...NAMED, external: { enabled: true, subdomain: MOVED } });
    const told = ids.map((id) => `${id}.${MOVED}:${port}`);
    assert.deepEqual(nodes?.external, told);
    assert.deepEqual(await byNames(MOVED), told.map((address, id) => `${id} ${address}`)); // prettier-ignore
    const names = ((await dnsRecords()) ?? []).map(({ dnsName }) => dnsName).toSorted();
    assert.deepEqual(names, [...ids, 'bootstrap'].map((id) => `${id}.${MOVED}`)); // prettier-ignore
    assert.deepEqual((await anchor())?.spec.names?.map(({ pattern }) => pattern), [`$(id).${MOVED}`]); // prettier-ignore
    const inside = await bed.get('Service', 'panda');
    assert.equal(inside?.metadata.resourceVersion, service?.metadata.resourceVersion);
    await nothingIsLost();
  });

  test('without names clients are told the addresses of the nodes, at a port of our choice, and the records go', async () => {
    const { nodes } = await rolledTo(BY_ADDRESS);
    const port = (await anchor())!.spec.ports.find(({ name }) => name.endsWith('.range'))?.port;
    assert.ok(port !== undefined && port >= 16_000 && port < 20_000, String(port));
    const addresses = await Promise.all(
      ids.map(async (id) => addressOfNode((await nodeOf(id))!, 'ExternalIP')),
    );
    const expected = addresses.map((address) => `${address}:${port}`);
    assert.deepEqual(nodes?.external, expected);
    const reached = await untilReached({ host: addresses[1]!, port }, { resolve: async (host) => [host] });
    assert.deepEqual(
      reached,
      expected.map((address, id) => `${id} ${address}`),
    );
    assert.deepEqual((await dnsRecords()) ?? [], []);
    await untilTold('all are reached', (all) => all.length === ids.length && all.every((one) => one.reached));
  });

  test('a node that is given another address: its broker is restarted, tells that one, and no other is', async () => {
    const [before, node] = [await uids(), await nodeOf(1)];
    await bed.runner.readdress(node!, 'v4');
    const address = await addressOfNode(node!, 'ExternalIP');
    const isAnother = async () => ![undefined, before[1]].includes((await uids())[1]);
    await waitFor('it is restarted', isAnother, PATIENCE);
    const { nodes } = await untilQuiescent(bed, 'panda');
    assert.deepEqual((await uids()).toSpliced(1, 1), before.toSpliced(1, 1));
    assert.equal(nodes?.external?.[1]?.split(':')[0], address);
    const isTold = (one: Told) =>
      one.name === 'kafka-external-1' && one.expected[0] === address && one.reached;
    await untilTold('it is reached there', (all) => all.some(isTold));
  });

  test('is closed again, keeps its port for later, and has lost nothing', async () => {
    const port = await nodePort();
    const { nodes } = await rolledTo(undefined);
    assert.deepEqual(Object.keys(nodes ?? {}), ['internal']);
    assert.equal(await nodePort(), port);
    assert.doesNotMatch(JSON.stringify(await bed.get('Pod', 'panda-0')), /hostPort/);
    await nothingIsLost();
  });

  test('keeps its numbers when it is deleted, for the next of its name, until its anchor is deleted', async () => {
    const [port, written] = [await nodePort(), (await anchor())!.spec.ports];
    assert.equal((await bed.plane.kubectl(['delete', 'clusters.redpanda.vectorized.io', 'panda'])).code, 0);
    const isGone = async () => (await bed.get('StatefulSet', 'panda')) === undefined;
    await waitFor('the brokers are gone', isGone, PATIENCE);
    assert.deepEqual([await nodePort(), (await anchor())?.spec.ports], [port, written]);
    assert.equal((await bed.plane.kubectl(['delete', 'redpandaanchor', 'panda'])).code, 0);
    await waitFor('the number is free', async () => (await nodePort()) === undefined, PATIENCE);
  });
});
