/** The clusters of an operator: joined by labelled Secrets and by the environment, on two real API servers. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { STRETCH_RIGHTS, VANTAGE_RIGHTS } from '../../../src/control/install/rbac.ts';
import { readTargetSettings } from '../../../src/control/targets/settings.ts';
import { openTargets } from '../../../src/control/targets/targets.ts';
import type { JoinedTargets, TargetState, TargetsOptions } from '../../../src/control/targets/targets.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { connect, log } from '../kube/harness.ts';
import { documentKubeconfig, documentObjects, joinSecret } from './document.ts';
import { apply } from '../control/harness.ts';

const PATIENT = { timeoutMs: 120_000, everyMs: 100 };

suite('targets of an operator', { timeout: 600_000 }, () => {
  let central: ControlPlane;
  let remote: ControlPlane;
  before(async () => {
    [central, remote] = await Promise.all([
      startControlPlane(),
      startControlPlane({ controllerManager: ['serviceaccount-token-controller'] }),
    ]);
  });
  after(async () => {
    await Promise.all([central?.stop(), remote?.stop()]);
  });

  async function open(
    env: Record<string, string>,
    work: (targets: JoinedTargets) => Promise<void>,
    probing: Partial<Pick<TargetsOptions, 'needs' | 'probeFrom'>> = {},
  ): Promise<void> {
    const result = readTargetSettings({ STRIMZI_CENTRAL_CLUSTER_ID: 'hub', ...env });
    assert.ok('settings' in result);
    const local = createCluster({ name: 'hub', connection: connect(central.kubeconfigText), log });
    const { settings } = result;
    const targets = openTargets({
      local,
      namespace: 'default',
      settings,
      needs: { stretch: STRETCH_RIGHTS },
      log,
      ...probing,
    });
    const over = new AbortController();
    const watching = targets.watch(over.signal);
    try {
      await targets.synced;
      await work(targets);
    } finally {
      over.abort();
      await watching;
      await targets.stop();
    }
  }

  const until = (targets: JoinedTargets, name: string, is: (state: TargetState) => boolean) =>
    waitFor(
      `cluster ${name}`,
      async () => {
        const state = targets.clusters.names().includes(name) ? targets.stateOf(name) : undefined;
        return state && is(state) ? state : undefined;
      },
      PATIENT,
    );
  const reasonsOf = ({ warnings }: TargetState) => warnings.map(({ reason }) => reason).toSorted();

  test("the document's Role, Secret and kubeconfig are taken; what is missing for more, and what is unsafe, is named", async () => {
    await apply(remote, ...documentObjects('kafka'));
    const kubeconfig = await documentKubeconfig(remote, 'kafka');
    await apply(central, joinSecret('secret-name-cluster-a', kubeconfig));
    const env = {
      STRIMZI_K8S_CLUSTERS: `cluster-id-a.url=${remote.url}\ncluster-id-a.secret=secret-name-cluster-a\n`,
    };
    await open(env, async (targets) => {
      assert.deepEqual(targets.clusters.names().toSorted(), ['cluster-id-a', 'hub']);
      const state = await until(
        targets,
        'cluster-id-a',
        ({ reach, warnings }) =>
          reach.state === 'reachable' && warnings.some(({ reason }) => reason === 'RightsMissing'),
      );
      assert.deepEqual(reasonsOf(state), ['RightsMissing', 'ServerNotVerified']);
      const { message } = state.warnings.find(({ reason }) => reason === 'RightsMissing')!;
      for (const right of [
        'create pods',
        'create persistentvolumeclaims',
        'create networkpolicies.networking.k8s.io',
      ])
        assert.ok(message.includes(right), message);
      for (const right of ['create services', 'delete secrets', 'patch strimzipodsets.core.strimzi.io'])
        assert.ok(!message.includes(right), message);
      assert.match(state.version ?? '', /^v1\./);
      assert.equal(state.credentialExpiresAt, undefined, 'it never ends');
      assert.deepEqual(targets.namespacesOf('cluster-id-a'), ['kafka']);
    });
  });

  test('the url of the environment wins over the kubeconfig, and an administrator is taken with a warning', async () => {
    const elsewhere = remote.kubeconfigText.replace(remote.url, 'https://127.0.0.1:1');
    await apply(central, joinSecret('elsewhere', elsewhere));
    const env = { STRIMZI_REMOTE_KUBE_CONFIG: `b.url=${remote.url}\nb.secret=elsewhere` };
    await open(env, async (targets) => {
      const state = await until(targets, 'b', ({ reach }) => reach.state === 'reachable');
      assert.deepEqual(reasonsOf(state), ['FullAdministrator', 'UrlOverruled']);
      assert.equal(state.server, remote.url);
    });
  });

  test('a cluster comes, is lost, is back and leaves while we look on; an unknown one is an error', async () => {
    await open({}, async (targets) => {
      const told: string[] = [];
      targets.subscribe((name) => told.push(name));
      assert.throws(() => targets.clusters.get('east'), /there is no cluster of this name/);
      const user = await readFile(await remote.userKubeconfig('nobody'), 'utf8');
      await apply(
        central,
        joinSecret('other', remote.kubeconfigText, 'west', { 'isthmus.dev/roads': 'discover' }),
      );
      await apply(central, joinSecret('east', user, 'east'));
      const up = await until(targets, 'east', ({ reach }) => reach.state === 'reachable');
      assert.ok(reasonsOf(up).includes('RightsMissing'));
      assert.ok(up.reach.state === 'reachable' && up.reach.since > 0);
      assert.ok(!targets.clusters.names().includes('west'), 'joined for something else');

      await remote.killApiServer();
      try {
        told.length = 0;
        const down = await until(targets, 'east', ({ reach }) => reach.state === 'unreachable');
        assert.ok(told.includes('east'));
        assert.ok(down.reach.state === 'unreachable' && down.reach.since > up.reach.since);
        assert.equal(down.version, up.version, 'what was known stays known');
      } finally {
        await remote.startApiServer();
      }
      await until(targets, 'east', ({ reach }) => reach.state === 'reachable');

      await central.kubectl(['delete', 'secret', 'east']);
      await waitFor('its end', async () => !targets.clusters.names().includes('east'), PATIENT);
    });
  });

  test('a cluster that is only looked from is used for nothing else, and only if it was named for that', async () => {
    const user = await readFile(await remote.userKubeconfig('nobody'), 'utf8');
    const probed = (name: string, roads: string) =>
      joinSecret(name, user, name, { 'isthmus.dev/roads': roads });
    await apply(central, probed('seer', 'probe'), probed('unnamed', 'probe'));
    const needs = { stretch: STRETCH_RIGHTS, probe: VANTAGE_RIGHTS };
    const stretched = (targets: JoinedTargets) => targets.clustersFor('stretch').names();
    await open(
      {},
      async (targets) => {
        const state = await until(targets, 'seer', ({ warnings }) => warnings.some(({ reason }) => reason === 'RightsMissing')); // prettier-ignore
        const { message } = state.warnings.find(({ reason }) => reason === 'RightsMissing')!;
        assert.match(message, /create pods/);
        assert.doesNotMatch(message, /services|secrets/, 'no more is needed there');
        assert.ok(!targets.clusters.names().includes('unnamed'));
        assert.deepEqual(targets.roadsOf('seer'), ['probe']);
        assert.ok(!stretched(targets).includes('seer'));
        const told: string[] = [];
        const end = targets.clustersFor('stretch').subscribe((name) => told.push(name));
        told.length = 0;
        await apply(central, probed('seer', 'probe,stretch'));
        await waitFor('to be told of another road', async () => told.includes('seer'), PATIENT);
        assert.ok(stretched(targets).includes('seer'));
        end();
      },
      { needs, probeFrom: ['seer'] },
    );
    await central.kubectl(['delete', 'secret', 'seer', 'unnamed']);
  });

  test('with STRIMZI_STRETCH_MODE false no other cluster is used', async () => {
    await apply(central, joinSecret('east', remote.kubeconfigText, 'east'));
    await open({ STRIMZI_STRETCH_MODE: 'false' }, async (targets) => {
      assert.deepEqual(targets.clusters.names(), ['hub']);
    });
  });
});
