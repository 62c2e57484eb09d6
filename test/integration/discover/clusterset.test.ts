/** The rules of the Multi-Cluster Services DNS specification, against three real API servers. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import {
  apply,
  endpointSlice,
  expectEvent,
  expectMetric,
  exportOf,
  installKinds,
  remove,
  service,
  startSite,
} from './site.ts';
import type { Site } from './site.ts';

const ZONE = 'default.svc.clusterset.local';

suite('names of a cluster set', () => {
  let planes: { west: ControlPlane; east: ControlPlane; north: ControlPlane };
  let site: Site;
  before(async () => {
    const [west, east, north] = await Promise.all([
      startControlPlane(),
      startControlPlane(),
      startControlPlane(),
    ]);
    planes = { west, east, north };
    await Promise.all([west, east, north].map(installKinds));
    site = await startSite(planes);
  });
  after(async () => {
    await site?.[Symbol.asyncDispose]();
    await Promise.all(Object.values(planes ?? {}).map((plane) => plane.stop()));
  });

  const pet = (hostname: string, address: string, ready = true) => ({
    addresses: [address],
    hostname,
    conditions: { ready },
  });

  async function exportPets(
    plane: ControlPlane,
    name: string,
    endpoints: object[],
    spec: object = {},
  ): Promise<void> {
    const slice = endpointSlice(`${name}-1`, endpoints, { of: name });
    await apply(plane, service(name, undefined, { clusterIP: 'None', ...spec }), slice, exportOf(name));
  }

  test('2.2: the version', async () => {
    await site.expect('dns-version.clusterset.local', ['1.0.0'], 'TXT');
  });

  test('2.4: headless: all clusters by service, each endpoint by host and cluster, SRV to each', async () => {
    await exportPets(planes.east, 'pets', [pet('a', '10.1.0.1'), pet('b', '10.1.0.2', false)]);
    await exportPets(planes.north, 'pets', [pet('a', '10.2.0.1')]);
    await site.expect(`pets.${ZONE}`, ['10.1.0.1', '10.2.0.1']);
    await site.expect(`a.east.pets.${ZONE}`, ['10.1.0.1']);
    await site.expect(`a.north.pets.${ZONE}`, ['10.2.0.1']);
    assert.equal(await site.ask(`b.east.pets.${ZONE}`), 'ENOTFOUND');
    await site.expect(
      `_http._tcp.pets.${ZONE}`,
      [`8080 a.east.pets.${ZONE}`, `8080 a.north.pets.${ZONE}`],
      'SRV',
    );
    assert.deepEqual(site.dns.explain(`pets.${ZONE}`, 'A')?.answer[0]?.sources, [
      'ServiceExport east/default/pets',
      'ServiceExport north/default/pets',
    ]);
  });

  test('2.4.4: no name for one cluster as a whole', async () => {
    // The name has names below it, so it is no NXDOMAIN; but there is nothing at it.
    for (const type of ['A', 'AAAA', 'SRV'])
      assert.equal(await site.ask(`east.pets.${ZONE}`, type), 'ENODATA');
  });

  test('an endpoint that is no longer ready goes; without any, the name does', async () => {
    await apply(planes.north, endpointSlice('pets-1', [pet('a', '10.2.0.1', false)], { of: 'pets' }));
    await site.expect(`pets.${ZONE}`, ['10.1.0.1']);
    await apply(planes.east, endpointSlice('pets-1', [], { of: 'pets' }));
    await site.expect(`pets.${ZONE}`, 'ENOTFOUND');
    await site.expect(`_http._tcp.pets.${ZONE}`, 'ENOTFOUND', 'SRV');
  });

  test('publishNotReadyAddresses is honoured', async () => {
    await exportPets(planes.east, 'eager', [pet('a', '10.1.0.9', false)], { publishNotReadyAddresses: true });
    await site.expect(`eager.${ZONE}`, ['10.1.0.9']);
  });

  test('what is not exported has no name, and what no longer is neither', async () => {
    await exportPets(planes.east, 'brief', [pet('a', '10.1.0.5')]);
    await site.expect(`brief.${ZONE}`, ['10.1.0.5']);
    await remove(planes.east, 'serviceexport', 'brief');
    await site.expect(`brief.${ZONE}`, 'ENOTFOUND');
  });

  test('2.3: an imported service by its address, SRV to the same name, none below it', async () => {
    await apply(planes.east, service('api', undefined), exportOf('api'));
    assert.equal(await site.ask(`api.${ZONE}`), 'ENOTFOUND');
    await apply(planes.west, {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceImport',
      metadata: { name: 'api', namespace: 'default' },
      spec: {
        type: 'ClusterSetIP',
        ips: ['10.96.9.9', 'fd00::9'],
        ports: [{ name: 'http', port: 80 }, { port: 81 }],
      },
    });
    await site.expect(`api.${ZONE}`, ['10.96.9.9']);
    await site.expect(`api.${ZONE}`, ['fd00::9'], 'AAAA');
    await site.expect(`_http._tcp.api.${ZONE}`, [`80 api.${ZONE}`], 'SRV');
    assert.equal(await site.ask(`east.api.${ZONE}`), 'ENOTFOUND');
  });

  test('two kinds of service under one name: the older export decides, the other is told', async () => {
    await exportPets(planes.east, 'mixed', [pet('a', '10.1.0.7')]);
    await site.expect(`mixed.${ZONE}`, ['10.1.0.7']);
    // Ages count in whole seconds; a cluster whose name sorts later keeps the order clear even within one.
    await apply(planes.west, service('mixed', undefined), exportOf('mixed'));
    await expectEvent(planes.west, 'mixed', 'ExportConflict');
    assert.deepEqual(await site.ask(`mixed.${ZONE}`), ['10.1.0.7']);
  });

  test('nobody else gets a name in the zone', async () => {
    await apply(planes.west, service('thief', `pets.${ZONE}`));
    await expectEvent(planes.west, 'thief', 'NameInvalid');
    assert.equal(await site.ask(`pets.${ZONE}`), 'ENOTFOUND');
  });

  test('a cluster that is cut off keeps its names; the others go on', async () => {
    await exportPets(planes.north, 'far', [pet('a', '10.2.0.8')]);
    await site.expect(`far.${ZONE}`, ['10.2.0.8']);
    await planes.north.killApiServer();
    await expectMetric(site, 'isthmus_dns_cluster_reachable{cluster="north"} 0');
    await exportPets(planes.east, 'far', [pet('a', '10.1.0.8')]);
    await site.expect(`far.${ZONE}`, ['10.1.0.8', '10.2.0.8']);
  });

  test('begun while a cluster is cut off: answers without it, from what was imported before', async () => {
    const labels = {
      'multicluster.kubernetes.io/service-name': 'far',
      'multicluster.kubernetes.io/source-cluster': 'north',
    };
    const slice = endpointSlice('imported-far', [pet('a', '10.2.0.8')]) as { metadata: { labels: object } };
    slice.metadata.labels = labels;
    await apply(planes.west, slice);
    await using second = await startSite(planes, { joinWaitMs: 3000 });
    await second.expect(`far.${ZONE}`, ['10.1.0.8', '10.2.0.8']);
    await second.expect(`a.north.far.${ZONE}`, ['10.2.0.8']);
  });
});
