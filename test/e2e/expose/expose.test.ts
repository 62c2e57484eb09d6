/**
 * Brokers of a real cluster, reached from outside by names that the real external-dns writes to a real BIND: straight to the node of
 * each, whichever way its kube-proxy works, also after one has moved or a node has died, and after the listener was switched off and on.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { addExternalDns, startPublicZone } from '../../support/clusters/addons/public-dns.ts';
import type { PublicZone } from '../../support/clusters/addons/public-dns.ts';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import { startLoadBalancers } from '../../support/clusters/stand-ins/load-balancer.ts';
import { POD_METRICS } from '../../support/dashboards.ts';
import { followPage, readExternalDnsArgs, readPage } from '../brokers/page.ts';
import { flowing } from '../java-writer.ts';
import type { Writer } from '../java-writer.ts';
import { startWriterOutside } from '../proxy/writers.ts';
import {
  PATIENCE,
  bootstrapOf,
  clientsOf,
  closeFirewall,
  exchangeByJava,
  fileOf,
  leastNeeded,
  nodeOf,
  peersOf,
  probe,
  proxyMode,
  settled,
  stopwatch,
  untilFound,
  untilReached,
  untilSaid,
  where,
} from './site.ts';
import type { Identity, Kafka, Site } from './site.ts';

/** As the page has it, but in the part of the internet's names that this machine has. */
const ZONE = 'kafka.example.test';
const here = (text: string) => text.replaceAll('kafka.example.com', ZONE);
const IDS = [0, 1, 2];
const LISTENER_PORT = 9094;

const labels = { 'strimzi.io/cluster': 'audit' };
const strimzi = (kind: string, name: string, more: object) => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind,
  metadata: { name, ...where, ...more },
});

/** Another Kafka in the same zone: one broker, by a host port and by a load balancer. */
const AUDIT = [
  {
    ...strimzi('Kafka', 'audit', { annotations: { 'isthmus.dev/managed': 'true' } }),
    spec: {
      kafka: {
        listeners: [
          {
            name: 'ext',
            port: LISTENER_PORT,
            type: 'hostport',
            tls: true,
            configuration: { subdomain: ZONE, hostPattern: '$(id).$(cluster).$(subdomain)' },
          },
          {
            name: 'lb',
            port: 9095,
            type: 'loadbalancer',
            tls: true,
            configuration: { subdomain: `balanced.${ZONE}` },
          },
        ],
        config: { 'offsets.topic.replication.factor': 1 },
      },
    },
  },
  {
    ...strimzi('KafkaNodePool', 'audit', { labels }),
    spec: {
      replicas: 1,
      roles: ['controller', 'broker'],
      storage: { type: 'ephemeral' },
      resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { memory: '1Gi' } },
    },
  },
];
/** Of the first Kafka, for Java's tools. */
const topic = (name: string, partitions: number) => ({
  ...strimzi('KafkaTopic', name, { labels: { 'strimzi.io/cluster': 'events' } }),
  spec: { partitions, replicas: 3 },
});

describe('exposed brokers in a real cluster', () => {
  let site: Site;
  let cluster: Cluster;
  let zone: PublicZone;
  let bootstrap = '';
  let port = '';
  let auditPort = '';
  let writer: Writer;
  let shop: Required<Identity>;
  const stack = new AsyncDisposableStack();
  before(async () => {
    const images = ['isthmus', 'kafka'] as const;
    const clusters = stack.use(
      await startClusters(1, { nodes: 4, images, kubeProxyModes: ['nftables', 'iptables'] }),
    );
    [cluster] = clusters.list as [Cluster];
    site = { clusters, cluster };
    stack.use(startLoadBalancers(clusters, cluster));
    zone = stack.use(await startPublicZone(clusters, ZONE));
    await addExternalDns(cluster, zone, (await readExternalDnsArgs('expose.md')).map(here));
  });
  after(() => stack.disposeAsync());

  const name = (id: number | 'bootstrap') => `${id}.${ZONE}`;
  const reached = () => untilReached(site, bootstrap, shop, IDS.length);
  const nodes = () => Promise.all(IDS.map((id) => nodeOf(site, `events-brokers-${id}`)));
  const patch = (body: object) =>
    cluster.kubectl(
      'patch',
      'kafka/events',
      '--namespace=kafka',
      '--type=json',
      `--patch=${JSON.stringify(body)}`,
    );
  /** Has a broker made again on another node; returns what lets its former node have pods again. */
  const move = async (id: number) => {
    const { name: left } = await nodeOf(site, `events-brokers-${id}`);
    await cluster.kubectl('cordon', left);
    await cluster.kubectl('delete', `pod/events-brokers-${id}`, '--namespace=kafka', '--wait=false');
    return { left, done: () => cluster.kubectl('uncordon', left) };
  };
  /** Waits until a name, the probe outside and a client that writes are right again, and prints how long each took. */
  const rightAgain = async (seconds: () => string, isPublished: () => Promise<boolean>) => {
    await waitFor('the names to be right', isPublished, PATIENCE);
    const named = seconds();
    await reached();
    const probed = seconds();
    await flowing([writer]);
    return `names are right after ${named}, the probe gets there after ${probed}, a client writes after ${seconds()}`;
  };
  /** Whether clients may begin at any broker: one that was away is among them only some seconds after it is reached by its own name. */
  const isBegunAtAll = async () => (await zone.ask('A', name('bootstrap'))).length === IDS.length;
  const hasOther = (id: number, before: readonly string[]) => async () => {
    const now = await zone.ask('A', name(id));
    return now.length > 0 && now.join() !== before.join();
  };

  it('are reached straight, each by its name, as the page says', async (t) => {
    const page = await readPage('expose.md');
    const seconds = stopwatch();
    bootstrap = (await followPage(cluster, { ...page, resources: here(page.resources) })).at(-1) ?? '';
    t.diagnostic(`ready after ${seconds()}`);
    assert.match(bootstrap, /^bootstrap\.kafka\.example\.test:3\d{4}$/);
    port = bootstrap.split(':')[1]!;
    await cluster.apply([...AUDIT, topic('notes', 1)]); // until they are needed
    await cluster.waitFor('kafkauser/shop', hasCondition('Ready'), { ...where, ...PATIENCE });
    shop = {
      ca: await fileOf(site, 'events-cluster-ca-cert', 'ca.crt'),
      cert: await fileOf(site, 'shop', 'user.crt'),
      key: await fileOf(site, 'shop', 'user.key'),
    };
    const { brokers } = await reached();
    t.diagnostic(`reached after ${seconds()}`);
    // Only now: a topic that is made while a broker is still on its way has no partition that it leads.
    await cluster.apply([topic('flow', IDS.length)]);
    const led = brokers.map(({ nodeId, host, addresses }) => [nodeId, host, addresses.map(({ address }) => address)]); // prettier-ignore
    const outer = (await nodes()).map(({ addresses }, id) => [id, name(id), [addresses.public]]);
    assert.deepEqual(led, outer);
  });

  it('are on nodes with kube-proxy in one mode and in the other', async () => {
    const modes = await Promise.all((await nodes()).map(proxyMode));
    assert.deepEqual([...new Set(modes)].toSorted(), ['iptables', 'nftables']);
  });

  it('have connections of librdkafka at their own nodes, from the address that the client has', async () => {
    const config = { 'ssl.certificate.location': shop.cert, 'ssl.key.location': shop.key };
    const { outside } = site.clusters;
    await cluster.waitFor('kafkatopic/flow', hasCondition('Ready'), { ...where, ...PATIENCE });
    writer = await startWriterOutside({ outside, bootstrap, caFile: shop.ca, config }, 'flow');
    stack.defer(() => writer.stop());
    await flowing([writer]);
    const expected = (await nodes()).map(({ addresses }) => addresses.public).toSorted();
    const isStraight = async () => (await peersOf(site, port)).join() === expected.join();
    await waitFor('connections to every node with a broker', isStraight, PATIENCE);
    for (const id of IDS) {
      const clients = await clientsOf(site, `events-brokers-${id}`, LISTENER_PORT);
      assert.ok(clients.includes(outside.address), `broker ${id} has clients ${clients.join(', ')}`);
    }
  });

  it('have the bytes and drops of their pods told by the kubelet, as the kernel counts them', async () => {
    const { name: node } = await nodeOf(site, 'events-brokers-0');
    const told = async () => {
      const text = await cluster.kubectl('get', '--raw', `/api/v1/nodes/${node}/proxy/metrics/cadvisor`);
      const valueOf = (metric: string) => {
        const line = text.split('\n').find((one) => one.startsWith(`${metric}{`) && one.includes('pod="events-brokers-0"')); // prettier-ignore
        return Number(line?.split(' ')[1] ?? Number.NaN);
      };
      const values = new Map(POD_METRICS.map((metric) => [metric, valueOf(metric)]));
      const hasBytes = [...values].every(([metric, value]) => value > 0 || metric.includes('dropped'));
      return hasBytes && [...values.values()].every(Number.isFinite);
    };
    await waitFor('the kubelet to tell of the network of a broker', told, PATIENCE);
  });

  it("take records of Java's console tools outside", async () => {
    await cluster.waitFor('kafkatopic/notes', hasCondition('Ready'), { ...where, ...PATIENCE });
    const security = {
      'security.protocol': 'SSL',
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': shop.ca,
      'ssl.keystore.type': 'PKCS12',
      'ssl.keystore.location': await fileOf(site, 'shop', 'user.p12'),
      'ssl.keystore.password': await readFile(await fileOf(site, 'shop', 'user.password'), 'utf8'),
    };
    const lines = ['one', 'two', 'three'];
    assert.deepEqual(await exchangeByJava(site, bootstrap, security, 'notes', lines), lines);
  });

  it('have a port and names of their own beside another cluster in the same zone, which has a load balancer, too', async () => {
    const isTold = (kafka: Kafka) => ['ext', 'lb'].every((listener) => bootstrapOf(kafka, listener) !== '');
    const kafka = await cluster.waitFor<Kafka>('kafka/audit', isTold, { ...where, ...PATIENCE });
    const ca = await fileOf(site, 'audit-cluster-ca-cert', 'ca.crt');
    const ways = [bootstrapOf(kafka, 'ext'), bootstrapOf(kafka, 'lb')];
    assert.deepEqual(
      ways.map((way) => way.split(':')[0]),
      [`bootstrap.audit.${ZONE}`, `bootstrap.balanced.${ZONE}`],
    );
    auditPort = ways[0]!.split(':')[1]!;
    assert.notEqual(auditPort, port);
    const [events, ext, lb] = [
      await probe(site, bootstrap, shop),
      await untilReached(site, ways[0]!, { ca }, 1),
      await untilReached(site, ways[1]!, { ca }, 1),
    ];
    assert.deepEqual(events.findings, []);
    assert.equal(ext.clusterId, lb.clusterId);
    assert.notEqual(ext.clusterId, events.clusterId);
    const addressesOf = ({ brokers }: typeof ext) => brokers.flatMap((one) => one.addresses.map(({ address }) => address)); // prettier-ignore
    const node = await nodeOf(site, 'audit-audit-0');
    const balancer = await cluster.get<KubeObject & { status: { loadBalancer: { ingress: { ip: string }[] } } }>('service/audit-audit-lb-0', where); // prettier-ignore
    assert.deepEqual(addressesOf(ext), [node.addresses.public]);
    assert.deepEqual(
      addressesOf(lb),
      balancer?.status.loadBalancer.ingress.map(({ ip }) => ip),
    );
    await cluster.kubectl(
      'delete',
      'kafka/audit',
      'kafkanodepool/audit',
      '--namespace=kafka',
      '--wait=false',
    );
  });

  it('leave their number to nobody when their cluster is deleted: the Service that keeps it stays, as long as the anchor does', async () => {
    const get = (what: string) => cluster.get<KubeObject & { spec: { ports: { nodePort: number }[] } }>(what, where); // prettier-ignore
    const dependents = [
      'strimzipodset/audit-audit',
      'service/audit-kafka-bootstrap',
      'service/audit-audit-lb-0',
    ];
    const areGone = async () => (await Promise.all(dependents.map(get))).every((one) => one === undefined);
    await waitFor('the garbage collector to have been there', areGone, PATIENCE);
    assert.ok(await get('kafkaanchor/audit'));
    assert.equal((await get('service/audit-kafka-ext-hostport'))?.spec.ports[0]?.nodePort, Number(auditPort));
    await cluster.kubectl('delete', 'kafkaanchor/audit', '--namespace=kafka');
    const isFree = async () => (await get('service/audit-kafka-ext-hostport')) === undefined;
    await waitFor('the number to be free', isFree, PATIENCE);
  });

  it('are found again by a client outside while one moves to another node', async (t) => {
    const before = await zone.ask('A', name(2));
    const seconds = stopwatch();
    const { left, done } = await move(2);
    t.diagnostic(await rightAgain(seconds, hasOther(2, before)));
    assert.notEqual((await nodeOf(site, 'events-brokers-2')).name, left);
    await done();
    await settled(site, 'events');
  });

  it('say so while nobody publishes where they are, and while a firewall is closed', async (t) => {
    const scale = (replicas: number) =>
      cluster.kubectl(
        'scale',
        'deployment/external-dns',
        '--namespace=external-dns',
        `--replicas=${replicas}`,
      );
    const wellAgain = async () => {
      for (const type of ['DNSPropagated', 'Reachable'])
        await cluster.waitFor('kafka/events', hasCondition(type), { ...where, ...PATIENCE });
    };
    await wellAgain();
    // Of those, broker 2 is what will be left to tell of the others.
    await waitFor('every broker to be begun at', isBegunAtAll, PATIENCE);
    await scale(0);
    const pods = ['get', 'pods', '--namespace=external-dns', '--output=name'];
    await waitFor(
      'external-dns to be stopped',
      async () => (await cluster.kubectl(...pods)) === '',
      PATIENCE,
    );
    const openFirewall = await closeFirewall(await nodeOf(site, 'events-brokers-0'), port);
    const seconds = stopwatch();
    const { done } = await move(1);
    try {
      await untilSaid(site, 'DNSPropagated', /\b1\.kafka\.example\.test:.* should lead to .*external-dns has not taken up the DNSEndpoint/); // prettier-ignore
      t.diagnostic(`the name is said to be wrong after ${seconds()}`);
      await untilSaid(site, 'Reachable', /\bext-0 \(0\.kafka\.example\.test:\d+\): connect: /);
      t.diagnostic(`the firewall is said to be closed after ${seconds()}`);
      await untilFound(site, bootstrap, shop, (found) =>
        found.where.startsWith(name(0)) && found.problem.startsWith('connect: ') && found.hint.includes('firewall')); // prettier-ignore
    } finally {
      await openFirewall(); // the tests that follow need it
      await scale(1);
      await done();
    }
    await wellAgain();
    t.diagnostic(`and that all is well after ${seconds()}`);
    await flowing([writer]);
  });

  it('are away and back with the same port when the listener is switched off and on', async (t) => {
    const { spec } = (await cluster.get<Kafka>('kafka/events', where))!;
    await patch([{ op: 'remove', path: '/spec/kafka/listeners/1' }]);
    const isGone = async () => (await zone.ask('A', name('bootstrap'))).length === 0;
    await waitFor('the names to be gone', isGone, PATIENCE);
    const seconds = stopwatch();
    await patch([{ op: 'add', path: '/spec/kafka/listeners/1', value: spec.kafka.listeners[1] }]);
    t.diagnostic(await rightAgain(seconds, isBegunAtAll));
    assert.equal(bootstrapOf(await settled(site, 'events'), 'ext'), bootstrap);
  });

  it('are found where the cluster has put them when a node has died', async (t) => {
    const { id, node } = await leastNeeded(site, IDS);
    const before = await zone.ask('A', name(id));
    const seconds = stopwatch();
    await site.clusters.killNode(node);
    await cluster.kubectl('delete', 'node', node.name); // as a cloud does when a machine is gone
    t.diagnostic(await rightAgain(seconds, hasOther(id, before)));
    assert.notEqual((await nodeOf(site, `events-brokers-${id}`)).name, node.name);
  });

  it('have lost no record that was acknowledged', async (t) => {
    const { acked, failed, failures, problems } = await writer.finish();
    t.diagnostic(`${acked} acknowledged`);
    assert.deepEqual(problems, []);
    assert.deepEqual([failed, failures], [0, []]);
  });
});
