/** What of a Service is carried over to other clusters: one real API server with both address families, and one with IPv4 only. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { apply, endpointSlice, exportOf, installKinds, remove, service, startSite } from './site.ts';
import type { Site } from './site.ts';

interface Imported {
  spec: Record<string, unknown> & { ips?: string[]; ipFamilies?: string[] };
  status?: {
    endpointSliceObjects?: string;
    conditions?: { type: string; status: string; reason: string; message: string }[];
  };
}

const PATIENT = { timeoutMs: 180_000, everyMs: 200 };

suite('what is carried over', () => {
  let west: ControlPlane;
  let east: ControlPlane;
  const sites = new AsyncDisposableStack();
  let atWest: Site;
  let atEast: Site;

  before(async () => {
    // The node needs no IPv6 for it: addresses of Services are numbers to an API server.
    const both = '--service-cluster-ip-range=10.97.0.0/16,fd00:97::/108';
    [west, east] = await Promise.all([startControlPlane(), startControlPlane({ apiServerArgs: [both] })]);
    sites.defer(() => west.stop());
    sites.defer(() => east.stop());
    await Promise.all([installKinds(west), installKinds(east)]);
    atWest = sites.use(await startSite({ west, east }, { imports: true }));
    atEast = sites.use(await startSite({ east, west }, { imports: true }));
  });
  after(() => sites.disposeAsync());

  /** The import of a service, once it says this of itself. */
  async function imported(
    plane: ControlPlane,
    name: string,
    said: string,
    namespace = 'default',
    why = /./,
  ): Promise<Imported> {
    let found: Imported | undefined;
    const isSo = async () => {
      const { code, stdout } = await plane.kubectl([
        'get',
        'serviceimport',
        name,
        '--namespace',
        namespace,
        '-o',
        'json',
      ]);
      if (code !== 0) return false;
      found = JSON.parse(stdout) as Imported;
      const [condition] = found.status?.conditions ?? [];
      return `${condition?.status} ${condition?.reason}` === said && why.test(condition?.message ?? '');
    };
    await waitFor(`${name} to say ${said}`, isSo, PATIENT);
    return found!;
  }

  test('a service that has only addresses the cluster lacks is imported without any, and says why', async () => {
    const spec = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] };
    await apply(east, service('six', undefined, spec), exportOf('six'));
    const { spec: at, status } = await imported(west, 'six', 'False IPFamilyNotSupported');
    assert.equal(at.ips, undefined);
    assert.match(status?.conditions?.[0]?.message ?? '', /IPv6/);
    await atWest.expect('six.default.svc.clusterset.local', 'ENOTFOUND');
    await atWest.expect('six.default.svc.clusterset.local', 'ENOTFOUND', 'AAAA');
  });

  test('and where the cluster has them it can be used', async () => {
    const { spec } = await imported(east, 'six', 'True Ready');
    assert.deepEqual(spec.ipFamilies, ['IPv6']);
    await atEast.expect('six.default.svc.clusterset.local', spec.ips!, 'AAAA');
  });

  test('of two families a cluster takes those that it has', async () => {
    const spec = { ipFamilyPolicy: 'RequireDualStack' };
    await apply(east, service('dual', undefined, spec), exportOf('dual'));
    await apply(east, endpointSlice('dual-4', [{ addresses: ['10.1.0.1'] }], { of: 'dual' }));
    const [here, there] = [
      await imported(west, 'dual', 'True Ready'),
      await imported(east, 'dual', 'True Ready'),
    ];
    assert.deepEqual(here.spec.ipFamilies, ['IPv4']);
    assert.deepEqual(there.spec.ipFamilies, ['IPv4', 'IPv6']);
    await atWest.expect('dual.default.svc.clusterset.local', here.spec.ips!);
    await atEast.expect('dual.default.svc.clusterset.local', [there.spec.ips![1]!], 'AAAA');
  });

  test('what concerns a Service as a whole is on the import and on the Service that stands for it, and follows', async () => {
    const ports = [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' }];
    const sticky = {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      internalTrafficPolicy: 'Local',
      trafficDistribution: 'PreferClose',
    };
    const plain = { sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' };
    const names = Object.keys(sticky);
    const pick = (spec: Record<string, unknown>) =>
      Object.fromEntries(names.flatMap((name) => (name in spec ? [[name, spec[name]]] : [])));
    const derived = async () => {
      const label = 'connectivity.tanzu.vmware.com/imported=whole';
      const { stdout } = await west.kubectl(['get', 'service', '-l', label, '-o', 'json']);
      return (JSON.parse(stdout) as { items: Imported[] }).items[0]?.spec ?? {};
    };
    await apply(east, exportOf('whole'));
    for (const wanted of [sticky, plain, sticky]) {
      await apply(east, service('whole', undefined, { ports, ...wanted }));
      const both = async () => {
        const { spec } = await imported(west, 'whole', 'True Ready');
        return [pick(await derived()), pick(spec)];
      };
      const isCarried = async () => isDeepStrictEqual(await both(), [wanted, wanted]);
      await waitFor(`both to have ${JSON.stringify(wanted)}`, isCarried, PATIENT).catch(async () =>
        assert.deepEqual(await both(), [wanted, wanted]),
      );
      const { spec, status } = await imported(west, 'whole', 'True Ready');
      assert.deepEqual(spec['ports'], ports);
      assert.equal(status?.endpointSliceObjects, 'Present');
    }
  });

  test('what a cluster will not have for another reason is said, too, and tried again', async () => {
    const namespace = 'tight';
    const placed = (object: object) => ({ ...object, metadata: { name: 'much', namespace } });
    const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    const metadata = { name: 'no-services', namespace };
    const hard = { services: '0' };
    await apply(west, made, { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
    // What the controller manager would write; the API server goes by it, a moment later.
    const status = JSON.stringify({ status: { hard, used: hard } });
    const what = ['resourcequota/no-services', '--namespace', namespace];
    await west.kubectl(['patch', ...what, '--subresource=status', '--type=merge', '-p', status]);
    const isEnforced = async () => {
      const args = ['service', 'clusterip', 'probe', '--tcp=80', '--namespace', namespace];
      if ((await west.kubectl(['create', ...args])).stderr.includes('quota')) return true;
      await west.kubectl(['delete', 'service', 'probe', '--namespace', namespace]);
      return false;
    };
    await waitFor('the quota to count', isEnforced, PATIENT);
    await apply(east, made, placed(service('much', undefined)), placed(exportOf('much')));
    await imported(west, 'much', 'False Pending', namespace, /quota/);
    await remove(west, ...what);
    await imported(west, 'much', 'True Ready', namespace);
  });
});
