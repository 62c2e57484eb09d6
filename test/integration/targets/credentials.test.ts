/** The credentials of a joined cluster: used, renewed, expired; and what the joined account does, by the API server's own audit log. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { accountName, joinedByOf } from '../../../src/control/join/manifests.ts';
import { operatorManifests } from '../../../src/control/install/manifests.ts';
import { needsOf } from '../../../src/control/join/needs.ts';
import { rulesOf } from '../../../src/control/kernel/rights.ts';
import { readToken } from '../../../src/control/targets/credential.ts';
import { kubeconfigOf } from '../../../src/control/targets/joined-secret.ts';
import { readReport } from '../../../src/control/targets/cluster-report.ts';
import { openTargets } from '../../../src/control/targets/targets.ts';
import type { JoinedTargets, TargetState } from '../../../src/control/targets/targets.ts';
import { systemClock } from '../../../src/kube/clock.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import type { Secret } from '../../../src/kube/clusters.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { connectionOf, parseKubeconfig, readKubeconfig } from '../../../src/kube/http/kubeconfig.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { workspace } from '../../support/workspace.ts';
import { createAudit, rightsOf } from '../control/audit.ts';
import type { Audit } from '../control/audit.ts';
import { accountKubeconfig, untilGranted } from '../control/account.ts';
import { adminOf, log, metrics, runOperator } from '../control/harness.ts';
import { clusterPropertyCrd } from '../discover/cluster-property.ts';
import { apply, endpointSlice, exportOf, installKinds, service, startSite } from '../discover/site.ts';
import { inOneKubeconfig } from '../../support/kubeconfigs.ts';

const HOME = 'isthmus-system';
const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const DAY_MS = 24 * 60 * 60 * 1000;

suite('credentials of a joined cluster', { timeout: 600_000 }, () => {
  let central: ControlPlane;
  let remote: ControlPlane;
  let here: Client;
  let audit: Audit;
  /** A kubeconfig with the rights of an installed operator. */
  let account: string;
  before(async () => {
    central = await startControlPlane();
    here = adminOf(central);
    const system = await here.get({ group: '', version: 'v1', kind: 'Namespace' }, { name: 'kube-system' });
    const joined = accountName(joinedByOf(system?.metadata.uid ?? ''));
    audit = createAudit(`system:serviceaccount:${HOME}:${joined}`);
    remote = await startControlPlane({ apiServerArgs: audit.args });
    await Promise.all([installKinds(central), installKinds(remote)]);
    await apply(remote, clusterPropertyCrd());
    const kubeconfig = join(workspace('credentials'), 'both.kubeconfig');
    writeFileSync(kubeconfig, inOneKubeconfig({ hub: central.kubeconfigText, east: remote.kubeconfigText }));
    const words = ['join', '--context', 'east', '--roads', 'discover,stretch', '--no-pod-sets', '--crds'];
    const written: string[] = [];
    const terminal = {
      out: (text: string) => void written.push(text),
      err: (text: string) => void written.push(text),
      exitCode: 0 as const,
    };
    assert.equal(await runProgram([...words, '--kubeconfig', kubeconfig], terminal), 0, written.join(''));
    const options = { namespace: HOME, image: 'isthmus:test', replicas: 1, roads: ['kafka'] as const };
    await apply(central, ...operatorManifests(options));
    await untilGranted(central, HOME, ['list', 'secrets', '-n', HOME]);
    account = await accountKubeconfig(central, HOME);
  });
  after(async () => {
    await here?.close();
    await Promise.all([central?.stop(), remote?.stop()]);
  });

  const secret = async () =>
    (await here.get<Secret>(SECRET, { namespace: HOME, name: 'isthmus-cluster-east' }))!;
  const tokenOf = (found: Secret) =>
    connectionOf(parseKubeconfig(kubeconfigOf(found), 'joined')).user.token ?? '';

  /** Looks after the joined cluster, at another time of day than ours. */
  async function watched(aheadMs: number, work: (targets: JoinedTargets) => Promise<void>): Promise<void> {
    const connection = connectionOf(readKubeconfig(account));
    const local = createCluster({ name: 'hub', connection, log });
    const clock = { ...systemClock, wallTime: () => systemClock.wallTime() + aheadMs };
    const settings = { remotes: [], isStretching: true };
    const targets = openTargets({ local, namespace: HOME, settings, needs: { stretch: [] }, log, clock });
    const over = new AbortController();
    const watching = targets.watch(over.signal);
    try {
      await work(targets);
    } finally {
      over.abort();
      await watching;
      await targets.stop();
    }
  }

  async function until(targets: JoinedTargets, is: (state: TargetState) => boolean): Promise<void> {
    const state = async () => targets.clusters.names().includes('east') && is(targets.stateOf('east'));
    await waitFor('the state of the cluster', state);
  }

  test('a token is renewed when a third of its life, or a day, is over, and the new one is used', async () => {
    const before = tokenOf(await secret());
    await watched(2 * DAY_MS, async (targets) => {
      const renewed = await waitFor('another token', async () => {
        const found = await secret();
        return tokenOf(found) === before ? undefined : found;
      });
      const { subject } = readToken(tokenOf(renewed));
      assert.equal(subject, readToken(before).subject);
      await until(targets, ({ reach }) => reach.state === 'reachable');
      // By that clock the new one is two days old as well, so it is renewed again: what is used follows a moment later.
      const isUsed = async () => tokenOf(targets.secretOf('east')!) === tokenOf(await secret());
      await waitFor('the new token to be used', isUsed);
    });
  });

  test('a fresh one is left alone, and what is known is told by metrics and a ConfigMap', async () => {
    const { metadata } = await secret();
    const operator = await runOperator(central, { kubeconfig: account, namespace: HOME, roads: ['kafka'] });
    try {
      const map = { group: '', version: 'v1', kind: 'ConfigMap' };
      const report = await waitFor('the report', async () => {
        const { east } = readReport(await here.get(map, { name: 'isthmus-clusters', namespace: HOME }));
        return east?.reachable && east.version !== undefined ? east : undefined;
      });
      assert.equal(report.server, remote.url);
      assert.match(report.version ?? '', /^v1\./);
      assert.deepEqual(report.warnings, []);
      const told = await metrics(operator);
      assert.match(told, /^isthmus_cluster_reachable\{cluster="east"\} 1$/m);
      assert.match(told, /^isthmus_cluster_warnings\{cluster="east"\} 0$/m);
      const end = Number(/credential_not_after_seconds\{cluster="east"\} (\d+)/.exec(told)?.[1]);
      assert.equal(end * 1000, readToken(tokenOf(await secret())).expiresAt);
    } finally {
      await operator.stop();
    }
    assert.equal((await secret()).metadata.resourceVersion, metadata.resourceVersion);
  });

  test('one that has expired is said to have', async () => {
    await watched(8 * DAY_MS, (targets) =>
      until(targets, ({ warnings }) => warnings.some(({ reason }) => reason === 'CredentialExpired')),
    );
  });

  test('one that the server refuses makes the cluster unreachable, and says why', async () => {
    const good = await secret();
    const text = kubeconfigOf(good).replace(tokenOf(good), 'not-a-token');
    const data = { kubeconfig: Buffer.from(text).toString('base64') };
    await here.mergePatch(SECRET, good.metadata, { data });
    try {
      await watched(0, (targets) =>
        until(
          targets,
          ({ reach }) => reach.state === 'unreachable' && /credentials are refused/.test(reach.problem),
        ),
      );
    } finally {
      await here.mergePatch(SECRET, good.metadata, { data: good.data });
    }
  });

  test('discovery by the same join uses every right that it was given, and is refused nothing', async () => {
    const pet = { addresses: ['10.1.0.7'], hostname: 'a', conditions: { ready: true } };
    await apply(remote, service('pets', undefined, { clusterIP: 'None' }), exportOf('pets'));
    await apply(remote, endpointSlice('pets-1', [pet], { of: 'pets' }));
    const joined = { ...remote, kubeconfigText: kubeconfigOf(await secret()) };
    await using site = await startSite({ west: central, east: joined }, {});
    await site.expect('a.east.pets.default.svc.clusterset.local', ['10.1.0.7']);
    const { everywhere } = needsOf(['discover'], 'pods');
    const granted = [...rightsOf(rulesOf(everywhere)), 'create serviceaccounts/token'];
    const idle = () => granted.filter((right) => !audit.used().has(right));
    // The server answers first, and writes the log then.
    await waitFor('the log', async () => idle().length === 0, { timeoutMs: 60_000 }).catch(() => {});
    assert.deepEqual(idle(), []);
    assert.deepEqual(audit.refused(), []);
  });
});
