import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { GATEWAY_CLASS, addEnvoyGateway } from '../../support/clusters/addons/gateway.ts';
import { addExternalDns, startPublicZone } from '../../support/clusters/addons/public-dns.ts';
import type { PublicZone } from '../../support/clusters/addons/public-dns.ts';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster } from '../../support/clusters/cluster.ts';
import { startClusters } from '../../support/clusters/clusters.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { startLoadBalancers } from '../../support/clusters/stand-ins/load-balancer.ts';
import { startOpenShiftRouter } from '../../support/clusters/stand-ins/openshift-router.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { caFileIn, exchangeInPod, exchangeOutside, startClientPod } from './clients.ts';
import { BROKERS } from './kafka-pods.ts';
import { NAMESPACE, PROXY, buildRoad, entrance, where } from './road.ts';
import type { Road } from './road.ts';

const LINES = ['one', 'two', 'three'];
/** The part of the internet's names that the operator's records go to, by external-dns. */
const ZONE = 'kafka.example.test';

describe('the ways in to virtual clusters, with real Kafka in pods', () => {
  let clusters: Clusters;
  let cluster: Cluster;
  let road: Road;
  let zone: PublicZone;
  const stack = new AsyncDisposableStack();
  before(async () => {
    clusters = stack.use(await startClusters(1, { images: ['isthmus', 'kafka'] }));
    [cluster] = clusters.list as [Cluster];
    stack.use(startLoadBalancers(clusters, cluster));
    zone = stack.use(await startPublicZone(clusters, ZONE));
    road = await buildRoad(cluster, 2);
    await addExternalDns(cluster, zone);
    await writeFile(caFileIn(clusters.logs), road.authority.certPem);
    await startClientPod(cluster, road.authority.certPem);
  });
  after(() => stack.disposeAsync());

  /** What a client outside reads after it has written. */
  const outside = (bootstrap: string, topic: string) =>
    exchangeOutside(clusters.outside, caFileIn(clusters.logs), bootstrap, topic, LINES);
  /** Waits until names have an address on the internet, where nobody but external-dns writes them. */
  const published = async (...names: string[]) => {
    for (const name of names)
      await waitFor(name, async () => (await zone.ask('A', name)).length > 0, {
        timeoutMs: 300_000,
        everyMs: 500,
      });
  };

  it('clusterIP, TCP: a client in a pod writes and reads by the names of the Service', async () => {
    await cluster.apply(entrance('plain', { clusterIP: { protocol: 'TCP', port: 9082 } }));
    const bootstrap = await road.served('plain');
    assert.equal(bootstrap, 'plain-plain.shop.svc.cluster.local:9082');
    assert.deepEqual(await exchangeInPod(cluster, 'plain', bootstrap, 'plain', LINES), LINES);
  });

  it('clusterIP, TLS: the same, with the certificate of a Secret', async () => {
    const host = 'secure-secure.shop.svc.cluster.local';
    await road.certify('secure-cert', host);
    await cluster.apply(entrance('secure', { clusterIP: { protocol: 'TLS' } }, 'secure-cert'));
    const bootstrap = await road.served('secure');
    assert.equal(bootstrap, `${host}:9082`);
    assert.deepEqual(await exchangeInPod(cluster, 'tls', bootstrap, 'secure', LINES), LINES);
  });

  it('loadBalancer (a stand-in gives the address): a client outside, by names that external-dns published', async () => {
    await road.certify('balanced-cert', `balanced.${ZONE}`, `*.balanced.${ZONE}`);
    const loadBalancer = {
      bootstrapAddressPattern: `$(virtualClusterName).${ZONE}`,
      brokerAddressPattern: `broker-$(nodeId).$(virtualClusterName).${ZONE}`,
    };
    await cluster.apply(entrance('balanced', { loadBalancer }, 'balanced-cert'));
    const bootstrap = await road.served('balanced');
    assert.equal(bootstrap, `balanced.${ZONE}:9082`);
    await published(`balanced.${ZONE}`, ...BROKERS.map((id) => `broker-${id}.balanced.${ZONE}`));
    assert.deepEqual(await outside(bootstrap, 'balanced'), LINES);
  });

  it('gateway: a client outside, through Envoy Gateway, which was installed after the operator', async () => {
    const gateway = { resourceRef: { name: 'door', sectionName: 'kafka' } };
    await road.certify('gate-cert', `*.gw.${ZONE}`);
    await cluster.apply(entrance('gate', { gateway }, 'gate-cert'));
    await cluster.waitFor('kafkaproxyingress/gate', hasCondition('Accepted', 'False'), where);
    await addEnvoyGateway(cluster);
    const listener = { name: 'kafka', protocol: 'TLS', port: 9443, hostname: `*.gw.${ZONE}` };
    await cluster.apply({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'door', ...where },
      spec: { gatewayClassName: GATEWAY_CLASS, listeners: [{ ...listener, tls: { mode: 'Passthrough' } }] },
    });
    const bootstrap = await road.served('gate');
    assert.equal(bootstrap, `gate-gate-bootstrap.gw.${ZONE}:9443`);
    await published(`gate-gate-bootstrap.gw.${ZONE}`, ...BROKERS.map((id) => `gate-gate-${id}.gw.${ZONE}`));
    assert.deepEqual(await outside(bootstrap, 'gate'), LINES);
  });

  it('openShiftRoute (a stand-in is the router): a client outside, by the hosts that were admitted', async () => {
    await using stack = new AsyncDisposableStack();
    stack.use(await startOpenShiftRouter(clusters, cluster));
    await road.certify('routed-cert', '*.apps.c1.test');
    await cluster.apply(entrance('routed', { openShiftRoute: {} }, 'routed-cert'));
    const bootstrap = await road.served('routed');
    assert.equal(bootstrap, 'routed-routed-bootstrap.apps.c1.test:443');
    assert.deepEqual(await outside(bootstrap, 'routed'), LINES);
  });

  it('takes all that was made for a proxy away with it, and leaves the users’ own', async () => {
    const kinds =
      'all,secrets,serviceaccounts,poddisruptionbudgets,networkpolicies,routes,tlsroutes,dnsendpoints';
    const owned = async () =>
      (
        await cluster.kubectl(
          'get',
          kinds,
          '--selector=kroxylicious.io/proxy',
          '--output=name',
          '--all-namespaces',
        )
      )
        .split('\n')
        .filter(Boolean);
    const before = await owned();
    for (const kind of ['deployment', 'service/', 'route.', 'tlsroute', 'dnsendpoint', 'secret'])
      assert.ok(
        before.some((name) => name.startsWith(kind)),
        `no ${kind} among ${before.join(', ')}`,
      );
    await cluster.kubectl('delete', `kafkaproxy/${PROXY}`, `--namespace=${NAMESPACE}`);
    await waitFor('nothing to be left', async () => (await owned()).length === 0, {
      timeoutMs: 300_000,
      everyMs: 1000,
    });
    const lost = hasCondition('ResolvedRefs', 'False');
    await cluster.waitFor('virtualkafkacluster/plain', lost, where);
    assert.ok(await cluster.get('secret/secure-cert', where), 'the certificate was its user’s');
  });
});
