/** Names that objects of one cluster ask for, answered by a real DNS server that follows a real API server. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import {
  apply,
  endpointSlice,
  expectEvent,
  expectMetric,
  installKinds,
  remove,
  service,
  startSite,
} from './site.ts';
import type { Site } from './site.ts';

const GRANTS = 'connectivity.tanzu.vmware.com/grants';
const HOSTNAME = 'connectivity.tanzu.vmware.com/dns-hostname';

suite('names of one cluster', () => {
  let plane: ControlPlane;
  let site: Site;
  before(async () => {
    plane = await startControlPlane();
    await apply(plane, service('early', 'early.xcc.test', { clusterIP: '10.96.7.10' }));
    await apply(plane, service('plain', undefined, { clusterIP: '10.96.7.81' }));
    // Ages count in whole seconds.
    await delay(1100);
    site = await startSite(
      { west: plane },
      { records: [{ name: 'a.vault.xcc.test', type: 'A', data: '192.0.2.99' }] },
    );
  });
  after(async () => {
    await site?.[Symbol.asyncDispose]();
    await plane?.stop();
  });

  test('what was there before is in the first answer', async () => {
    assert.deepEqual(await site.ask('early.xcc.test'), ['10.96.7.10']);
    assert.equal(await site.ask('early.xcc.test', 'AAAA'), 'ENODATA');
    assert.equal(await site.ask('other.xcc.test'), 'ENOTFOUND');
  });

  test('a Service that comes, gets another name and goes', async () => {
    await apply(plane, service('foo', 'foo.xcc.test', { clusterIP: '10.96.7.20' }));
    await site.expect('foo.xcc.test', ['10.96.7.20']);
    await apply(plane, service('foo', 'Bar.xcc.test.', { clusterIP: '10.96.7.20' }));
    await site.expect('bar.xcc.test', ['10.96.7.20']);
    await site.expect('foo.xcc.test', 'ENOTFOUND');
    assert.deepEqual(site.dns.explain('bar.xcc.test', 'A')?.answer[0]?.sources, ['Service default/foo']);
    await apply(plane, service('foo', undefined, { clusterIP: '10.96.7.20' }));
    await site.expect('bar.xcc.test', 'ENOTFOUND');
    await remove(plane, 'service', 'foo');
  });

  test('a headless Service, by those of its endpoints that are ready', async () => {
    await apply(plane, service('pets', 'pets.xcc.test', { clusterIP: 'None' }));
    const pet = (host: string, address: string, ready: boolean) => ({
      addresses: [address],
      hostname: host,
      conditions: { ready },
    });
    await apply(
      plane,
      endpointSlice('pets-1', [pet('a', '10.9.0.1', true), pet('b', '10.9.0.2', false)], { of: 'pets' }),
    );
    await site.expect('pets.xcc.test', ['10.9.0.1']);
    await apply(
      plane,
      endpointSlice('pets-1', [pet('a', '10.9.0.1', true), pet('b', '10.9.0.2', true)], { of: 'pets' }),
    );
    await site.expect('pets.xcc.test', ['10.9.0.1', '10.9.0.2']);
    await site.expect('b.pets.xcc.test', ['10.9.0.2']);
    await remove(plane, 'endpointslice', 'pets-1');
    await site.expect('pets.xcc.test', 'ENOTFOUND');
  });

  test('a load balancer, by its address or its name', async () => {
    await apply(plane, service('lb', 'lb.xcc.test', { type: 'LoadBalancer', clusterIP: '10.96.7.25' }));
    const status = (ingress: object[]) =>
      plane.kubectl([
        'patch',
        'service',
        'lb',
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ status: { loadBalancer: { ingress } } }),
      ]);
    await site.expect('lb.xcc.test', ['10.96.7.25']);
    await status([{ ip: '192.0.2.7' }]);
    await site.expect('lb.xcc.test', ['192.0.2.7']);
    await status([{ hostname: 'lb.cloud.test' }]);
    await site.expect('lb.xcc.test', ['lb.cloud.test'], 'CNAME');
  });

  test('two claims on one name: the first has it, the other is told and gets it later', async () => {
    await apply(plane, service('first', 'shared.xcc.test', { clusterIP: '10.96.7.31' }));
    await site.expect('shared.xcc.test', ['10.96.7.31']);
    await apply(plane, service('second', 'shared.xcc.test', { clusterIP: '10.96.7.32' }));
    await expectEvent(plane, 'second', 'NameTaken');
    assert.deepEqual(await site.ask('shared.xcc.test'), ['10.96.7.31']);
    await remove(plane, 'service', 'first');
    await site.expect('shared.xcc.test', ['10.96.7.32']);
  });

  test('an old object that asks today takes no name that is served, not even after a restart', async () => {
    const start = () => startSite({ west: plane }, { namespace: 'default' });
    const written = async () => {
      const path = 'jsonpath={.items[*].data}';
      return (await plane.kubectl(['get', 'configmap', '-l', GRANTS, '-o', path])).stdout;
    };
    const theft = async () => apply(plane, service('plain', 'stable.xcc.test', { clusterIP: '10.96.7.81' }));
    {
      await using first = await start();
      await apply(plane, service('young', 'stable.xcc.test', { clusterIP: '10.96.7.80' }));
      await first.expect('stable.xcc.test', ['10.96.7.80']);
      await waitFor('the grant to be written', async () => (await written()).includes('stable.xcc.test'));
      assert.match(await written(), /"stable.xcc.test":"address \S+ Service default\/young"/);
      await theft();
      await expectEvent(plane, 'plain', 'NameTaken');
      assert.deepEqual(await first.ask('stable.xcc.test'), ['10.96.7.80']);
    }
    await using second = await start();
    assert.deepEqual(await second.ask('stable.xcc.test'), ['10.96.7.80']);
    await remove(plane, 'service', 'young');
    await second.expect('stable.xcc.test', ['10.96.7.81']);
    await waitFor('the grant to be passed on', async () => /Service default\/plain/.test(await written()));
    await remove(plane, 'service', 'plain');
    await waitFor('the grant to be released', async () => !(await written()).includes('stable.xcc.test'));
  });

  test('a malformed name is an event, and harms nobody', async () => {
    await apply(plane, service('broken', 'not a name', { clusterIP: '10.96.7.40' }));
    await expectEvent(plane, 'broken', 'NameInvalid');
    await apply(plane, service('astray', 'foo.elsewhere.test', { clusterIP: '10.96.7.41' }));
    await expectEvent(plane, 'astray', 'NameNotServed');
    assert.deepEqual(await site.ask('early.xcc.test'), ['10.96.7.10']);
  });

  test('a kind that comes later, and its records', async () => {
    await installKinds(plane);
    const spec = {
      endpoints: [{ dnsName: '0.kafka.xcc.test', recordType: 'A', targets: ['192.0.2.50'], recordTTL: 7 }],
    };
    const metadata = { name: 'kafka', namespace: 'default' };
    await apply(plane, { apiVersion: 'externaldns.k8s.io/v1alpha1', kind: 'DNSEndpoint', metadata, spec });
    await site.expect('0.kafka.xcc.test', ['192.0.2.50']);
    assert.equal(site.dns.explain('0.kafka.xcc.test', 'A')?.answer[0]?.ttl, 7);
  });

  test('what the configuration has is nobody else’s: not its name, nor a delegation above it', async () => {
    await apply(plane, service('thief', 'a.vault.xcc.test', { clusterIP: '10.96.7.70' }));
    const endpoints = [{ dnsName: 'vault.xcc.test', recordType: 'NS', targets: ['ns.evil.test'] }];
    const metadata = { name: 'cut', namespace: 'default' };
    const apiVersion = 'externaldns.k8s.io/v1alpha1';
    await apply(plane, { apiVersion, kind: 'DNSEndpoint', metadata, spec: { endpoints } });
    await expectEvent(plane, 'thief', 'NameReserved');
    await expectEvent(plane, 'cut', 'NameReserved');
    assert.deepEqual(await site.ask('a.vault.xcc.test'), ['192.0.2.99']);
  });

  test('a zone with a NamePolicy allows what that allows, and says what is missing', async () => {
    const policy = (namespace: string) => ({
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name: 'closed' },
      spec: {
        zone: 'closed.xcc.test',
        namespaces: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      },
    });
    await apply(plane, service('tenant', 'a.closed.xcc.test', { clusterIP: '10.96.7.90' }));
    await site.expect('a.closed.xcc.test', ['10.96.7.90']);
    await apply(plane, policy('somebody-else'));
    await site.expect('a.closed.xcc.test', 'ENOTFOUND');
    await expectEvent(plane, 'tenant', 'NameNotAllowed');
    assert.deepEqual(await site.ask('early.xcc.test'), ['10.96.7.10'], 'another zone');
    await apply(plane, policy('default'));
    await site.expect('a.closed.xcc.test', ['10.96.7.90']);
  });

  test('an EndpointSlice with a wildcard, once a NamePolicy has it', async () => {
    const annotations = { [HOSTNAME]: '*.gateway.a.xcc.test' };
    await apply(plane, endpointSlice('gateway', [{ addresses: ['192.0.2.1'] }], { annotations }));
    await expectEvent(plane, 'gateway', 'NameNotAllowed');
    assert.equal(await site.ask('anything.gateway.a.xcc.test'), 'ENOTFOUND');
    await apply(plane, {
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name: 'gateways' },
      spec: { zone: 'gateway.a.xcc.test', namespaces: {}, wildcards: true },
    });
    await site.expect('anything.gateway.a.xcc.test', ['192.0.2.1']);
    assert.equal(await site.ask('gateway.a.xcc.test'), 'ENODATA');
  });

  test('a server that is gone keeps its names, and says so', async () => {
    await plane.killApiServer();
    await expectMetric(site, 'isthmus_dns_cluster_reachable{cluster="west"} 0');
    assert.deepEqual(await site.ask('early.xcc.test'), ['10.96.7.10']);
    await using second = await startSite({ west: plane }, { wait: false });
    assert.equal(await second.ask('early.xcc.test'), 'ESERVFAIL', 'nothing is known yet');
    assert.ok(second.dns.problem());
    await plane.startApiServer();
    await second.expect('early.xcc.test', ['10.96.7.10']);
    await apply(plane, service('late', 'late.xcc.test', { clusterIP: '10.96.7.60' }));
    await site.expect('late.xcc.test', ['10.96.7.60']);
    await expectMetric(site, 'isthmus_dns_cluster_reachable{cluster="west"} 1');
    assert.match(await site.metrics(), /isthmus_dns_cluster_age_seconds\{cluster="west"\} [\d.]+/);
  });
});
