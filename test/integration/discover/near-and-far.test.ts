/** A service that two clusters export, seen from one of them: which endpoints clients get, and what becomes of a cluster that is gone. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { apply, endpointSlice, expectMetric, exportOf, installKinds, service, startSite } from './site.ts';
import type { Site } from './site.ts';

const PETS = 'pets.default.svc.clusterset.local';

suite('services near and far', () => {
  const ends = new AsyncDisposableStack();
  let west: ControlPlane;
  let east: ControlPlane;
  let site: Site;

  before(async () => {
    [west, east] = await Promise.all([startControlPlane(), startControlPlane()]);
    ends.use(west);
    ends.use(east);
    await Promise.all([installKinds(west), installKinds(east)]);
    for (const plane of [west, east])
      await apply(
        plane,
        service('pets', undefined, { clusterIP: 'None' }),
        service('web', undefined),
        exportOf('pets'),
        exportOf('web'),
      );
    await setPods(east, '10.2.0.1', true);
    await setPods(west, '10.1.0.1', true);
    const options = { imports: true, preferLocal: true, forgetAfterMs: 2000 };
    site = ends.use(await startSite({ west, east }, options));
  });
  after(() => ends.disposeAsync());

  /** Gives both services a pod in a cluster. */
  async function setPods(plane: ControlPlane, address: string, ready: boolean): Promise<void> {
    const pods = [{ addresses: [address], hostname: 'a', conditions: { ready } }];
    for (const name of ['pets', 'web']) await apply(plane, endpointSlice(`${name}-1`, pods, { of: name }));
  }

  /** Waits until the imported Service leads to these clusters. */
  async function expectSources(...clusters: string[]): Promise<void> {
    const label = 'multicluster.kubernetes.io';
    const path = `jsonpath={.items[*].metadata.labels.${label.replaceAll('.', String.raw`\.`)}/source-cluster}`;
    const get = ['get', 'endpointslices', '-l', `${label}/service-name=web`, '-o', path];
    const read = async () => (await west.kubectl(get)).stdout.split(' ').toSorted().join();
    await waitFor(`web to lead to ${clusters.join()}`, async () => (await read()) === clusters.join());
  }

  test('a cluster that has ready endpoints itself is preferred, and those of others have names still', async () => {
    await site.expect(PETS, ['10.1.0.1']);
    await site.expect(`_http._tcp.${PETS}`, [`8080 a.west.${PETS}`], 'SRV');
    await site.expect(`a.east.${PETS}`, ['10.2.0.1']);
    await expectSources('west');
  });

  test('without a ready endpoint here, those of others are used', async () => {
    await setPods(west, '10.1.0.1', false);
    await site.expect(PETS, ['10.2.0.1']);
    await expectSources('east', 'west');
    await setPods(west, '10.1.0.1', true);
    await site.expect(PETS, ['10.1.0.1']);
    await expectSources('west');
  });

  test('a cluster that cannot be read for too long is forgotten, and counts again when it can', async () => {
    await apply(east, service('far', 'far.xcc.test'), exportOf('far'));
    const address = async () =>
      (await west.kubectl(['get', 'serviceimport', 'far', '-o', 'jsonpath={.spec.ips[0]}'])).stdout;
    await waitFor('the import', async () => (await address()) !== '');
    await site.expect('far.xcc.test', [await address()]);
    await east.killApiServer();
    await site.expect(`a.east.${PETS}`, 'ENOTFOUND');
    await site.expect('far.xcc.test', 'ENOTFOUND');
    await site.expect(PETS, ['10.1.0.1']);
    await expectMetric(site, 'isthmus_dns_cluster_reachable{cluster="east"} 0');
    await east.startApiServer();
    await site.expect(`a.east.${PETS}`, ['10.2.0.1']);
    await waitFor('the import', async () => (await address()) !== '');
    await site.expect('far.xcc.test', [await address()]);
    assert.deepEqual(await site.ask(PETS), ['10.1.0.1']);
  });
});
