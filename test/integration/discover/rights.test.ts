/** A joined cluster whose account may not read everything: what can be done without is, and the rest loses nothing. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, beforeEach, suite, test } from 'node:test';
import { MEMBER_RULES } from '../../../src/control/discover/install.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { crdOf } from '../../../src/resources/crd.ts';
import { serviceImport } from '../../../src/resources/multicluster/service-import.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { clusterProperty, clusterPropertyCrd } from './cluster-property.ts';
import {
  apply,
  endpointSlice,
  expectEvent,
  expectMetric,
  exportOf,
  installKinds,
  service,
  startSite,
} from './site.ts';
import type { Site } from './site.ts';

/** Longer than the longest pause between two tries. */
const PATIENT = { timeoutMs: 120_000, everyMs: 200 };
const READER = 'reader';

suite('rights in a joined cluster', () => {
  let west: ControlPlane;
  let east: ControlPlane;
  /** East, as the account sees it. */
  let joined: ControlPlane;
  let secret: KubeObject;

  before(async () => {
    [west, east] = await Promise.all([startControlPlane(), startControlPlane()]);
    await Promise.all([installKinds(west), installKinds(east)]);
    await apply(east, clusterPropertyCrd());
    await east.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    await apply(east, clusterProperty('orient'));
    joined = { ...east, kubeconfigText: await readFile(await east.userKubeconfig(READER), 'utf8') };
    const pet = { addresses: ['10.1.0.7'], hostname: 'a', conditions: { ready: true } };
    await apply(east, service('pets', undefined, { clusterIP: 'None' }), exportOf('pets'));
    await apply(east, endpointSlice('pets-1', [pet], { of: 'pets' }));
    await apply(east, service('web', undefined), exportOf('web'));
    const metadata = { name: 'east', namespace: 'default' };
    await apply(west, { apiVersion: 'v1', kind: 'Secret', metadata });
    const { stdout } = await west.kubectl(['get', 'secret', 'east', '-o', 'json']);
    secret = JSON.parse(stdout) as KubeObject;
  });
  after(async () => {
    await Promise.all([west?.stop(), east?.stop()]);
  });
  beforeEach(() => allow(() => true));

  /** Lets the account read those of the kinds that members read. */
  async function allow(isAllowed: (resource: string) => boolean): Promise<void> {
    const rules = MEMBER_RULES.filter(({ resources }) => resources.every(isAllowed));
    const [metadata, group] = [{ name: READER }, 'rbac.authorization.k8s.io'];
    const apiVersion = `${group}/v1`;
    const subjects = [{ kind: 'User', name: READER, apiGroup: group }];
    const roleRef = { kind: 'ClusterRole', name: READER, apiGroup: group };
    await apply(
      east,
      { apiVersion, kind: 'ClusterRole', metadata, rules },
      { apiVersion, kind: 'ClusterRoleBinding', metadata, subjects, roleRef },
    );
    const { apiGroups, resources } = MEMBER_RULES.find((rule) => !rule.resources.every(isAllowed)) ?? {};
    if (!resources) return;
    // The API server learns of roles by a watch of its own.
    const what = [resources[0], apiGroups?.[0]].filter(Boolean).join('.');
    const isRefused = async () =>
      (await east.kubectl(['auth', 'can-i', 'list', what, '--as', READER])).stdout.trim() === 'no';
    await waitFor(`${what} to be refused`, isRefused, PATIENT);
  }

  const about = { objectOf: (cluster: string) => (cluster === 'east' ? secret : undefined) };
  const start = (options: Parameters<typeof startSite>[1] = {}): Promise<Site> =>
    startSite({ west, east: joined }, { ...about, ...options });
  const until = (site: Site, name: string, address: string) =>
    waitFor(`${name} to be ${address}`, async () => String(await site.ask(name)) === address, PATIENT);

  test('what a cluster calls itself can be done without: it is called as it was joined, until it may be read', async () => {
    await allow((resource) => resource !== 'clusterproperties');
    await using site = await start({ joinWaitMs: PATIENT.timeoutMs });
    await until(site, 'a.east.pets.default.svc.clusterset.local', '10.1.0.7');
    await expectEvent(west, 'east', 'ClusterIdForbidden');
    await expectMetric(site, 'isthmus_dns_cluster_reachable{cluster="east"} 1');
    await allow(() => true);
    await until(site, 'a.orient.pets.default.svc.clusterset.local', '10.1.0.7');
    await site.expect('a.east.pets.default.svc.clusterset.local', 'ENOTFOUND');
  });

  for (const kind of ['services', 'endpointslices', 'serviceexports'])
    test(`without the right to read ${kind} nothing is known of the cluster, and nothing of it is taken out`, async () => {
      const imported = async (path: string) =>
        (await west.kubectl(['get', 'serviceimport', 'web', '-o', `jsonpath={${path}}`])).stdout;
      {
        await using site = await start({ imports: true });
        const isThere = async () => (await imported('.status.clusters[0].cluster')) === 'orient';
        await waitFor('the import', isThere, PATIENT);
        await waitFor('its address', async () => (await imported('.spec.ips[0]')) !== '', PATIENT);
        await until(site, 'web.default.svc.clusterset.local', await imported('.spec.ips[0]'));
      }
      const address = await imported('.spec.ips[0]');
      await allow((resource) => resource !== kind);
      await using site = await start({ imports: true, joinWaitMs: 1000 });
      await expectMetric(site, 'isthmus_dns_cluster_reachable{cluster="east"} 0');
      // Something else is imported, so that there was an opportunity to do harm.
      await apply(west, service(`after-${kind}`, undefined), exportOf(`after-${kind}`));
      const isDone = async () => (await west.kubectl(['get', 'serviceimport', `after-${kind}`])).code === 0;
      await waitFor('work to be done', isDone, PATIENT);
      await until(site, 'web.default.svc.clusterset.local', address);
      assert.equal(await imported('.spec.ips[0]'), address);
    });

  test('an import of which nobody knows whose it is stays until all clusters have been read', async () => {
    await allow((resource) => resource !== 'serviceexports');
    const labels = {
      'connectivity.tanzu.vmware.com/imported': 'orphan',
      'app.kubernetes.io/managed-by': 'isthmus',
    };
    const metadata = { name: 'orphan', namespace: 'default', labels };
    const { apiVersion } = exportOf('orphan') as KubeObject;
    const spec = { type: 'ClusterSetIP', ports: [] };
    await apply(west, { apiVersion, kind: 'ServiceImport', metadata, spec });
    const isThere = async () => (await west.kubectl(['get', 'serviceimport', 'orphan'])).code === 0;
    await using stack = new AsyncDisposableStack();
    stack.use(await start({ imports: true, joinWaitMs: 1000 }));
    await apply(west, service('zebra', undefined), exportOf('zebra'));
    const isDone = async () => (await west.kubectl(['get', 'serviceimport', 'zebra'])).code === 0;
    await waitFor('work to be done', isDone, PATIENT);
    assert.ok(await isThere());
    await allow(() => true);
    await waitFor('it to go', async () => !(await isThere()), PATIENT);
  });

  test('what was exported before the cluster could have imports is imported when it can', async () => {
    const crd = crdOf(serviceImport);
    const { code, stderr } = await west.kubectl(['delete', 'crd', crd.metadata.name]);
    assert.equal(code, 0, stderr);
    await using site = await start({ imports: true, joinWaitMs: PATIENT.timeoutMs });
    await until(site, 'a.orient.pets.default.svc.clusterset.local', '10.1.0.7');
    await apply(west, crd);
    const hasAddress = async () =>
      (await west.kubectl(['get', 'serviceimport', 'web', '-o', 'jsonpath={.spec.ips[0]}'])).stdout !== '';
    await waitFor('the import', hasAddress, PATIENT);
  });
});
