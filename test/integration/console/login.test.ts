/** The console that people log in to: a real API server says who they are and what they may read; one of them has a real browser. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { consoleManifests, consoleRules } from '../../../src/control/install/console.ts';
import { personaManifests } from '../../../src/control/install/personas.ts';
import type { FleetView } from '../../../src/console/api.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { buildPages } from '../../../tools/console-pages.ts';
import { startBrowser } from '../../support/browser.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { accountKubeconfig } from '../control/account.ts';
import { createAudit, rightsOf } from '../control/audit.ts';
import type { Audit } from '../control/audit.ts';
import { apply } from '../control/harness.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOME = 'isthmus-system';
const ACCOUNT = 'isthmus-console';
const TEAMS = ['team-a', 'team-b'];

const API = { apiVersion: 'kroxylicious.io/v1alpha1' };
const RBAC = 'rbac.authorization.k8s.io';

/** A namespace with somebody who may view it, and a virtual cluster that the other must not hear of. */
const teamObjects = (team: string): object[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: team } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'developer', namespace: team } },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'developer', namespace: team },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'isthmus-viewer' },
    subjects: [{ kind: 'ServiceAccount', name: 'developer', namespace: team }],
  },
  { ...API, kind: 'KafkaProxy', metadata: { name: `proxy-${team}`, namespace: team }, spec: {} },
  {
    ...API,
    kind: 'VirtualKafkaCluster',
    metadata: { name: `orders-${team}`, namespace: team },
    spec: {
      proxyRef: { name: `proxy-${team}` },
      ingresses: [{ name: 'inside' }],
      targetCluster: { clusterRef: { name: 'kafka' } },
    },
  },
];

suite('the console behind a login', () => {
  let plane: ControlPlane;
  let audit: Audit;
  let program: ChildProcess;
  let url: string;
  let said = '';

  const tokenOf = async (account: string, namespace: string) => {
    const { code, stdout, stderr } = await plane.kubectl(['create', 'token', account, '-n', namespace]);
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  const fleetOf = async (token: string) => {
    const answer = await fetch(`${url}api/fleet`, { headers: { authorization: `Bearer ${token}` } });
    return answer.ok ? ((await answer.json()) as FleetView) : answer.status;
  };
  const clustersOf = async (token: string) => {
    const fleet = await fleetOf(token);
    assert.ok(typeof fleet === 'object', JSON.stringify(fleet));
    return fleet.clusters.map(({ name }) => name).toSorted();
  };

  before(async () => {
    await buildPages();
    audit = createAudit(`system:serviceaccount:${HOME}:${ACCOUNT}`);
    plane = await startControlPlaneWithCrds({ apiServerArgs: audit.args });
    await apply(plane, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } });
    const options = { namespace: HOME, image: 'isthmus:test', replicas: 1, roads: [] };
    await apply(plane, ...consoleManifests(options), ...personaManifests());
    for (const team of TEAMS) await apply(plane, ...teamObjects(team));
    const kubeconfig = await accountKubeconfig(plane, HOME, ACCOUNT);
    const canList = ['auth', 'can-i', 'list', 'pods', '-A', `--as=system:serviceaccount:${HOME}:${ACCOUNT}`];
    await waitFor('the rights', async () => (await plane.kubectl(canList)).code === 0);
    const args = [
      MAIN,
      'console',
      '--login',
      '--kubeconfig',
      kubeconfig,
      '--port',
      '0',
      '--log-level',
      'debug',
    ];
    program = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [program.stdout!, program.stderr!])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    url = await waitFor('the address', async () => /^The console: (\S+)$/m.exec(said)?.[1], {
      abort: () => (program.exitCode === null ? undefined : `it ended:\n${said}`),
    });
  });
  after(async () => {
    program?.kill('SIGKILL');
    await plane?.stop();
  });

  test('two developers see a namespace each, and none the other’s', async () => {
    for (const team of TEAMS) {
      const token = await tokenOf('developer', team);
      await waitFor(`what ${team} may read`, async () => (await clustersOf(token)).length > 0);
      assert.deepEqual(await clustersOf(token), [`orders-${team}`]);
      const other = TEAMS.find((one) => one !== team)!;
      assert.ok(
        !JSON.stringify(await fleetOf(token)).includes(other),
        'nothing hints at the other namespace',
      );
    }
  });

  test('who may read nothing sees nothing, and is told what they lack', async () => {
    await apply(plane, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'nobody', namespace: 'default' },
    });
    const fleet = await fleetOf(await tokenOf('nobody', 'default'));
    assert.ok(typeof fleet === 'object');
    assert.deepEqual(fleet.clusters, []);
    assert.match(fleet.problems[0]?.message ?? '', /isthmus-viewer/);
  });

  test('a token that nobody gave out, and one for somebody else than the API server, are refused', async () => {
    assert.equal(await fleetOf('eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'), 401);
    const args = ['create', 'token', 'developer', '-n', 'team-a', '--audience', 'vault'];
    assert.equal(await fleetOf((await plane.kubectl(args)).stdout.trim()), 401);
  });

  test('in a browser: log in, look, log out; axe finds nothing, and the token is nowhere in the page', async () => {
    const token = await tokenOf('developer', 'team-a');
    await using browser = await startBrowser();
    await using desk = await browser.page();
    const { page, complaints } = desk;
    await page.goto(url);
    const field = page.getByLabel('A bearer token of this cluster');
    await field.waitFor();
    await page.evaluate(AXE);
    const found = await page.evaluate<{ violations: { id: string; impact: string }[] }>('axe.run(document)');
    assert.deepEqual(
      found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical'),
      [],
    );
    await field.fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('the API server does not know this token').waitFor();
    // A browser writes every 401 to its console.
    assert.deepEqual(
      complaints.splice(0).filter((text) => !text.includes('401')),
      [],
    );
    await field.fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('system:serviceaccount:team-a:developer').waitFor();
    await page.getByText('orders-team-a').first().waitFor();
    assert.equal(await page.getByText('orders-team-b').count(), 0);
    assert.equal(await page.evaluate('document.cookie'), '');
    const kept = await page.evaluate<string>(
      'document.documentElement.outerHTML + JSON.stringify({ ...localStorage, ...sessionStorage })',
    );
    assert.ok(!kept.includes(token));
    // Whoever looks at a cluster is told what is not seen from there, instead of that there is none.
    const shows = (what: string, command: RegExp) =>
      page
        .getByRole('region', { name: `What shows ${what}` })
        .filter({ hasText: command })
        .waitFor();
    await shows('rates', /metrics/);
    assert.equal(await page.locator('canvas').count(), 0);
    await page.getByRole('link', { name: 'orders-team-a' }).click();
    await page.getByRole('heading', { level: 1, name: 'orders-team-a' }).waitFor();
    await shows('rates', /metrics/);
    await page.keyboard.press('r');
    await shows('traffic', /isthmus tap --proxy/);
    assert.equal(await page.getByText('within a second').count(), 0);
    await page.keyboard.press('k');
    await shows('certificates', /certificate_expiry/);
    await shows('keys', /kms_requests/);
    await shows('zones', /isthmus dns query/);
    for (const claim of ['nobody speaks TLS', 'No key has been asked for', 'No zone is served'])
      assert.equal(await page.getByText(claim).count(), 0, claim);
    await page.getByRole('button', { name: 'Log out' }).click();
    await field.waitFor();
    assert.deepEqual(complaints, []);
  });

  test('who loses a right sees no more of it', async () => {
    const token = await tokenOf('developer', 'team-b');
    assert.deepEqual(await clustersOf(token), ['orders-team-b']);
    await plane.kubectl(['delete', 'rolebinding', 'developer', '-n', 'team-b']);
    // A right counts for a minute after it was last asked about.
    await waitFor('the end of it', async () => (await clustersOf(token)).length === 0, {
      timeoutMs: 240_000,
    });
  });

  test('its rights are enough, none of them is idle, and no log line has a token in it', async () => {
    const granted = rightsOf(consoleRules(true));
    // Kinds of projects whose CRDs are not here are asked for by nobody.
    const isServed = (right: string) =>
      !/gateway\.networking|route\.openshift|operator\.openshift/.test(right);
    const idle = () => [...granted].filter((right) => isServed(right) && !audit.used().has(right));
    await waitFor('the log', async () => idle().length === 0, { timeoutMs: 30_000 }).catch(() => {});
    assert.deepEqual(idle(), []);
    assert.deepEqual(audit.refused(), []);
    assert.match(said, /console login/);
    assert.doesNotMatch(said, /eyJ/, 'as every token of a ServiceAccount begins');
  });
});
