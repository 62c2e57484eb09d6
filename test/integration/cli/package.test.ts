/** What `npm pack` gives, installed into a prefix of its own: it has to work without the clone. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { before, suite, test } from 'node:test';
import { Kafka } from 'kafkajs';
import { stringify } from 'yaml';
import type { FleetView } from '../../../src/console/api.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import { workspace } from '../../support/workspace.ts';
import { portGateway, reserveBlock } from '../proxy/proxy-process.ts';

const root = resolve(import.meta.dirname, '../../..');
const folder = workspace('package');
const prefix = join(folder, 'prefix');
// The Node that runs this, as a machine with Node 26 has it on its PATH.
const env = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) };

function run(program: string, args: string[], { cwd = folder, input = '' } = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, input, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

const installed = (name: string, ...args: string[]) => run(join(prefix, 'bin', name), args);

suite('the package', () => {
  before(() => {
    const packed = run('npm', ['pack', '--pack-destination', folder], { cwd: root });
    assert.equal(packed.code, 0, packed.err);
    const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    const install = ['install', '--global', '--prefix', prefix, ...quiet, join(folder, archive)];
    const done = run('npm', install);
    assert.equal(done.code, 0, done.err);
  });

  test('runs', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    assert.deepEqual(installed('isthmus', '--version'), { code: 0, out: `${version}\n`, err: '' });
    assert.match(installed('isthmus', 'install').out, /^kind: CustomResourceDefinition$/m);
    assert.match(installed('isthmus', 'explain', 'HostNameTaken').out, /^HostNameTaken: /);
  });

  test('has the examples, and no sources', () => {
    const home = join(prefix, 'lib/node_modules/isthmus');
    const example = installed('isthmus', 'analyze', '-f', join(home, 'deploy/examples/quickstart'));
    assert.deepEqual([example.code, example.out], [0, ''], example.err);
    const files = readdirSync(home, { recursive: true })
      .map(String)
      .filter((name) => !name.startsWith('node_modules'));
    assert.deepEqual(
      files.filter((name) => /\.test\.|(?<!\.d)\.ts$|^(src|test|tools|bench)\b/.test(name)),
      ['deploy/examples/own-filter/src/index.ts'],
    );
    // Types of the filter API, and of nothing else.
    const types = files.filter((name) => name.endsWith('.d.ts'));
    assert.ok(types.includes('dist/proxy/filter.d.ts') && types.length < 40, types.join(' '));
  });

  test(
    'runs a filter of one’s own, that is built by the example and packed',
    { timeout: 300_000 },
    async () => {
      const home = join(prefix, 'lib/node_modules/isthmus');
      const own = join(folder, 'own-filter');
      cpSync(join(home, 'deploy/examples/own-filter'), own, { recursive: true });
      // What `npm install` would bring, from what is here.
      mkdirSync(join(own, 'node_modules'));
      symlinkSync(home, join(own, 'node_modules/isthmus'));
      symlinkSync(join(home, 'node_modules/zod'), join(own, 'node_modules/zod'));
      const built = run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', own]);
      assert.equal(built.code, 0, built.out);
      const packed = run('npm', ['pack', '--ignore-scripts', '--pack-destination', own], { cwd: own });
      assert.equal(packed.code, 0, packed.err);
      const archive = join(
        own,
        readdirSync(own).find((name) => name.endsWith('.tgz'))!,
      );
      const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
      const done = run('npm', ['install', '--global', '--prefix', prefix, ...quiet, archive]);
      assert.equal(done.code, 0, done.err);
      await runGuard();
    },
  );

  test('serves a folder, with a console that has its pages', { timeout: 300_000 }, serveFolder);

  test('is a plugin of kubectl, with its completion', () => {
    assert.match(installed('kubectl-isthmus', '--help').out, /^Usage: kubectl isthmus /);
    assert.equal(installed('kubectl_complete-isthmus', 'expl').out, 'explain\n:4\n');
  });
});

/** `isthmus up` of what was installed, before a real Kafka; and what a browser asks its console for. */
async function serveFolder(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const kafka = await startKafka();
  stack.defer(() => kafka.stop());
  const block = stack.use(await reserveBlock(16));
  const shop = join(folder, 'shop');
  cpSync(join(prefix, 'lib/node_modules/isthmus/deploy/examples/quickstart'), shop, { recursive: true });
  const logFile = join(folder, 'up.log');
  const flags = ['--kafka', kafka.bootstrap.plaintext, '--port', String(block.first)];
  const anyPort = ['--console-port', '0', '--dns-port', '0'];
  const up = startServer('up', join(prefix, 'bin/isthmus'), ['up', '-f', shop, ...flags, ...anyPort], {
    logFile,
    env: { PATH: env.PATH, HOME: folder },
  });
  stack.defer(() => up.stop());
  const said = () => readFileSync(logFile, 'utf8');
  const url = await waitFor(
    'the address of the console',
    async () => /^The console: (\S+)$/m.exec(said())?.[1],
    { abort: () => (up.running ? undefined : said()) },
  );
  const get = async (path: string) => {
    const answer = await fetch(new URL(path, url));
    assert.equal(answer.status, 200, path);
    return answer;
  };
  const page = await (await get('/')).text();
  const assets = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  for (const kind of ['.js', '.css'])
    assert.ok(
      assets.some((path) => path.endsWith(kind)),
      page,
    );
  for (const path of assets) assert.ok((await (await get(path)).text()).length > 1000, path);
  const { clusters } = (await (await get('/api/fleet')).json()) as FleetView;
  assert.deepEqual(clusters.map(({ name }) => name).toSorted(), ['encrypted', 'plain']);
}

/** The installed program with the installed filter, before a real Kafka and a client that knows of neither. */
async function runGuard(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const kafka = await startKafka();
  stack.defer(() => kafka.stop());
  for (const topic of ['ledger', 'orders']) await kafka.createTopic(topic);
  const block = stack.use(await reserveBlock(4));
  const config = join(folder, 'guard.yaml');
  const document = {
    workers: 1,
    filterModules: [{ name: '@example/topic-guard' }],
    filterDefinitions: [
      { name: 'guard', type: 'module:@example/topic-guard', config: { readOnly: ['ledger'] } },
    ],
    virtualClusters: [
      {
        name: 'demo',
        targetCluster: { bootstrapServers: kafka.bootstrap.plaintext },
        filters: ['guard'],
        gateways: [portGateway(block.first)],
      },
    ],
  };
  writeFileSync(config, stringify(document));
  const logFile = join(folder, 'guard.log');
  const proxy = startServer('guard', join(prefix, 'bin/isthmus'), ['proxy', '--config', config], {
    logFile,
    env: { PATH: env.PATH },
  });
  stack.defer(() => proxy.stop());
  const client = new Kafka({ ...PATIENT_KAFKAJS, brokers: [`127.0.0.1:${block.first}`] });
  const producer = client.producer({ retry: { retries: 0 } });
  await waitFor('the proxy', () =>
    producer.connect().then(
      () => true,
      () => (proxy.running ? undefined : assert.fail(readFileSync(logFile, 'utf8'))),
    ),
  );
  stack.defer(() => producer.disconnect());
  const send = (topic: string) => producer.send({ topic, messages: [{ value: 'v' }] });
  await send('orders');
  await assert.rejects(send('ledger'), /Not authorized|TOPIC_AUTHORIZATION_FAILED/i);
  const admin = client.admin();
  await admin.connect();
  stack.defer(() => admin.disconnect());
  const create = (topic: string) => admin.createTopics({ topics: [{ topic }] });
  await assert.rejects(create('Nice_Topic'));
  assert.equal(await create('nice-topic'), true);
}
