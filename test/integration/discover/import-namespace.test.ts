/** All imports in one namespace, with the rights of the manifests for that; and who may have which names there. Two real API servers. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { dnsManifests } from '../../../src/control/discover/install.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import {
  apply,
  endpointSlice,
  expectEvent,
  exportOf,
  installKinds,
  remove,
  service,
  startSite,
} from './site.ts';
import type { Site } from './site.ts';

const HOME = 'isthmus-system';
const XCC = 'cross-cluster-connectivity';
const LABEL = 'connectivity.tanzu.vmware.com/imported-namespace';

suite('imports in a namespace of their own', () => {
  const ends = new AsyncDisposableStack();
  let west: ControlPlane;
  let east: ControlPlane;
  let site: Site;

  before(async () => {
    [west, east] = await Promise.all([startControlPlane(), startControlPlane()]);
    ends.use(west);
    ends.use(east);
    await Promise.all([installKinds(west), installKinds(east)]);
    const options = { image: 'isthmus', replicas: 1, config: '', imports: true, reach: 'pods' as const };
    const manifests = dnsManifests({ namespace: HOME, importNamespace: XCC, ...options });
    await apply(west, namespace(HOME), namespace(XCC), ...manifests);
    for (const name of ['shop', 'stock']) await apply(east, namespace(name));
    const account = await west.userKubeconfig(`system:serviceaccount:${HOME}:isthmus-dns`);
    const limited = { ...west, kubeconfigText: await readFile(account, 'utf8') };
    site = ends.use(
      await startSite({ west: limited, east }, { imports: true, namespace: HOME, importNamespace: XCC }),
    );
  });
  after(() => ends.disposeAsync());

  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const inside = (namespace: string, object: object) => {
    const { metadata, ...rest } = object as { metadata: object };
    return { ...rest, metadata: { ...metadata, namespace } };
  };
  const listed = async (plane: ControlPlane, ...what: string[]) =>
    (await plane.kubectl(['get', ...what, '-o', 'name'])).stdout.split('\n').filter((line) => line !== '');

  /** The address that a service of the east has in the west. */
  async function addressOf(place: string): Promise<string> {
    const labels = `connectivity.tanzu.vmware.com/imported=web,${LABEL}=${place}`;
    const get = ['get', 'serviceimport', '-n', XCC, '-l', labels, '-o', 'jsonpath={.items[0].spec.ips[0]}'];
    return waitFor(
      `the address of web in ${place}`,
      async () => (await west.kubectl(get)).stdout || undefined,
    );
  }

  /** Until all that has been read so far is served: names are worked on one after the other. */
  async function untilPublished(): Promise<void> {
    await apply(west, service('probe', 'probe.xcc.test', { clusterIP: '10.96.8.1' }));
    await site.expect('probe.xcc.test', ['10.96.8.1']);
    await remove(west, 'service/probe');
    await site.expect('probe.xcc.test', 'ENOTFOUND');
  }

  test('two services of one name are told apart, by all their names, and no namespace of theirs is needed', async () => {
    for (const place of ['shop', 'stock'])
      await apply(
        east,
        inside(place, service('web', `${place}.xcc.test`)),
        inside(place, endpointSlice('web-1', [{ addresses: ['10.1.0.1'] }], { of: 'web' })),
        inside(place, exportOf('web')),
      );
    const [shop, stock] = [await addressOf('shop'), await addressOf('stock')];
    assert.notEqual(shop, stock);
    await site.expect('shop.xcc.test', [shop]);
    await site.expect('web.shop.svc.clusterset.local', [shop]);
    await site.expect('stock.xcc.test', [stock]);
    await site.expect('web.stock.svc.clusterset.local', [stock]);
  });

  test('nobody gets the name of another service by the labels of an import', async () => {
    const labels = {
      [LABEL]: 'shop',
      'multicluster.kubernetes.io/service-name': 'web',
    };
    const { apiVersion } = exportOf('web') as { apiVersion: string };
    const spec = { type: 'ClusterSetIP', ports: [], ips: ['10.6.6.6'] };
    const metadata = { name: 'web', namespace: 'default', labels };
    const count = async () => /^isthmus_dns_imports (\d+)$/m.exec(await site.metrics())?.[1];
    const before = Number(await count());
    await apply(west, { apiVersion, kind: 'ServiceImport', metadata, spec });
    await waitFor('it to be read', async () => Number(await count()) > before);
    await untilPublished();
    assert.deepEqual(await site.ask('web.shop.svc.clusterset.local'), [await addressOf('shop')]);
    await remove(west, 'serviceimport/web');
  });

  test('names of exports of other clusters are for clusters and namespaces that a NamePolicy allows', async () => {
    const shop = await addressOf('shop');
    const policy = (name: string, spec: object) => ({
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name },
      spec,
    });
    const all = { namespaces: {} };
    await apply(west, policy('names', { zone: 'xcc.test', ...all, clusters: ['north'] }));
    await apply(west, policy('exports', { zone: 'clusterset.local', ...all, clusters: ['north'] }));
    for (const name of ['shop.xcc.test', 'web.shop.svc.clusterset.local'])
      await site.expect(name, 'ENOTFOUND');
    const derived = (await listed(west, 'service', '-n', XCC, '-l', `${LABEL}=shop`))[0]!.replace(
      'service/',
      '',
    );
    await expectEvent(west, derived, 'NameNotAllowed');
    await apply(west, policy('names', { zone: 'xcc.test', ...all, clusters: ['east'] }));
    await apply(west, policy('exports', { zone: 'clusterset.local', ...all, clusters: ['east'] }));
    for (const name of ['shop.xcc.test', 'web.shop.svc.clusterset.local']) await site.expect(name, [shop]);
    // The namespace that counts is that of the service, not that of its import.
    const values = ['stock', 'default'];
    const some = { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values }] };
    await apply(west, policy('names', { zone: 'xcc.test', namespaces: some, clusters: ['east'] }));
    await site.expect('shop.xcc.test', 'ENOTFOUND');
    await untilPublished();
    assert.deepEqual(await site.ask('stock.xcc.test'), [await addressOf('stock')]);
    await remove(west, 'namepolicy/names', 'namepolicy/exports');
    await site.expect('shop.xcc.test', [shop]);
  });

  test('one that ends takes along what is its own', async () => {
    const objectsOf = (place: string) =>
      listed(west, 'services,endpointslices,serviceimports', '-n', XCC, '-l', `${LABEL}=${place}`);
    const others = await objectsOf('stock');
    assert.ok(others.length >= 3, others.join());
    await remove(east, 'serviceexport/web', '-n', 'shop');
    await site.expect('shop.xcc.test', 'ENOTFOUND');
    await waitFor('the rest to go', async () => (await objectsOf('shop')).length === 0);
    await untilPublished();
    assert.deepEqual(await objectsOf('stock'), others);
    assert.deepEqual(await site.ask('stock.xcc.test'), [await addressOf('stock')]);
  });
});
