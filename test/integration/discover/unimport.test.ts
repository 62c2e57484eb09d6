/** Imports are taken out again, by hand or by the leader, and nobody else's with them. A real API server. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { stringify } from 'yaml';
import { runProgram } from '../../../src/cli/program.ts';
import { dnsManifests } from '../../../src/control/discover/install.ts';
import { NOTHING_CONFIGURED } from '../../../src/control/discover/records/reserved.ts';
import { startDiscoverRoad } from '../../../src/control/discover/road.ts';
import { discoverSettings } from '../../../src/control/discover/settings.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { apply, endpointSlice, exportOf, installKinds, service, startSite } from './site.ts';

const HOME = 'isthmus-system';
const PREFIX = 'connectivity.tanzu.vmware.com';
const KINDS = 'services,endpointslices,serviceimports';
const PATIENT = { timeoutMs: 120_000, everyMs: 200 };

suite('imports that are taken out again', () => {
  let plane: ControlPlane;

  before(async () => {
    plane = await startControlPlane();
    await installKinds(plane);
    const options = { image: 'isthmus', replicas: 1, config: '', reach: 'pods' as const };
    const manifests = dnsManifests({ namespace: HOME, ...options, imports: false });
    await apply(plane, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } }, ...manifests);
    await apply(plane, service('web', undefined, { selector: { app: 'web' } }), exportOf('web'));
    await apply(plane, endpointSlice('web-1', [{ addresses: ['10.1.0.7'] }], { of: 'web' }));
    await apply(plane, theirs);
  });
  after(() => plane?.stop());

  /** Another installation's. */
  const theirs = {
    ...service('theirs', undefined),
    metadata: {
      name: 'theirs',
      namespace: 'default',
      labels: {
        [`${PREFIX}/imported`]: 'other',
        [`${PREFIX}/installation`]: 'second',
        'app.kubernetes.io/managed-by': 'isthmus',
      },
    },
  };

  const listed = async (selector: string) => {
    const { code, stdout, stderr } = await plane.kubectl(['get', KINDS, '-A', '-l', selector, '-o', 'name']);
    assert.equal(code, 0, stderr);
    return stdout.split('\n').filter((line) => line !== '');
  };
  const mine = () => listed(`${PREFIX}/installation=${HOME}`);

  /** Imports what there is, with node ports for it, and stops. */
  async function importAll(): Promise<void> {
    await using stack = new AsyncDisposableStack();
    stack.use(await startSite({ west: plane }, { imports: true, reach: 'nodes', namespace: HOME }));
    // The import, its Service, its slice, and the Service with node ports.
    await waitFor('the imports', async () => (await mine()).length === 4, PATIENT);
  }

  async function expectOthers(): Promise<void> {
    assert.deepEqual(await listed(`${PREFIX}/installation=second`), ['service/theirs']);
    const { code, stderr } = await plane.kubectl([
      'get',
      'service/web',
      'endpointslice/web-1',
      'serviceexport/web',
    ]);
    assert.equal(code, 0, stderr);
  }

  test('by hand', async () => {
    await importAll();
    const config = join(plane.directory, 'unimport.yaml');
    const kubernetes = { clusterId: 'west', kubeconfig: plane.kubeconfig };
    await writeFile(config, stringify({ zones: [{ name: 'xcc.test' }], kubernetes }));
    const unimport = async () => {
      let text = '';
      const terminal = { out: (more: string) => void (text += more), err: () => {}, exitCode: 0 as const };
      assert.equal(await runProgram(['dns', 'unimport', '--config', config], terminal), 0);
      return text;
    };
    assert.equal((await unimport()).match(/: removed$/gm)?.length, 4);
    assert.deepEqual(await mine(), []);
    assert.match(await unimport(), /nothing was imported/);
    await expectOthers();
  });

  test('by the leader, with the rights of the manifests, where import is false', async () => {
    await importAll();
    const log = createLog('silent');
    const kubeconfig = await plane.userKubeconfig(`system:serviceaccount:${HOME}:isthmus-dns`);
    const settings = discoverSettings.parse({
      clusterId: 'west',
      kubeconfig,
      secretsNamespace: HOME,
      import: false,
    });
    const versions = { contents: () => new Map<string, string>(), setVersion: () => {}, announce: () => {} };
    const sink = { upsert: () => [], setReady: () => {}, trust: () => {}, versions };
    const options = { settings, configured: NOTHING_CONFIGURED, sink, log, metrics: createMetrics() };
    const road = startDiscoverRoad(options);
    try {
      await waitFor('them to go', async () => (await mine()).length === 0, PATIENT);
      await expectOthers();
    } finally {
      await road.stop();
    }
  });
});
