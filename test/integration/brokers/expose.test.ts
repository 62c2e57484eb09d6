/**
 * Brokers that are reached by a port of their node and a name of their own, by a client that knows nothing else. Names are
 * published by the test: that external-dns does so is shown end to end.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { probeCluster } from '../../../src/probe/cluster.ts';
import { findingsOf } from '../../../src/probe/findings.ts';
import type { ProbedCluster } from '../../../src/probe/probed.ts';
import { metrics } from '../control/harness.ts';
import { startOurs } from '../dns/server.ts';
import type { TestServer } from '../dns/server.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const SUBDOMAIN = 'kafka.example.test';
const exposed = {
  listeners: [
    { name: 'plain', port: 9092, type: 'internal', tls: false },
    { name: 'ext', port: 9094, type: 'hostport', tls: true, configuration: { subdomain: SUBDOMAIN } },
  ],
};

/** Numbers that the API server would give out and that Kafkas which are gone still claim, all below the first that is free. */
const FIRST_FREE = 32_500;
const formerAnchors = () =>
  Array.from({ length: 10 }, (_, at) => ({
    apiVersion: 'isthmus.dev/v1alpha1',
    kind: 'KafkaAnchor',
    metadata: { name: `gone-${at}`, namespace: 'default' },
    spec: {
      clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
      epoch: 1,
      holder: 'isthmus',
      kafka: { name: `gone-${at}`, uid: `gone-${at}` },
      ports: Array.from({ length: 250 }, (_, i) => ({ name: `p${i}`, port: 30_000 + 250 * at + i })),
    },
  }));

interface Told {
  name: string;
  address: string;
  expected: string[];
  answered: string[];
  reached: boolean;
  failed?: string;
}

interface Endpoint {
  dnsName: string;
  recordType: 'A' | 'AAAA';
  targets: string[];
}

interface Listener {
  name: string;
  bootstrapServers: string;
  certificates?: string[];
}

describe('exposed brokers', () => {
  let bed: Bed;
  /** What the operator resolves names by. */
  let dns: TestServer;
  before(async () => {
    dns = await startOurs({ zones: [{ name: SUBDOMAIN, nameservers: [`ns.${SUBDOMAIN}`] }] });
    bed = await startBed({
      nodes: ['a', 'b', 'c'].map((name) => ({ name })),
      // Pods have addresses of the loopback network here.
      operator: { probeResolver: `127.0.0.1:${dns.port}` },
    });
  });
  after(async () => {
    await bed?.[Symbol.asyncDispose]();
    await dns?.close();
  });

  const endpoint = () =>
    bed.client.get(
      { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' },
      { namespace: 'default', name: 'out-kafka-ext' },
    );
  const endpoints = async () =>
    (((await endpoint())?.['spec'] ?? {}) as { endpoints?: Endpoint[] }).endpoints ?? [];
  /** In the place of external-dns. */
  const publish = async () => {
    const records = (await endpoints()).flatMap(({ dnsName: name, recordType: type, targets }) =>
      targets.map((data) => ({ name, type, data, ttl: 1 })),
    );
    assert.deepEqual(dns.upsert('DNSEndpoint default/out', records), []);
    await dns.settled();
  };
  const told = async () =>
    (((await bed.get('KafkaAnchor', 'out'))?.['status'] ?? {}) as { exposed?: Told[] }).exposed ?? [];
  const until = (what: string, holds: (all: Told[]) => boolean) =>
    waitFor(what, async () => holds(await told()), PATIENCE).catch(async (error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(await told())}`),
    );
  /** How often the operator has looked. */
  const probes = async () => {
    const text = await metrics(bed.operator);
    return Number(
      /^isthmus_controller_reconcile_seconds_count\{[^}]*"kafka-probe"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0,
    );
  };
  const addressesOf = async (host: string): Promise<string[]> => {
    const found = (await endpoints()).flatMap(({ dnsName, targets }) => (dnsName === host ? targets : []));
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
    await bed.apply(...formerAnchors());
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
    assert.ok(
      probed.brokers.every(({ port }) => port >= FIRST_FREE),
      'a number that nobody else claims',
    );
  });

  test('are probed by the operator, which says of each name how far it came, and writes that once', async () => {
    await until(
      'the anchor says that the names have no address',
      (all) => all.length === 3 && all.every(({ failed }) => failed === 'resolve'),
    );
    assert.deepEqual(
      (await told()).map(({ name, address }) => [name, address.split(':')[0]]),
      ['bootstrap', '0', '1'].map((id) => [`ext-${id}`, `${id}.${SUBDOMAIN}`]),
    );
    const isTaken = async () => (await bed.condition('out', 'Reachable'))?.status === 'False';
    await waitFor('the Kafka takes the conditions over', isTaken, PATIENCE);
    assert.match((await bed.condition('out', 'Reachable'))!.message, /^ext-bootstrap \(bootstrap\.kafka\.example\.test:\d+\): resolve: /); // prettier-ignore
    assert.match((await bed.condition('out', 'DNSPropagated'))!.message, /external-dns has not taken up/);
    const versions = async () =>
      Promise.all(['Kafka', 'KafkaAnchor'].map(async (kind) => (await bed.get(kind, 'out'))?.metadata.resourceVersion)); // prettier-ignore
    const isQuiet = async () => {
      const [before, looks] = [await versions(), await probes()];
      await waitFor('two more probes', async () => (await probes()) > looks + 1, PATIENCE);
      return (await versions()).join() === before.join();
    };
    await waitFor('probes that write nothing', isQuiet, PATIENCE);
    await publish();
    await until('the anchor says that all are reached', (all) => all.length === 3 && all.every(({ reached }) => reached)); // prettier-ignore
    const isSaid = async () =>
      (await Promise.all(['DNSPropagated', 'Reachable'].map((type) => bed.condition('out', type)))).every(
        (one) => one?.status === 'True',
      );
    await waitFor('the Kafka says so, too', isSaid, PATIENCE);
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
    // Throws where there is no record, even for a moment.
    const hasMoved = async () => (await addressesOf(`1.${SUBDOMAIN}`)).join() !== before.join();
    await waitFor('the record has changed', hasMoved, PATIENCE);
    const isOutdated = ({ name, answered, expected }: Told) =>
      name === 'ext-1' && answered.join() === before.join() && expected.join() !== before.join();
    await until('the operator says where the name still leads', (all) => all.some(isOutdated));
    await publish();
    await untilReached();
    await until('the operator reaches all of them', (all) => all.length === 3 && all.every(({ reached }) => reached)); // prettier-ignore
    assert.notEqual(await nodeOf('out-more-1'), left);
    assert.deepEqual(await addressesOf(`0.${SUBDOMAIN}`), stays);
  });

  test('are not restarted for pods that nobody would let in', async () => {
    const enforce = (value: string) =>
      bed.plane.kubectl(['label', 'namespace/default', `pod-security.kubernetes.io/enforce${value}`]);
    const uids = () => Promise.all(['out-dual-0', 'out-more-1'].map((pod) => bed.podUid(pod)));
    await bed.untilReady('out');
    assert.equal((await enforce('=baseline')).code, 0);
    const before = await uids();
    await bed.apply(kafka('out', { ...exposed, config: { 'queued.max.requests': 400 } }));
    const isBlocked = async () => (await bed.condition('out', 'Ready'))?.reason === 'RollBlocked';
    await waitFor('the roll is blocked', isBlocked, PATIENCE);
    assert.match((await bed.condition('out', 'Ready'))!.message, /violates PodSecurity "baseline:.*hostPort/);
    assert.deepEqual(await uids(), before);
    assert.equal((await enforce('-')).code, 0);
    const goesOn = async () => (await uids()).some((uid, at) => uid !== undefined && uid !== before[at]);
    await waitFor('a node is restarted', goesOn, PATIENCE);
  });
});
