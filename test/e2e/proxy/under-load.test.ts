import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import type { Node } from '../../support/clusters/node.ts';
import { startLoadBalancers } from '../../support/clusters/stand-ins/load-balancer.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { caFileIn, exchangeOutside, startClientPod } from './clients.ts';
import { holdConnections, holdConnectionsTo, shownCertificate } from './connections.ts';
import type { Entrance, Held } from './connections.ts';
import { KAFKA_NAMESPACE, brokerPod } from './kafka-pods.ts';
import { NAMESPACE, PROXY, buildRoad, by, ingress, resource, virtualCluster, where } from './road.ts';
import type { Road } from './road.ts';
import { flowing } from '../java-writer.ts';
import type { Writer } from '../java-writer.ts';
import { startWriterOutside, startWriterPod } from './writers.ts';

const ZONE = 'kafka.example.test';
const inKafka = { namespace: KAFKA_NAMESPACE };

type Balanced = KubeObject & {
  spec: { ports: { targetPort: number }[] };
  status: { loadBalancer: { ingress?: { ip: string }[] } };
};
type ProxyPod = KubeObject & { status?: { podIP?: string } };
type Scheduled = KubeObject & { spec: { nodeName?: string } };

/**
 * Two virtual clusters of one proxy. `orders` is written to all the time, from a pod and from outside, and is changed;
 * `steady` is not changed, and nobody may notice there what is done to its neighbour. A stand-in is the load balancer.
 */
describe('changes and losses under continuous load', () => {
  let clusters: Clusters;
  let cluster: Cluster;
  let road: Road;
  let balanced: Balanced;
  let writers: Writer[];
  let steady: Held;
  const stack = new AsyncDisposableStack();

  const entranceTo = (name: string): Entrance => ({
    outside: clusters.outside,
    bootstrap: `${name}.${ZONE}:9082`,
    caFile: caFileIn(clusters.logs),
  });
  const certify = (name: string) => road.certify(`${name}-cert`, `${name}.${ZONE}`, `*.${name}.${ZONE}`);
  const ordersWith = (more: object) =>
    virtualCluster('orders', [by('inside'), by('balanced', 'orders-cert')], more);
  const proxyPods = async () => {
    const list = await cluster.kubectl(
      'get',
      'pods',
      `--namespace=${NAMESPACE}`,
      `--selector=app.kubernetes.io/instance=${PROXY}`,
      '--output=json',
    );
    return (JSON.parse(list) as { items: ProxyPod[] }).items;
  };
  /** Holds connections that go through this pod and no other. */
  const holdThrough = async ({ metadata, status }: ProxyPod, name: string) => {
    const address = {
      host: status?.podIP ?? '',
      port: balanced.spec.ports[0]?.targetPort ?? 0,
      servername: `${name}.${ZONE}`,
      caFile: caFileIn(clusters.logs),
    };
    const [node] = cluster.nodes as [Node];
    const held = await holdConnectionsTo(`${name}-${metadata.name}`, node, address, clusters.logs);
    stack.defer(() => held.stop());
    return held;
  };

  before(async () => {
    clusters = stack.use(await startClusters(1, { nodes: 2, images: ['isthmus', 'kafka'] }));
    [cluster] = clusters.list as [Cluster];
    stack.use(startLoadBalancers(clusters, cluster));
    road = await buildRoad(cluster, 2);
    await writeFile(caFileIn(clusters.logs), road.authority.certPem);
    await startClientPod(cluster, road.authority.certPem);
    for (const name of ['orders', 'steady', 'passing']) await certify(name);
    const loadBalancer = {
      bootstrapAddressPattern: `$(virtualClusterName).${ZONE}`,
      brokerAddressPattern: `broker-$(nodeId).$(virtualClusterName).${ZONE}`,
    };
    await cluster.apply([
      ingress('inside', { clusterIP: { protocol: 'TCP' } }),
      ingress('balanced', { loadBalancer }),
      ordersWith({}),
      virtualCluster('steady', [by('balanced', 'steady-cert')]),
    ]);
    const inside = await road.served('orders', 'inside');
    await road.served('steady');
    const addressOf = ({ status }: Balanced) => status.loadBalancer.ingress?.[0]?.ip;
    const hasAddress = (service: Balanced) => addressOf(service) !== undefined;
    balanced = await cluster.waitFor<Balanced>('service/balanced-service', hasAddress, where);
    await clusters.outside.setName(`*.${ZONE}`, [addressOf(balanced) ?? '']);
    const outside = await startWriterOutside(entranceTo('orders'), 'from-outside');
    stack.defer(() => outside.stop());
    writers = [outside, await startWriterPod(cluster, inside, 'from-pod')];
    await flowing(writers);
    steady = await holdConnections('steady', entranceTo('steady'));
    stack.defer(() => steady.stop());
  });
  after(() => stack.disposeAsync());

  it('serves a new certificate without a restart, and breaks no connection that began with the old one', async (t) => {
    const held = await holdConnections('orders', entranceTo('orders'));
    stack.defer(() => held.stop());
    const { fingerprint256 } = await certify('orders');
    const began = performance.now();
    const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
    const isShown = async () => (await shownCertificate(entranceTo('orders'))) === fingerprint256;
    await waitFor('the new certificate', isShown, { everyMs: 100, timeoutMs: 300_000 });
    t.diagnostic(`first shown after ${seconds()} s`);
    await waitFor(
      'both pods to show it',
      async () => {
        for (let i = 0; i < 8; i++) if (!(await isShown())) return false;
        return true;
      },
      { timeoutMs: 300_000 },
    );
    t.diagnostic(`shown by all pods after ${seconds()} s`);
    await flowing(writers);
    await held.check();
    await held.stop();
    await steady.check();
  });

  it('takes a filter into one virtual cluster', async () => {
    const config = { apiKeyNames: ['METADATA'], logLevel: 'info' };
    await cluster.apply([
      resource(
        'KafkaProtocolFilter',
        'logger',
        { type: 'protocol-logger', config },
        'filter.kroxylicious.io',
      ),
      ordersWith({ filterRefs: [{ name: 'logger' }] }),
    ]);
    const selector = `--selector=app.kubernetes.io/instance=${PROXY}`;
    const logs = ['logs', `--namespace=${NAMESPACE}`, selector, '--tail=-1'];
    const hasLogged = async () => (await cluster.tryKubectl(logs)).stdout.includes('"logger":"protocol"');
    await waitFor('the filter to log', hasLogged, { timeoutMs: 300_000, everyMs: 1000 });
    await road.served('orders');
    await flowing(writers);
    await steady.check();
  });

  it('gets another virtual cluster, and loses it again', async () => {
    const passing = virtualCluster('passing', [by('inside'), by('balanced', 'passing-cert')]);
    await cluster.apply(passing);
    const bootstrap = await road.served('passing', 'balanced');
    const lines = await exchangeOutside(clusters.outside, caFileIn(clusters.logs), bootstrap, 'passing', [
      'x',
    ]);
    assert.deepEqual(lines, ['x']);
    await cluster.remove(passing);
    const isRefused = async () => (await shownCertificate(entranceTo('passing'))) === undefined;
    await waitFor('the end of it', isRefused, { everyMs: 500, timeoutMs: 300_000 });
    await flowing(writers);
    await steady.check();
  });

  it('grows and shrinks by the scale subresource', async () => {
    const scale = async (replicas: number) => {
      await cluster.kubectl(
        'scale',
        `kafkaproxy/${PROXY}`,
        `--replicas=${replicas}`,
        `--namespace=${NAMESPACE}`,
      );
      type Scaled = KubeObject & { status: { replicas?: number } };
      const isSo = ({ status }: Scaled) => status.replicas === replicas;
      await cluster.waitFor<Scaled>(`kafkaproxy/${PROXY}`, isSo, where);
      await cluster.rolledOut(`deployment/${PROXY}`, where);
    };
    await scale(3);
    await flowing(writers);
    await steady.check();
    await steady.stop(); // from here on pods go, and what goes through them
    await scale(2);
    const hasGone = async () => (await proxyPods()).length === 2;
    await waitFor('a pod to go', hasGone, { everyMs: 500, timeoutMs: 300_000 });
    await flowing(writers);
  });

  it('survives that one of its pods is killed, and what goes through the other is not touched', async () => {
    const [victim, survivor] = (await proxyPods()) as [ProxyPod, ProxyPod];
    const doomed = await holdThrough(victim, 'steady');
    const kept = [await holdThrough(survivor, 'steady'), await holdThrough(survivor, 'orders')];
    const now = ['--grace-period=0', '--force', '--ignore-not-found', `--namespace=${NAMESPACE}`];
    await cluster.kubectl('delete', 'pod', victim.metadata.name, ...now);
    await flowing(writers);
    await doomed.lost(); // so connections do go through the pod that they are said to go through
    await cluster.rolledOut(`deployment/${PROXY}`, where);
    for (const held of kept) await held.check();
    for (const held of kept) await held.stop();
  });

  it('follows a broker to another node', async () => {
    const pod = `pod/${brokerPod(0)}`;
    const before = await cluster.get<Scheduled>(pod, inKafka);
    const node = before?.spec.nodeName ?? '';
    await cluster.kubectl('cordon', node);
    await cluster.kubectl('delete', pod, `--namespace=${KAFKA_NAMESPACE}`);
    const hasMoved = (now: Scheduled) =>
      now.metadata.uid !== before?.metadata.uid && now.spec.nodeName !== node && hasCondition('Ready')(now);
    await cluster.waitFor<Scheduled>(pod, hasMoved, inKafka);
    await cluster.kubectl('uncordon', node);
    await flowing(writers);
  });

  it('has lost no acknowledged record of all that, and keeps each once and in order', async (t) => {
    for (const writer of writers) {
      const { acked, failed, failures, problems } = await writer.finish();
      t.diagnostic(`${acked} acknowledged`);
      assert.deepEqual(problems, []);
      assert.deepEqual([failed, failures], [0, []]);
    }
  });
});
