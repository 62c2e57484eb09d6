/** The DNS server in its own cluster, with the rights of its manifests: it uses each of them, and is refused nothing. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { dnsManifests } from '../../../src/control/discover/install.ts';
import type { PolicyRule } from '../../../src/control/kernel/rights.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { untilKindsAreServed } from '../../support/control-plane/served.ts';
import { createAudit, rightsOf } from '../control/audit.ts';
import type { Audit } from '../control/audit.ts';
import { clusterPropertyCrd } from './cluster-property.ts';
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

const NAMESPACE = 'isthmus-system';
const PATIENT = { timeoutMs: 60_000, everyMs: 200 };

/** Used only after somebody else has interfered: a status read anew, an object replaced, an event counted up. */
const RARE = ['get serviceexports', 'get serviceimports', 'update ', 'patch events'];

suite('the rights of the DNS server in its own cluster', () => {
  let plane: ControlPlane;
  let audit: Audit;
  let rules: PolicyRule[];

  before(async () => {
    audit = createAudit(`system:serviceaccount:${NAMESPACE}:isthmus-dns`);
    plane = await startControlPlane({ apiServerArgs: audit.args });
    await installKinds(plane);
    await apply(plane, clusterPropertyCrd());
    await untilKindsAreServed(plane);
    const options = { image: 'isthmus', replicas: 1, config: '', imports: true, reach: 'nodes' as const };
    const manifests = dnsManifests({ namespace: NAMESPACE, tsig: false, ...options });
    const role = manifests.find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'isthmus-dns',
    );
    rules = role?.['rules'] as PolicyRule[];
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await apply(plane, namespace, ...manifests);
  });
  after(() => plane?.stop());

  test('are all used when a service is exported, imported and taken back, and are enough', async () => {
    const account = await plane.userKubeconfig(`system:serviceaccount:${NAMESPACE}:isthmus-dns`);
    const west = { ...plane, kubeconfigText: await readFile(account, 'utf8') };
    const jsonOf = async (kind: string, path: string) =>
      (await plane.kubectl(['get', kind, 'web', '-o', `jsonpath={${path}}`])).stdout;
    {
      await using site = await startSite({ west }, { imports: true, reach: 'nodes' });
      await apply(plane, service('web', 'not a name', { selector: { app: 'web' } }), exportOf('web'));
      await apply(plane, endpointSlice('web-1', [{ addresses: ['10.1.0.7'] }], { of: 'web' }));
      await expectEvent(plane, 'web', 'NameInvalid');
      const address = () => jsonOf('serviceimport', '.spec.ips[0]');
      await waitFor('an address', async () => (await address()) !== '', PATIENT);
      const ready = '.status.conditions[?(@.type=="Ready")].status';
      await waitFor('the import', async () => (await jsonOf('serviceimport', ready)) === 'True', PATIENT);
      await waitFor('the export', async () => (await jsonOf('serviceexport', ready)) === 'True', PATIENT);
      await site.expect('web.default.svc.clusterset.local', [await address()]);
      await remove(plane, 'serviceexport', 'web');
      await waitFor('it to go', async () => (await address()) === '', PATIENT);
      await site.expect('web.default.svc.clusterset.local', 'ENOTFOUND');
    }
    const idle = () => {
      const used = audit.used();
      return [...rightsOf(rules)].filter((one) => !used.has(one) && !RARE.some((rare) => one.includes(rare)));
    };
    // The server answers first, and writes the log then.
    await waitFor('the log', async () => idle().length === 0, PATIENT).catch(() => {});
    assert.deepEqual(idle(), []);
    assert.deepEqual(audit.refused(), []);
  });
});
