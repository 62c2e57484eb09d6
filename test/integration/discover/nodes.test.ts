/** Two clusters whose pods do not reach each other: an exported service is reached by ports of nodes. Real API servers. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { apply, endpointSlice, exportOf, installKinds, remove, service, startSite } from './site.ts';
import type { Site } from './site.ts';

interface Listed<T> {
  items: T[];
}
interface Ports {
  metadata: { name: string };
  spec: { type: string; ports: { name: string; port: number; nodePort?: number }[] };
}
interface Slice {
  endpoints?: { addresses: string[] }[] | null;
  ports: { name: string; port: number }[];
}

suite('exports that are reached by nodes', () => {
  let west: ControlPlane;
  let east: ControlPlane;
  let sites: Site[] = [];
  before(async () => {
    [west, east] = await Promise.all([startControlPlane(), startControlPlane()]);
    await Promise.all([installKinds(west), installKinds(east)]);
    await setNode('one', '192.0.2.1', true);
    await setNode('two', '192.0.2.2', false);
    const options = { imports: true, reach: 'nodes' as const };
    sites = await Promise.all([startSite({ west, east }, options), startSite({ east, west }, options)]);
  });
  after(async () => {
    await Promise.all(sites.map((site) => site[Symbol.asyncDispose]()));
    await Promise.all([west?.stop(), east?.stop()]);
  });

  /** Makes a node of the eastern cluster be as a kubelet would. */
  async function setNode(name: string, address: string, isReady: boolean): Promise<void> {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
    await apply(east, node);
    const addresses = [{ type: 'InternalIP', address }];
    const ready = { type: 'Ready', status: isReady ? 'True' : 'False', reason: 'Test', message: 'test' };
    const patch = JSON.stringify({ status: { addresses, conditions: [ready] } });
    const { code, stderr } = await east.kubectl(['patch', 'node', name, '--subresource=status', '-p', patch]);
    assert.equal(code, 0, stderr);
  }

  async function list<T>(plane: ControlPlane, ...what: string[]): Promise<T[]> {
    const { code, stdout, stderr } = await plane.kubectl(['get', ...what, '-o', 'json']);
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as Listed<T>).items;
  }

  const companions = (name: string) =>
    list<Ports>(east, 'services', '-l', `connectivity.tanzu.vmware.com/node-ports-of=${name}`);

  /** Waits until the slices in the west lead to these addresses and this port. */
  async function expectWay(name: string, addresses: string[], port?: number): Promise<void> {
    let last = '';
    const isSo = async () => {
      const slices = await list<Slice>(
        west,
        'endpointslices',
        '-l',
        `multicluster.kubernetes.io/service-name=${name}`,
      );
      const found = slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((one) => one.addresses));
      const numbers = slices.flatMap(({ ports }) => ports.map((one) => `${one.name} ${one.port}`));
      last = JSON.stringify([found, numbers]);
      return last === JSON.stringify([addresses, port === undefined ? numbers : [`http ${port}`]]);
    };
    await waitFor(`the way to ${name}`, isSo, { everyMs: 200 }).catch(() =>
      assert.equal(last, JSON.stringify([addresses, [`http ${port}`]])),
    );
  }

  const pod = (ready = true) => ({ addresses: ['10.1.0.1'], conditions: { ready } });

  test('a Service without node ports gets a companion, by which the other cluster reaches it', async () => {
    await apply(east, service('foo', 'foo.xcc.test', { selector: { app: 'foo' } }), exportOf('foo'));
    await apply(east, endpointSlice('foo-1', [pod()], { of: 'foo' }));
    await waitFor('the companion', async () => (await companions('foo')).length === 1);
    const [companion] = await companions('foo');
    assert.equal(companion?.spec.type, 'NodePort');
    const number = companion?.spec.ports[0]?.nodePort;
    assert.ok(number);
    await expectWay('foo', ['192.0.2.1'], number);
    const address = await waitFor('its address in the west', async () => {
      const path = 'jsonpath={.spec.ips[0]}';
      return (await west.kubectl(['get', 'serviceimport', 'foo', '-o', path])).stdout || undefined;
    });
    await sites[0]!.expect('foo.xcc.test', [address]);
  });

  test('nodes come and go', async () => {
    await setNode('two', '192.0.2.2', true);
    await expectWay('foo', ['192.0.2.1', '192.0.2.2']);
    await setNode('one', '192.0.2.1', false);
    await expectWay('foo', ['192.0.2.2']);
  });

  test('without a ready pod nothing leads there', async () => {
    await apply(east, endpointSlice('foo-1', [pod(false)], { of: 'foo' }));
    await expectWay('foo', []);
    await apply(east, endpointSlice('foo-1', [pod()], { of: 'foo' }));
    await expectWay('foo', ['192.0.2.2']);
  });

  test('a Service with node ports of its own is reached by them', async () => {
    const ports = [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30_123 }];
    await apply(east, service('bar', undefined, { type: 'NodePort', selector: { app: 'bar' }, ports }));
    await apply(east, endpointSlice('bar-1', [pod()], { of: 'bar' }), exportOf('bar'));
    await expectWay('bar', ['192.0.2.2'], 30_123);
    assert.deepEqual(await companions('bar'), []);
  });

  test('a headless Service cannot be reached, and its export says why', async () => {
    await apply(east, service('pets', undefined, { clusterIP: 'None', selector: { app: 'pets' } }));
    await apply(east, endpointSlice('pets-1', [pod()], { of: 'pets' }), exportOf('pets'));
    const said = async () => {
      const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].message}';
      return (await east.kubectl(['get', 'serviceexport', 'pets', '-o', path])).stdout;
    };
    await waitFor('the reason', async () => (await said()).includes('headless'));
    await expectWay('pets', []);
    assert.equal(await sites[0]!.ask('pets.default.svc.clusterset.local'), 'ENOTFOUND');
  });

  test('the companion goes with the export', async () => {
    await remove(east, 'serviceexport', 'foo');
    await waitFor('it to go', async () => (await companions('foo')).length === 0);
    await expectWay('foo', []);
    await sites[0]!.expect('foo.xcc.test', 'ENOTFOUND');
  });
});
