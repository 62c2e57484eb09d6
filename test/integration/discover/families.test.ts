/** Services of address families that not every cluster has: one real API server with both, and one with IPv4 only. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { apply, endpointSlice, exportOf, installKinds, service, startSite } from './site.ts';
import type { Site } from './site.ts';

interface Imported {
  spec: { ips?: string[]; ipFamilies?: string[] };
  status?: { conditions?: { type: string; status: string; reason: string; message: string }[] };
}

const PATIENT = { timeoutMs: 60_000, everyMs: 200 };

suite('address families', () => {
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
  async function imported(plane: ControlPlane, name: string, said: string): Promise<Imported> {
    let found: Imported | undefined;
    const isSo = async () => {
      const { code, stdout } = await plane.kubectl(['get', 'serviceimport', name, '-o', 'json']);
      if (code !== 0) return false;
      found = JSON.parse(stdout) as Imported;
      return found.status?.conditions?.some(({ status, reason }) => `${status} ${reason}` === said) ?? false;
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
});
