/** What stands around clusters: load balancers, routers, gateways, the DNS of the internet. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { GATEWAY_CLASS, addEnvoyGateway } from '../../support/clusters/addons/gateway.ts';
import { addExternalDns, startPublicZone } from '../../support/clusters/addons/public-dns.ts';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import { startLoadBalancers } from '../../support/clusters/stand-ins/load-balancer.ts';
import { startOpenShiftRouter } from '../../support/clusters/stand-ins/openshift-router.ts';
import { IMAGES } from '../../support/images/images.ts';
import { createAuthority } from '../../support/pki.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

const HOSTS = ['*.apps.c1.test', '*.c1.cloud.test', 'app.example.test'];
const SERVER = `
const { readFileSync } = require('node:fs');
const pem = (file) => readFileSync('/tls/' + file);
require('node:https').createServer({ key: pem('tls.key'), cert: pem('tls.crt') }, (request, response) =>
  response.end(JSON.stringify({ asked: request.socket.servername, by: request.socket.remoteAddress })),
).listen(8443);`;

/** A TLS server that says what it was asked for, and by whom. */
function secureServer(certPem: string, keyPem: string): object[] {
  const labels = { app: 'secure' };
  const container = {
    name: 'main',
    image: IMAGES.isthmus,
    command: ['/usr/local/bin/node', '-e', SERVER],
    readinessProbe: { tcpSocket: { port: 8443 }, periodSeconds: 1, timeoutSeconds: 5 },
    volumeMounts: [{ name: 'tls', mountPath: '/tls' }],
  };
  const volumes = [{ name: 'tls', secret: { secretName: 'secure' } }];
  const metadata = { name: 'secure', namespace: 'default' };
  const template = { metadata: { labels }, spec: { containers: [container], volumes } };
  const spec = { selector: { matchLabels: labels }, template };
  const ports = [{ name: 'tls', port: 443, targetPort: 8443 }];
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': certPem, 'tls.key': keyPem },
    },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports } },
  ];
}

/** The tests, on the first of the clusters, which has the image of the project for the sake of its Node. */
export function testAddons(site: () => Clusters): void {
  describe('what some tests add to a cluster', () => {
    let clusters: Clusters;
    let cluster: Cluster;
    let caFile: string;
    before(async () => {
      clusters = site();
      [cluster] = clusters.list as [Cluster];
      const authority = await createAuthority('addons');
      const { certPem, keyPem } = await authority.issue({ commonName: 'secure', dns: HOSTS });
      caFile = join(clusters.logs, 'ca.crt');
      await writeFile(caFile, authority.certPem);
      await cluster.apply(secureServer(certPem, keyPem));
      await cluster.rolledOut('deployment/secure');
    });
    /** What the server says to a client outside, or undefined if it is not reached. */
    const ask = async (host: string, ...resolve: string[]) => {
      const options = [
        '--cacert',
        caFile,
        ...resolve.flatMap((address) => ['--resolve', `${host}:443:${address}`]),
      ];
      const { code, stdout } = await clusters.outside.run([
        'curl',
        '-sf',
        '-m',
        '5',
        ...options,
        `https://${host}/`,
      ]);
      return code === 0 ? (JSON.parse(stdout) as { asked: string; by: string }) : undefined;
    };
    const reach = (host: string, ...resolve: string[]) =>
      waitFor(host, () => ask(host, ...resolve), { timeoutMs: 300_000, everyMs: 500 });

    it('balances load as a cloud does, by address and by name', async () => {
      const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', selector: { app: 'secure' } };
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'balanced', namespace: 'default' },
        spec: { ...spec, ports: [{ name: 'tls', port: 443, targetPort: 8443 }] },
      };
      type WithIngress = KubeObject & {
        status: { loadBalancer: { ingress?: { ip?: string; hostname?: string }[] } };
      };
      const given = async (kind: 'ip' | 'hostname') => {
        const has = (object: WithIngress) => object.status.loadBalancer.ingress?.[0]?.[kind] !== undefined;
        const { status } = await cluster.waitFor<WithIngress>('service/balanced', has);
        return status.loadBalancer.ingress?.[0]?.[kind] ?? '';
      };
      await using stack = new AsyncDisposableStack();
      const byAddress = stack.use(startLoadBalancers(clusters, cluster));
      await cluster.apply(service);
      const reached = await reach('app.example.test', await given('ip'));
      assert.ok(reached.by.endsWith(clusters.outside.address), reached.by);
      await byAddress.stop();
      stack.use(startLoadBalancers(clusters, cluster, { names: true }));
      const name = await given('hostname');
      assert.equal((await reach(name)).asked, name);
      await cluster.remove(service); // returns once the finalizer is gone
      assert.equal(await ask(name), undefined);
    });

    it('serves Routes as OpenShift does', async () => {
      await using stack = new AsyncDisposableStack();
      stack.use(await startOpenShiftRouter(clusters, cluster));
      await cluster.apply({
        apiVersion: 'route.openshift.io/v1',
        kind: 'Route',
        metadata: { name: 'secure', namespace: 'default' },
        spec: {
          to: { kind: 'Service', name: 'secure' },
          port: { targetPort: 'tls' },
          tls: { termination: 'passthrough' },
        },
      });
      const host = 'secure-default.apps.c1.test';
      assert.equal((await reach(host)).asked, host);
      type Admitted = KubeObject & {
        status?: { ingress?: { host: string; conditions: { type: string }[] }[] };
      };
      const { status } = await cluster.waitFor<Admitted>(
        'route/secure',
        (route) => route.status?.ingress !== undefined,
      );
      assert.deepEqual(
        status?.ingress?.map((each) => [each.host, each.conditions[0]?.type]),
        [[host, 'Admitted']],
      );
      assert.equal(await ask('unknown.apps.c1.test'), undefined);
    });

    it('serves a Gateway with TLS passed through', async () => {
      await using stack = new AsyncDisposableStack();
      stack.use(startLoadBalancers(clusters, cluster));
      await addEnvoyGateway(cluster);
      const api = { apiVersion: 'gateway.networking.k8s.io/v1' };
      await cluster.apply([
        {
          ...api,
          kind: 'Gateway',
          metadata: { name: 'door', namespace: 'default' },
          spec: {
            gatewayClassName: GATEWAY_CLASS,
            listeners: [{ name: 'tls', protocol: 'TLS', port: 443, tls: { mode: 'Passthrough' } }],
          },
        },
        {
          ...api,
          kind: 'TLSRoute',
          metadata: { name: 'secure', namespace: 'default' },
          spec: {
            parentRefs: [{ name: 'door' }],
            hostnames: ['app.example.test'],
            rules: [{ backendRefs: [{ name: 'secure', port: 443 }] }],
          },
        },
      ]);
      type Addressed = KubeObject & { status?: { addresses?: { value: string }[] } };
      const isServed = (gateway: Addressed) =>
        hasCondition('Programmed')(gateway) && gateway.status?.addresses?.[0] !== undefined;
      const { status } = await cluster.waitFor<Addressed>('gateway/door', isServed);
      const address = status?.addresses?.[0]?.value ?? '';
      assert.equal((await reach('app.example.test', address)).asked, 'app.example.test');
      assert.equal(await ask('unknown.apps.c1.test', address), undefined);
    });

    it('publishes DNSEndpoints on the internet', async () => {
      await using zone = await startPublicZone(clusters, 'brokers.example.test');
      await addExternalDns(cluster, zone);
      const endpoint = {
        apiVersion: 'externaldns.k8s.io/v1alpha1',
        kind: 'DNSEndpoint',
        metadata: { name: 'brokers', namespace: 'default' },
        spec: {
          endpoints: [
            { dnsName: '0.brokers.example.test', recordType: 'A', recordTTL: 5, targets: ['203.0.113.11'] },
          ],
        },
      };
      await cluster.apply(endpoint);
      const isThere = async () => (await zone.ask('A', '0.brokers.example.test'))[0] === '203.0.113.11';
      const patience = { timeoutMs: 300_000, everyMs: 500 };
      await waitFor('record', isThere, patience);
      const isKnown = async () => {
        const { stdout } = await clusters.outside.run(['getent', 'hosts', '0.brokers.example.test']);
        return /^203\.0\.113\.11\s/.test(stdout);
      };
      await waitFor('the record, as the internet knows it', isKnown, patience);
      await cluster.remove(endpoint);
      await waitFor('removal', async () => !(await isThere()), patience);
    });
  });
}
