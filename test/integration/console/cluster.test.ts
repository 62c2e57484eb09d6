/** `isthmus console` of a real cluster: it shows what its user may read, follows it, and says what that user may not. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { FleetView, ObjectView, TopologyView } from '../../../src/console/api.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { buildPages } from '../../../tools/console-pages.ts';
import { startBrowser } from '../../support/browser.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { apply } from '../control/harness.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');
const SECRET = 'a-key-that-nobody-is-shown';
/** Until watches have ended, and until they have come back from the longest pause between tries. */
const PATIENCE_MS = 240_000;

const API = { apiVersion: 'kroxylicious.io/v1alpha1' };
const OBJECTS = [
  { ...API, kind: 'KafkaProxy', metadata: { name: 'edge', namespace: 'default' }, spec: {} },
  {
    ...API,
    kind: 'VirtualKafkaCluster',
    metadata: { name: 'orders', namespace: 'default' },
    spec: {
      proxyRef: { name: 'edge' },
      ingresses: [{ name: 'inside' }],
      targetCluster: { clusterRef: { name: 'kafka' } },
      filterRefs: [{ name: 'encryption' }],
    },
  },
  {
    apiVersion: 'filter.kroxylicious.io/v1alpha1',
    kind: 'KafkaProtocolFilter',
    metadata: { name: 'encryption', namespace: 'default' },
    spec: {
      type: 'record-encryption',
      config: { kmsConfig: { existingKeks: [{ key: SECRET, alias: 'a' }] } },
    },
  },
];

interface Started {
  program: ChildProcess;
  url: string;
  get: <T>(path: string) => Promise<T>;
  text: (path: string) => Promise<string>;
}

async function startConsole(kubeconfig: string): Promise<Started> {
  const args = [MAIN, 'console', '--kubeconfig', kubeconfig, '-n', 'default', '--port', '0'];
  const program = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [program.stdout, program.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const url = await waitFor(
    'the address of the console',
    async () => /^The console: (\S+)$/m.exec(said)?.[1],
    {
      abort: () => (program.exitCode === null ? undefined : `it ended:\n${said}`),
    },
  );
  const text = async (path: string) => (await fetch(url + path)).text();
  return { program, url, text, get: async <T>(path: string) => JSON.parse(await text(path)) as T };
}

suite('the console of a cluster', () => {
  let plane: ControlPlane;
  const programs: ChildProcess[] = [];
  before(async () => {
    await buildPages();
    plane = await startControlPlaneWithCrds();
    await apply(plane, ...OBJECTS);
  });
  after(async () => {
    for (const program of programs) program.kill('SIGKILL');
    await plane?.stop();
  });
  const start = async (kubeconfig: string) => {
    const started = await startConsole(kubeconfig);
    programs.push(started.program);
    return started;
  };

  test('shows what is there, follows what changes, and shows no secret', async () => {
    const { get, text } = await start(plane.kubeconfig);
    const fleet = () => get<FleetView>('api/fleet');
    const row = await waitFor('the virtual cluster', async () =>
      (await fleet()).clusters.find(({ name }) => name === 'orders'),
    );
    assert.equal(row.state, 'unknown', 'no operator has looked at it');
    const condition = {
      type: 'Ready',
      status: 'False',
      reason: 'TargetUnreachable',
      message: 'nobody there',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 1,
    };
    const patch = JSON.stringify({
      status: { conditions: [condition], ingresses: [{ name: 'inside', bootstrap: 'orders:9082' }] },
    });
    await plane.kubectl([
      'patch',
      'virtualkafkacluster',
      'orders',
      '-n',
      'default',
      '--subresource=status',
      '--type=merge',
      '-p',
      patch,
    ]);
    const problem = await waitFor('the problem', async () =>
      (await fleet()).problems.find(({ reason }) => reason === 'TargetUnreachable'),
    );
    assert.deepEqual(
      [problem.object?.name, problem.message, problem.since],
      ['orders', 'nobody there', '2026-01-01T00:00:00Z'],
    );
    const { nodes } = await get<TopologyView>('api/topology');
    assert.deepEqual(nodes.map(({ column, label }) => `${column} ${label}`).toSorted(), [
      'brokers kafka',
      'clusters orders',
      'filters encryption',
      'names orders:9082',
      'proxies edge',
    ]);
    const filter = await get<ObjectView>(
      'api/object?kind=KafkaProtocolFilter&namespace=default&name=encryption',
    );
    assert.match(
      filter.command,
      /^kubectl --kubeconfig \S+ get kafkaprotocolfilter encryption -n default -o yaml$/,
    );
    for (const path of [
      'api/fleet',
      'api/topology',
      'api/keys',
      'api/object?kind=KafkaProtocolFilter&namespace=default&name=encryption',
    ])
      assert.ok(!(await text(path)).includes(SECRET), path);
    assert.match(filter.yaml, /key: \(not shown\)/);
  });

  test('a user sees what that user may read, and is told of the rest', async () => {
    const subject = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'somebody' };
    const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'proxies' };
    const metadata = { name: 'proxies', namespace: 'default' };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const verbs = ['get', 'list', 'watch'];
    const rules = [{ apiGroups: ['kroxylicious.io'], resources: ['kafkaproxies'], verbs }];
    await apply(
      plane,
      { apiVersion, kind: 'Role', metadata, rules },
      { apiVersion, kind: 'RoleBinding', metadata, roleRef: role, subjects: [subject] },
    );
    const { get, text } = await start(await plane.userKubeconfig('somebody'));
    const proxy = 'api/object?kind=KafkaProxy&namespace=default&name=edge';
    await waitFor('what may be read', async () => (await text(proxy)).includes('"kind":"KafkaProxy"'));
    const refused = await waitFor('the refusal', async () => {
      const { problems } = await get<FleetView>('api/fleet');
      return problems.find(({ message }) => message.includes('kind VirtualKafkaCluster'));
    });
    assert.equal(refused.reason, 'CLUSTER_REFUSED');
    assert.deepEqual((await get<FleetView>('api/fleet')).clusters, []);
  });

  test('a cluster that is lost while somebody looks: what was known stays, and is called old until it is back', async () => {
    const { url } = await start(plane.kubeconfig);
    await using browser = await startBrowser();
    await using desk = await browser.page();
    const { page, complaints } = desk;
    await page.goto(`${url}fleet`);
    const orders = page
      .getByRole('region', { name: 'Virtual clusters' })
      .getByRole('link', { name: 'orders' });
    await orders.waitFor();
    const lost = page.locator('.problems li', { hasText: 'CLUSTER_UNREACHABLE' });
    assert.equal(await lost.count(), 0);
    await plane.killApiServer();
    try {
      await lost.waitFor({ timeout: PATIENCE_MS });
      assert.match(await lost.innerText(), /what is shown may be old[^]*What to do:/);
      assert.ok(await orders.isVisible());
    } finally {
      await plane.startApiServer();
    }
    await lost.waitFor({ state: 'detached', timeout: PATIENCE_MS });
    assert.ok(await orders.isVisible());
    assert.deepEqual(complaints, []);
  });

  test('a cluster that cannot be reached ends it with a sentence', async () => {
    const { promise, resolve: ended } = Promise.withResolvers<number | null>();
    const nobody = await plane.userKubeconfig('nobody');
    const { readFileSync, writeFileSync } = await import('node:fs');
    const elsewhere = join(plane.directory, 'elsewhere.kubeconfig');
    writeFileSync(
      elsewhere,
      readFileSync(nobody, 'utf8').replace(/server: \S+/, 'server: https://127.0.0.1:1'),
    );
    const program = spawn(process.execPath, [MAIN, 'console', '--kubeconfig', elsewhere], {
      stdio: 'ignore',
    });
    program.once('exit', ended);
    assert.equal(await promise, 3);
  });
});
