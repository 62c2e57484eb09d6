/** A service exported in one cluster, found and addressed in another: two real API servers, one program beside each. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { ObjectMeta } from '../../../src/kube/object.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { untilKindsAreServed } from '../../support/control-plane/served.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { clusterProperty, clusterPropertyCrd } from './cluster-property.ts';
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

interface Imported {
  spec: { type: string; ips?: string[] };
  status?: { clusters?: { cluster: string }[] };
}

interface Slice {
  metadata: ObjectMeta;
  /** Null where there are none. */
  endpoints: { addresses: string[] }[] | null;
}

type Slices = { items: Slice[] };

const addressesIn = ({ endpoints }: Slice) => (endpoints ?? []).flatMap(({ addresses }) => addresses);

suite('imports', () => {
  let west: ControlPlane;
  let east: ControlPlane;
  let sites: Site[] = [];
  before(async () => {
    [west, east] = await Promise.all([startControlPlane(), startControlPlane()]);
    await Promise.all([installKinds(west), installKinds(east)]);
    // Our own Service, on which the western one says what it lacks.
    await apply(west, service('isthmus-dns', undefined));
    sites = await Promise.all([
      startSite({ west, east }, { imports: true, namespace: 'default' }),
      startSite({ east, west }, { imports: true }),
    ]);
  });
  after(async () => {
    await Promise.all(sites.map((site) => site[Symbol.asyncDispose]()));
    await Promise.all([west?.stop(), east?.stop()]);
  });

  async function get<T>(plane: ControlPlane, ...what: string[]): Promise<T | undefined> {
    const { code, stdout } = await plane.kubectl(['get', ...what, '-o', 'json']);
    return code === 0 ? (JSON.parse(stdout) as T) : undefined;
  }

  async function until<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
    let found: T | undefined;
    await waitFor(what, async () => (found = await read()) !== undefined, { everyMs: 200 });
    return found!;
  }

  const endpoint = (address: string) => ({ addresses: [address], conditions: { ready: true } });

  test('a client of the other cluster gets an address there, by both names, and it leads to the exporter', async () => {
    await apply(east, service('foo', 'foo.xcc.test'), exportOf('foo'));
    await apply(east, endpointSlice('foo-1', [endpoint('10.1.0.1')], { of: 'foo' }));
    const imported = await until('the import to have an address', async () => {
      const found = await get<Imported>(west, 'serviceimport', 'foo');
      return found?.spec.ips && found.status?.clusters ? found : undefined;
    });
    assert.equal(imported.spec.type, 'ClusterSetIP');
    assert.deepEqual(imported.status?.clusters, [{ cluster: 'east' }]);
    await sites[0]!.expect('foo.default.svc.clusterset.local', imported.spec.ips!);
    await sites[0]!.expect('foo.xcc.test', imported.spec.ips!);
    const selector = ['-l', 'multicluster.kubernetes.io/source-cluster=east'];
    await waitFor('the way to the exporter', async () => {
      const slices = await get<Slices>(west, 'endpointslices', ...selector);
      return JSON.stringify(slices?.items.map(addressesIn)) === '[["10.1.0.1"]]';
    });
    await expectMetric(sites[0]!, 'isthmus_dns_exports{cluster="east"} 1');
    await expectMetric(sites[0]!, 'isthmus_dns_exports{cluster="west"} 0');
    await expectMetric(sites[0]!, 'isthmus_dns_imports 1');
  });

  test('in the exporting cluster the Service keeps its own name', async () => {
    const own = await until('it', () => get<{ spec: { clusterIP: string } }>(east, 'service', 'foo'));
    await sites[1]!.expect('foo.xcc.test', [own.spec.clusterIP]);
  });

  test('the export says that it is one, and both that they disagree', async () => {
    const conditions = async (plane: ControlPlane) => {
      const found = await get<{ status?: { conditions?: { type: string; status: string }[] } }>(
        plane,
        'serviceexport',
        'foo',
      );
      const list = found?.status?.conditions?.map(({ type, status }) => `${type}=${status}`);
      return list?.toSorted().join(' ');
    };
    await waitFor(
      'conditions',
      async () => (await conditions(east)) === 'Conflict=False NamespaceExists=True Ready=True Valid=True',
    );
    await apply(west, service('foo', undefined, { clusterIP: 'None' }), exportOf('foo'));
    for (const plane of [west, east])
      await waitFor(
        'a conflict',
        async () => (await conditions(plane)) === 'Conflict=True NamespaceExists=True Ready=True Valid=True',
      );
    await remove(west, 'serviceexport/foo', 'service/foo');
    await waitFor(
      'the end of the conflict',
      async () => (await conditions(east)) === 'Conflict=False NamespaceExists=True Ready=True Valid=True',
    );
  });

  test('what changes is carried over, and what is at rest is not written', async () => {
    await apply(east, endpointSlice('foo-1', [endpoint('10.1.0.2')], { of: 'foo' }));
    const selector = ['endpointslices', '-l', 'multicluster.kubernetes.io/source-cluster=east'];
    await waitFor('the new address', async () => {
      const found = await get<Slices>(west, ...selector);
      return JSON.stringify(found?.items.map(addressesIn)) === '[["10.1.0.2"]]';
    });
    const before = await get<Slices>(west, ...selector);
    await apply(east, service('bystander', undefined), exportOf('bystander'));
    await until('the bystander', () => get(west, 'serviceimport', 'bystander'));
    const after = await get<Slices>(west, ...selector);
    const version = (slices?: Slices) => slices?.items[0]?.metadata.resourceVersion;
    assert.equal(version(after), version(before));
  });

  test('labels and annotations that are exported are on the import, which owns its slices', async () => {
    const spec = { exportedLabels: { team: 'a' }, exportedAnnotations: { 'example.test/note': 'hello' } };
    await apply(east, { ...exportOf('foo'), spec });
    const imported = await until('the label', async () => {
      const found = await get<{ metadata: ObjectMeta }>(west, 'serviceimport', 'foo');
      return found?.metadata.labels?.['team'] === 'a' ? found : undefined;
    });
    assert.equal(imported.metadata.annotations?.['example.test/note'], 'hello');
    await waitFor('the slices to be owned', async () => {
      const selector = ['-l', 'multicluster.kubernetes.io/service-name=foo'];
      const slices = await get<Slices>(west, 'endpointslices', ...selector);
      const owners = slices?.items.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
      return JSON.stringify(owners) === JSON.stringify([imported.metadata.uid]);
    });
  });

  test('an import says whether it can be used', async () => {
    await apply(east, service('bare', undefined, { clusterIP: 'None' }), exportOf('bare'));
    const conditions = async (name: string) => {
      const found = await get<{ status?: { conditions?: { reason: string; status: string }[] } }>(
        west,
        'serviceimport',
        name,
      );
      return found?.status?.conditions?.map(({ status, reason }) => `${status} ${reason}`).join();
    };
    await waitFor('a headless import to be ready', async () => (await conditions('bare')) === 'True Ready');
    await waitFor('foo to be ready', async () => (await conditions('foo')) === 'True Ready');
    await remove(east, 'serviceexport/bare', 'service/bare');
  });

  test('a headless service has its name in the other cluster too, by the endpoints that are ready', async () => {
    const pet = (hostname: string, address: string, ready: boolean) => ({
      addresses: [address],
      hostname,
      conditions: { ready },
    });
    const endpoints = (ready: boolean) => [pet('a', '10.1.0.21', true), pet('b', '10.1.0.22', ready)];
    const named = (publishNotReadyAddresses: boolean) =>
      service('herd', 'herd.xcc.test', { clusterIP: 'None', publishNotReadyAddresses });
    await apply(east, named(false), exportOf('herd'));
    await apply(east, endpointSlice('herd-1', endpoints(false), { of: 'herd' }));
    await sites[0]!.expect('herd.xcc.test', ['10.1.0.21']);
    await sites[0]!.expect('a.herd.xcc.test', ['10.1.0.21']);
    assert.equal(await sites[0]!.ask('b.herd.xcc.test'), 'ENOTFOUND');
    await apply(east, named(true));
    await sites[0]!.expect('b.herd.xcc.test', ['10.1.0.22']);
    await remove(east, 'serviceexport/herd', 'service/herd', 'endpointslice/herd-1');
    await sites[0]!.expect('herd.xcc.test', 'ENOTFOUND');
  });

  test('exports that ask for different names are told so', async () => {
    await apply(east, service('twin', 'twin.xcc.test'), exportOf('twin'));
    await apply(west, service('twin', 'other.xcc.test'), exportOf('twin'));
    const path = 'jsonpath={.status.conditions[?(@.type=="Conflict")].reason}';
    for (const plane of [west, east])
      await waitFor('the conflict', async () => {
        return (await plane.kubectl(['get', 'serviceexport', 'twin', '-o', path])).stdout === 'FQDNConflict';
      });
    for (const plane of [west, east]) await remove(plane, 'serviceexport/twin', 'service/twin');
  });

  test('a missing namespace is said on both sides, and the service imported when it is made', async () => {
    const namespace = 'later';
    const placed = (object: object) => ({ ...object, metadata: { name: 'late', namespace } });
    const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await apply(east, made, placed(service('late', undefined)), placed(exportOf('late')));
    const said = async (plane: ControlPlane, type: string, ...object: string[]) => {
      const path = `jsonpath={.status.conditions[?(@.type=="${type}")].reason}`;
      return (await plane.kubectl(['get', ...object, '-o', path])).stdout;
    };
    const exporting = () => said(east, 'NamespaceExists', 'serviceexport', 'late', '-n', namespace);
    const importing = () => said(west, 'ImportNamespacesExist', 'service', 'isthmus-dns');
    await waitFor('the exporter to be told', async () => (await exporting()) === 'NamespaceMissing');
    await waitFor('the importer to be told', async () => (await importing()) === 'NamespaceMissing');
    await expectEvent(east, 'late', 'NamespaceMissing');
    await expectEvent(west, 'isthmus-dns', 'NamespaceMissing');
    await expectMetric(sites[0]!, 'isthmus_dns_imports_without_namespace 1');
    await apply(west, made);
    await until('the import', () => get(west, 'serviceimport', 'late', '-n', namespace));
    await waitFor('the exporter to be told', async () => (await exporting()) === 'NamespaceFound');
    await waitFor('the importer to be told', async () => (await importing()) === 'NamespacesFound');
  });

  test('writes that the API server refuses are counted', async () => {
    const namespace = 'ending';
    const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    const placed = (object: object) => ({ ...object, metadata: { name: 'refused', namespace } });
    // Nobody is here who would clear it up, so it stays like this, and takes nothing new.
    await apply(west, made);
    await west.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    await apply(east, made, placed(service('refused', undefined)), placed(exportOf('refused')));
    const failed = /^isthmus_road_writes_total\{road="discover",what="failed"\} [1-9]/m;
    await waitFor('a failed write', async () => failed.test(await sites[0]!.metrics()));
    await remove(east, 'serviceexport/refused', '-n', namespace);
  });

  test('a cluster is called what it calls itself', async () => {
    await apply(west, clusterPropertyCrd());
    await apply(east, clusterPropertyCrd());
    await untilKindsAreServed(east);
    await apply(east, clusterProperty('orient'));
    const clusters = async () =>
      (await get<Imported>(west, 'serviceimport', 'foo'))?.status?.clusters?.map(({ cluster }) => cluster);
    await until('the id', async () => ((await clusters())?.join() === 'orient' ? true : undefined));
    assert.match(await sites[0]!.metrics(), /^isthmus_dns_exports\{cluster="orient"\} [1-9]/m);
    assert.doesNotMatch(await sites[0]!.metrics(), /^isthmus_dns_exports\{cluster="east"\}/m);
    const pet = { addresses: ['10.1.0.7'], hostname: 'a', conditions: { ready: true } };
    await apply(east, service('pets', undefined, { clusterIP: 'None' }), exportOf('pets'));
    await apply(east, endpointSlice('pets-1', [pet], { of: 'pets' }));
    await sites[0]!.expect('a.orient.pets.default.svc.clusterset.local', ['10.1.0.7']);
    await remove(east, 'clusterproperty', 'cluster.clusterset.k8s.io');
    await sites[0]!.expect('a.east.pets.default.svc.clusterset.local', ['10.1.0.7']);
  });

  test('an export that ends leaves nothing behind', async () => {
    await remove(east, 'serviceexport', 'foo');
    await waitFor('the import to go', async () => (await get(west, 'serviceimport', 'foo')) === undefined);
    // It is not the last that goes.
    await waitFor('the rest to go', async () => {
      const selector = ['-l', 'connectivity.tanzu.vmware.com/imported=foo'];
      const left = await get<{ items: object[] }>(west, 'services,endpointslices', ...selector);
      return left?.items.length === 0;
    });
    await sites[0]!.expect('foo.default.svc.clusterset.local', 'ENOTFOUND');
    await sites[0]!.expect('foo.xcc.test', 'ENOTFOUND');
  });

  test('a cluster that cannot be reached when the program starts loses nothing', async () => {
    await sites.shift()![Symbol.asyncDispose]();
    await east.killApiServer();
    sites.push(await startSite({ west, east }, { imports: true, joinWaitMs: 1000 }));
    await apply(west, service('near', undefined), exportOf('near'));
    await until('work to be done', () => get(west, 'serviceimport', 'near'));
    const kept = await get<Imported>(west, 'serviceimport', 'bystander');
    await sites.at(-1)!.expect('bystander.default.svc.clusterset.local', kept!.spec.ips!);
  });
});
