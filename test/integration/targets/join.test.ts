/** `isthmus join`, `clusters` and `leave` between two real API servers, and what the joined account does and may do there. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parse } from 'yaml';
import { runProgram } from '../../../src/cli/program.ts';
import { delegate } from '../../../src/control/discover/delegation/corefile/block.ts';
import { accountName, joinedByOf } from '../../../src/control/join/manifests.ts';
import { readToken } from '../../../src/control/targets/credential.ts';
import { kubeconfigOf } from '../../../src/control/targets/joined-secret.ts';
import { createClient } from '../../../src/kube/http/client.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { hasStatus } from '../../../src/kube/http/errors.ts';
import { connectionOf, parseKubeconfig } from '../../../src/kube/http/kubeconfig.ts';
import type { Secret } from '../../../src/kube/clusters.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { workspace } from '../../support/workspace.ts';
import { adminOf } from '../control/harness.ts';
import { inOneKubeconfig } from '../../support/kubeconfigs.ts';

interface Report {
  cluster: string;
  changes: { cluster: string; object: string; change: string }[];
  success?: boolean;
  categories?: { checks: { description: string; result: string; code?: string; error?: string }[] }[];
}

const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const HOME = 'isthmus-system';
const TANZU = 'connectivity.tanzu.vmware.com';

suite('isthmus join', { timeout: 600_000 }, () => {
  let central: ControlPlane;
  let remote: ControlPlane;
  let here: Client;
  let there: Client;
  let kubeconfig: string;
  let joinedBy: string;
  before(async () => {
    [central, remote] = await Promise.all([
      startControlPlane(),
      startControlPlane({ controllerManager: ['serviceaccount-token-controller'] }),
    ]);
    [here, there] = [adminOf(central), adminOf(remote)];
    kubeconfig = join(workspace('join'), 'both.kubeconfig');
    writeFileSync(kubeconfig, inOneKubeconfig({ hub: central.kubeconfigText, east: remote.kubeconfigText }));
    const system = await here.get({ group: '', version: 'v1', kind: 'Namespace' }, { name: 'kube-system' });
    joinedBy = joinedByOf(system?.metadata.uid ?? '');
  });
  after(async () => {
    await Promise.all([here?.close(), there?.close()]);
    await Promise.all([central?.stop(), remote?.stop()]);
  });

  async function isthmus(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const written = { out: '', err: '' };
    const code = await runProgram([...args, '--kubeconfig', kubeconfig], {
      out: (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      exitCode: 0,
    });
    return { code, ...written };
  }

  async function joinEast(...args: string[]): Promise<Report> {
    const { out, err } = await isthmus('join', '--context', 'east', '-o', 'json', ...args);
    assert.equal(err, '');
    return JSON.parse(out) as Report;
  }

  const checksOf = ({ categories = [] }: Report) => categories.flatMap(({ checks }) => checks);
  const secret = () => here.get<Secret>(SECRET, { namespace: HOME, name: 'isthmus-cluster-east' });
  const tokenIn = (found: Secret | undefined) => {
    const { users } = parse(kubeconfigOf(found!)) as { users: { user: { token: string } }[] };
    return users[0]?.user.token ?? '';
  };

  test('a dry run says what would be made, and makes nothing', async () => {
    const dns = join(workspace('join'), 'dns.yaml');
    writeFileSync(dns, 'zones: [{ name: example.test }]\nkubernetes: { clusterId: east }\n');
    const { changes, success } = await joinEast('--dry-run', '--crds', '--dns', dns);
    assert.equal(success, undefined);
    const made = changes.map(({ cluster, object }) => `${cluster}: ${object}`);
    for (const one of [
      'east: Namespace isthmus-system',
      'east: Namespace kafka',
      'east: CustomResourceDefinition strimzipodsets.core.strimzi.io',
      `east: ServiceAccount ${HOME}/${accountName(joinedBy)}`,
      `east: Role kafka/${accountName(joinedBy)}`,
      `east: ClusterRole ${accountName(joinedBy)}`,
      'east: Deployment isthmus-system/isthmus-operator',
      'east: Deployment isthmus-system/isthmus-dns',
      'here: Secret isthmus-system/isthmus-cluster-east',
    ])
      assert.ok(made.includes(one), `${one} is not in\n${made.join('\n')}`);
    assert.ok(changes.every(({ change }) => change === 'create'));
    const namespace = { group: '', version: 'v1', kind: 'Namespace' };
    for (const client of [here, there]) assert.equal(await client.get(namespace, { name: HOME }), undefined);
  });

  test('it makes that, and the account has exactly the rights that are used', async () => {
    const report = await joinEast('--crds');
    const wrong = checksOf(report).filter(({ result }) => result !== 'success');
    // Test servers are on this machine.
    assert.deepEqual(
      wrong.map(({ code }) => code),
      ['JoinedServerIsLocal'],
      JSON.stringify(wrong, null, 1),
    );
    assert.equal(report.success, true);
    const { subject, issuedAt = 0, expiresAt = 0 } = readToken(tokenIn(await secret()));
    assert.equal(subject, `system:serviceaccount:${HOME}:${accountName(joinedBy)}`);
    assert.equal(expiresAt - issuedAt, 7 * 24 * 60 * 60 * 1000);
    for (const account of ['isthmus-operator', 'isthmus-dns']) {
      const mayPatch = async (name: string) => {
        const who = `--as=system:serviceaccount:${HOME}:${account}`;
        return (
          (await central.kubectl(['auth', 'can-i', 'patch', `secret/${name}`, '-n', HOME, who])).code === 0
        );
      };
      await waitFor(`${account} to have the right to renew it`, () => mayPatch('isthmus-cluster-east'));
      assert.equal(await mayPatch('another'), false);
    }
  });

  test('run again it changes nothing; the CRDs that are there are left alone', async () => {
    const before = await secret();
    const { changes, success } = await joinEast('--crds');
    assert.deepEqual(
      changes.filter(({ change }) => change !== 'keep'),
      [],
    );
    assert.ok(changes.length > 10);
    assert.equal(success, true);
    assert.equal((await secret())?.metadata.resourceVersion, before?.metadata.resourceVersion);
  });

  test('what somebody has changed is put right', async () => {
    const role = ['role', accountName(joinedBy), '-n', 'kafka'];
    await remote.kubectl(['patch', ...role, '--type=json', '-p', '[{"op":"remove","path":"/rules/0"}]']);
    const { changes, success } = await joinEast();
    assert.deepEqual(
      changes.filter(({ change }) => change !== 'keep').map(({ object }) => object),
      [`Role kafka/${accountName(joinedBy)}`],
    );
    assert.equal(success, true);
  });

  test('isthmus clusters tells of it', async () => {
    const { code, out } = await isthmus('clusters', '-o', 'json');
    assert.equal(code, 0, out);
    const [row] = JSON.parse(out) as Record<string, unknown>[];
    assert.equal(row?.['name'], 'east');
    assert.equal(row?.['server'], remote.url);
    assert.equal(row?.['reachable'], true);
    assert.deepEqual(row?.['roads'], ['stretch', 'discover']);
    assert.match(String(row?.['version']), /^v1\./);
    assert.ok(Date.parse(String(row?.['credentialExpires'])) > Date.now());
    const table = await isthmus('clusters');
    assert.match(table.out, /^NAME +SERVER +REACHABLE +VERSION +ROADS +EXPIRES +WARNINGS\neast +https:/);
    assert.doesNotMatch(table.out, new RegExp(tokenIn(await secret())));
  });

  test('one name is one cluster, and a cluster is not joined with itself', async () => {
    const own = await isthmus('join', '--context', 'hub');
    assert.equal(own.code, 2);
    assert.match(own.err, /are one cluster/);
    const again = ['join', '--context', 'hub', '--central-context', 'east', '--name', 'hub', '--dry-run'];
    assert.equal((await isthmus(...again)).code, 0, 'the other way round is another join');
    await here.mergePatch(
      SECRET,
      { namespace: HOME, name: 'isthmus-cluster-east' },
      { metadata: { annotations: { 'isthmus.dev/cluster-uid': 'another' } } },
    );
    const other = await isthmus('join', '--context', 'east');
    assert.equal(other.code, 1);
    assert.match(other.err, /"east" is another cluster/);
    const wrong = await isthmus('leave', 'east', '--context', 'east');
    assert.match(wrong.err, /another cluster than the one that was joined as "east"/);
    await here.mergePatch(
      SECRET,
      { namespace: HOME, name: 'isthmus-cluster-east' },
      { metadata: { annotations: { 'isthmus.dev/cluster-uid': null } } },
    );
  });

  test('with --long-lived the token is that of the document: it never ends', async () => {
    const { changes: made } = await joinEast('--long-lived');
    const gone = made.filter(({ change }) => change === 'delete').map(({ object }) => object);
    const role = `${HOME}/${accountName(joinedBy)}-token`;
    const here = `${HOME}/isthmus-cluster-east`;
    assert.deepEqual(gone, [`RoleBinding ${role}`, `Role ${role}`, `RoleBinding ${here}`, `Role ${here}`]);
    const { subject, expiresAt } = readToken(tokenIn(await secret()));
    assert.equal(subject, `system:serviceaccount:${HOME}:${accountName(joinedBy)}`);
    assert.equal(expiresAt, undefined);
    assert.equal((await secret())?.metadata.annotations?.['isthmus.dev/token-account'], undefined);
    const { changes } = await joinEast();
    assert.deepEqual(
      changes.filter(({ change }) => change !== 'keep'),
      [],
      'what an earlier join was told need not be said again',
    );
  });

  test('fewer roads and namespaces are fewer rights', async () => {
    const report = await joinEast('--roads', 'discover', '--no-long-lived');
    const gone = report.changes.filter(({ change }) => change === 'delete').map(({ object }) => object);
    assert.ok(gone.includes(`Role kafka/${accountName(joinedBy)}`), gone.join());
    assert.ok(gone.includes(`Secret ${HOME}/${accountName(joinedBy)}`), gone.join());
    const codes = checksOf(report).flatMap(({ code }) => code ?? []);
    assert.deepEqual(codes, ['JoinedServerIsLocal']);
    assert.deepEqual((await secret())?.metadata.annotations?.['isthmus.dev/roads'], 'discover');
  });

  test('a mesh has each know the other, with a DNS server of its own; what they were joined for stays', async () => {
    await joinEast('--roads', 'stretch', '--crds');
    const mesh = async () => {
      const { code, out, err } = await isthmus('mesh', 'hub', 'east', '-o', 'json');
      assert.equal(code, 0, out + err);
      return JSON.parse(out) as Report;
    };
    const first = await mesh();
    const made = first.changes.filter(({ change }) => change === 'create').map(({ cluster, object }) => `${cluster}: ${object}`); // prettier-ignore
    for (const one of [
      'hub: Deployment isthmus-system/isthmus-dns',
      'east: Deployment isthmus-system/isthmus-dns',
      'east: Secret isthmus-system/isthmus-cluster-hub',
    ])
      // prettier-ignore
      assert.ok(made.includes(one), `${one} is not in\n${made.join('\n')}`);
    assert.equal((await secret())?.metadata.annotations?.['isthmus.dev/roads'], 'stretch,discover');
    const back = await there.get<Secret>(SECRET, { namespace: HOME, name: 'isthmus-cluster-hub' });
    assert.equal(back?.metadata.annotations?.['isthmus.dev/roads'], 'discover');
    for (const [client, id] of [
      [here, 'hub'],
      [there, 'east'],
    ] as const) {
      // prettier-ignore
      const config = await client.get({ group: '', version: 'v1', kind: 'ConfigMap' }, { namespace: HOME, name: 'isthmus-dns' }); // prettier-ignore
      assert.match(JSON.stringify(config), new RegExp(`clusterId\\W+${id}`));
    }
    assert.deepEqual((await mesh()).changes.filter(({ change }) => change !== 'keep'), []); // prettier-ignore
    const twice = await isthmus('mesh', 'hub', 'east=hub');
    assert.equal(twice.code, 2);
  });

  test('a mesh is undone: servers, delegations, imports and joins of its own; what they were joined for stays', async () => {
    const plain = '.:53 {\n    errors\n}\n';
    const configMap = { group: '', version: 'v1', kind: 'ConfigMap' };
    const coredns = { namespace: 'kube-system', name: 'coredns' };
    const service = { group: '', version: 'v1', kind: 'Service' };
    const corefile = async () => {
      const { data = {} } = ((await there.get(configMap, coredns)) ?? {}) as {
        data?: Record<string, string>;
      };
      return data['Corefile'];
    };
    // As the server in `east` does.
    const own = await there.get(service, { namespace: HOME, name: 'isthmus-dns' });
    const { clusterIP = '' } = (own?.['spec'] ?? {}) as { clusterIP?: string };
    const delegation = { zones: ['clusterset.local'], server: clusterIP, owner: `${HOME}/isthmus-dns` };
    const edited = delegate(plain, delegation);
    assert.ok('text' in edited && edited.text !== plain);
    const imported = { [`${TANZU}/installation`]: HOME, 'app.kubernetes.io/managed-by': 'isthmus' };
    await there.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: coredns, data: { Corefile: edited.text } }); // prettier-ignore
    for (const [name, labels] of Object.entries({ imported, theirs: {} }))
      await there.create({ apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'default', name, labels }, spec: { ports: [{ port: 80 }] } }); // prettier-ignore
    const meshed = async () =>
      (
        await Promise.all(
          [central, remote].map((plane) =>
            plane.kubectl([
              'get',
              'deployments,pdb,services,configmaps,roles,rolebindings,serviceaccounts,clusterroles,clusterrolebindings',
              '-A',
              '-l',
              'isthmus.dev/mesh',
              '-o',
              'name',
            ]),
          ),
        )
      ) // prettier-ignore
        .map(({ stdout }) => stdout)
        .join('');
    const before = await meshed();
    assert.match(before, /deployment.apps\/isthmus-dns/);

    const dry = await isthmus('mesh', 'hub', 'east', '--undo', '--dry-run');
    assert.equal(dry.code, 0, dry.err);
    assert.match(dry.out, /- delegation of clusterset.local/);
    assert.match(dry.out, /- Secret isthmus-system\/isthmus-cluster-hub/);
    assert.deepEqual([await meshed(), await corefile()], [before, edited.text]);

    for (const [args, why] of [
      [['hub', 'east', '-n', 'default'], /say -n isthmus-system/],
      [['hub', 'east=west'], /names of east: name those too/],
    ] as const) {
      const refused = await isthmus('mesh', ...args, '--undo');
      assert.notEqual(refused.code, 0);
      assert.match(refused.err, why);
    }
    assert.deepEqual([await meshed(), await corefile()], [before, edited.text]);

    const { code, out, err } = await isthmus('mesh', 'hub', 'east', '--undo');
    assert.equal(code, 0, out + err);
    assert.equal(await meshed(), '');
    assert.equal(await corefile(), plain);
    const left = (name: string) => there.get(service, { namespace: 'default', name });
    assert.deepEqual([await left('imported'), (await left('theirs'))?.metadata.name], [undefined, 'theirs']);
    assert.equal((await secret())?.metadata.annotations?.['isthmus.dev/roads'], 'stretch');
    assert.equal(await there.get(SECRET, { namespace: HOME, name: 'isthmus-cluster-hub' }), undefined);
    const again = await isthmus('mesh', 'hub', 'east', '--undo');
    assert.match(again.err, /hub has nothing of a mesh.*\n.*east has nothing of a mesh/);
    assert.equal((await secret())?.metadata.annotations?.['isthmus.dev/roads'], 'stretch');
  });

  test('leaving takes out all that was made, and the token is worth nothing then', async () => {
    const text = kubeconfigOf((await secret())!);
    const dry = await isthmus('leave', 'east', '--context', 'east', '--dry-run');
    assert.match(dry.out, /- Secret isthmus-system\/isthmus-cluster-east/);
    const { code, out } = await isthmus('leave', 'east', '--context', 'east');
    assert.equal(code, 0);
    assert.equal(out, dry.out);
    assert.equal(await secret(), undefined);
    const kinds = 'deployments,pdb,services,configmaps,secrets,roles,rolebindings,serviceaccounts';
    const rest = await remote.kubectl(['get', kinds, '-A', '-l', 'isthmus.dev/joined-by', '-o', 'name']);
    const global = await remote.kubectl([
      'get',
      'clusterroles,clusterrolebindings',
      '-l',
      'isthmus.dev/joined-by',
      '-o',
      'name',
    ]);
    assert.equal(rest.stdout + global.stdout, '');
    const account = createClient(connectionOf(parseKubeconfig(text, 'joined')));
    const isRefused = () =>
      account.read('/version').then(
        () => false,
        (error) => hasStatus(error, 401),
      );
    await waitFor('the account to be gone', isRefused);
    await account.close();
    const again = await isthmus('leave', 'east', '--context', 'east');
    assert.equal(again.out, 'nothing of a cluster east is left\n');
  });
});
