/** `isthmus probe` against a real Kafka of three brokers and a real DNS server, where all is well and where it is not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { probeEndpoint } from '../../../src/probe/endpoint.ts';
import type { Finding } from '../../../src/probe/findings.ts';
import { isReachable } from '../../../src/probe/probed.ts';
import type { ProbedCluster } from '../../../src/probe/probed.ts';
import { resolveBy, resolveBySystem } from '../../../src/probe/resolve.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { ALICE } from '../../support/kafka/security.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { sourceImage } from '../../support/images/isthmus-source.ts';
import { startPodRunner } from '../../support/pods/runner.ts';
import { inOneKubeconfig } from '../../support/kubeconfigs.ts';
import { workspace } from '../../support/workspace.ts';
import { startOurs } from '../dns/server.ts';

/** Of an account that has just the Role of docs/probe.md there, beside an administrator of the cluster of the current context. */
async function proberKubeconfig(plane: ControlPlane, here: ControlPlane): Promise<string> {
  const page = readFileSync(new URL('../../../docs/probe.md', import.meta.url), 'utf8');
  const [, role = ''] = /```yaml resources\n(apiVersion: rbac[^`]*)```/.exec(page) ?? [];
  const run = async (args: string[], stdin?: string) => {
    const { code, stdout, stderr } = await plane.kubectl(args, stdin === undefined ? {} : { stdin });
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  await run(['apply', '-n', 'default', '-f', '-'], role);
  await run(['create', 'serviceaccount', 'prober', '-n', 'default']);
  await run(['create', 'rolebinding', 'prober', '--role=isthmus-prober', '--serviceaccount=default:prober', '-n', 'default']); // prettier-ignore
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: plane.url, 'certificate-authority-data': btoa(plane.caPem) } },
    ],
    users: [{ name: 'u', user: { token: await run(['create', 'token', 'prober', '-n', 'default']) } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  };
  const file = join(workspace('prober'), 'kubeconfig');
  writeFileSync(file, inOneKubeconfig({ hub: here.kubeconfigText, x: JSON.stringify(config) }));
  const canCreate = ['auth', 'can-i', 'create', 'pods', '-n', 'default', '--as=system:serviceaccount:default:prober']; // prettier-ignore
  await waitFor('its rights', async () => (await plane.kubectl(canCreate)).code === 0);
  return file;
}

type Probed = ProbedCluster & { findings: Finding[] };

async function probe(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const terminal = { out: (text: string) => void (out += text), err: (text: string) => void (err += text), exitCode: 0 as const }; // prettier-ignore
  const code = await runProgram(['probe', '--timeout', '60', ...args], terminal);
  return { code, out, err };
}

/** Without what is found at ::1, which is `localhost` on some machines: the brokers are at 127.0.0.1 alone. */
async function probeJson(...args: string[]): Promise<Probed> {
  const { code, out, err } = await probe(...args, '-o', 'json');
  assert.equal(err, '');
  const probed = JSON.parse(out) as Probed;
  assert.equal(code, probed.findings.length > 0 ? 1 : 0);
  return { ...probed, findings: probed.findings.filter(({ where }) => !where.endsWith('(::1)')) };
}

const stepsOf = ({ brokers }: ProbedCluster) =>
  brokers.map(({ addresses }) =>
    addresses
      .find(({ address }) => address === '127.0.0.1')
      ?.passed.map(({ step }) => step)
      .join(' '),
  );

suite('probe', () => {
  let kafka: KafkaCluster;
  before(async () => {
    kafka = await startKafka({ brokers: 3 });
  });
  after(() => kafka?.stop());

  test('every broker is reached, by every kind of listener', async () => {
    const plain = await probeJson(kafka.bootstrap.plaintext.split(',')[0]!);
    assert.deepEqual(plain.findings, []);
    assert.deepEqual(
      plain.brokers.map(({ nodeId, host }) => [nodeId, host]),
      kafka.brokerIds.map((id) => [id, '127.0.0.1']),
    );
    assert.deepEqual(stepsOf(plain), Array(3).fill('connect versions metadata identity'));

    const password = join(kafka.directory, 'alice');
    writeFileSync(password, `${ALICE.password}\n`);
    const sasl = ['--sasl-mechanism', ALICE.mechanism, '--user', ALICE.username, '--password-file', password];
    const secure = await probeJson(kafka.bootstrap.saslSsl, '--ca', kafka.tls.caFile, ...sasl);
    assert.deepEqual(secure.findings, []);
    for (const steps of stepsOf(secure)) assert.match(steps!, /^connect tls versions login metadata/);
    assert.deepEqual([secure.bootstrap.length, secure.brokers.length], [3, 3]);

    const { cert, key } = kafka.tls.clientFiles;
    const mutual = ['--ca', kafka.tls.caFile, '--cert', cert, '--key', key];
    const { findings, brokers } = await probeJson(kafka.bootstrap.mtls, ...mutual);
    assert.deepEqual([findings, brokers.length], [[], 3]);

    const table = await probe(kafka.bootstrap.plaintext);
    assert.match(
      table.out,
      /^cluster \S+, 3 brokers\nNODE +TOLD TO CLIENTS +ADDRESS +RESOLVE +CONNECT +VERSIONS/,
    );
  });

  test('the commands of docs/probe.md', async () => {
    const password = join(kafka.directory, 'password');
    writeFileSync(password, ALICE.password);
    const here: Record<string, string> = {
      'kafka.example.com:9092': kafka.bootstrap.plaintext,
      'kafka.example.com:9093': kafka.bootstrap.saslSsl,
      'ca.crt': kafka.tls.caFile,
      password,
    };
    const page = readFileSync(new URL('../../../docs/probe.md', import.meta.url), 'utf8');
    const commands = page.split('\n').filter((line) => line.startsWith('isthmus probe '));
    assert.equal(commands.length, 3);
    for (const command of commands.slice(0, 2)) {
      const words = command.split(' ').slice(2);
      const { findings, brokers } = await probeJson(...words.map((word) => here[word] ?? word));
      assert.deepEqual([findings, brokers.length], [[], 3], command);
    }
  });

  test('from a pod in another cluster, with no more rights there than docs/probe.md grants, and nothing is left', async () => {
    // The one that kubeconfig's current context is of, where nothing may come to be.
    const [here, plane] = await Promise.all([startControlPlane(), startControlPlane()]);
    const podsIn = async (one: ControlPlane) =>
      (await one.kubectl(['get', 'pods', '-A', '-l', 'app.kubernetes.io/component=probe', '-o', 'name'])).stdout; // prettier-ignore
    try {
      const image = await sourceImage();
      await using runner = await startPodRunner(plane, {
        nodes: [{ name: 'a' }],
        kafkaVersions: [],
        images: [image],
      });
      assert.equal(runner.nodes.length, 1);
      const kubeconfig = await proberKubeconfig(plane, here);
      const password = join(kafka.directory, 'alice');
      writeFileSync(password, `${ALICE.password}\n`);
      const from = ['--from', 'x', '--kubeconfig', kubeconfig, '--from-namespace', 'default', '--image', image.name]; // prettier-ignore
      const sasl = [
        '--sasl-mechanism',
        ALICE.mechanism,
        '--user',
        ALICE.username,
        '--password-file',
        password,
      ];
      const secure = await probeJson(kafka.bootstrap.saslSsl, '--ca', kafka.tls.caFile, ...sasl, ...from);
      assert.deepEqual([secure.findings, secure.brokers.length], [[], 3]);
      for (const steps of stepsOf(secure)) assert.match(steps!, /^connect tls versions login metadata/);
      const closed = await probe('127.0.0.1:9', ...from);
      assert.equal(closed.code, 1);
      assert.match(closed.out, /connect: .*ECONNREFUSED/);
      const broken = await probe('127.0.0.1:9', ...from, '--image', 'registry.test/nothing:1', '--timeout', '1', '--from-namespace', 'nowhere'); // prettier-ignore
      assert.notEqual(broken.code, 0);
      assert.match(broken.err, /nowhere/);
      await waitFor('its pods are gone', async () => (await podsIn(plane)) === '');
      const { items } = JSON.parse((await here.kubectl(['get', 'pods', '-A', '-o', 'json'])).stdout) as { items: unknown[] }; // prettier-ignore
      assert.deepEqual(items, [], 'nothing was made in the cluster of the current context');
    } finally {
      await Promise.all([here.stop(), plane.stop()]);
    }
  });

  test('a broker that is down is told, and the others are reached', async () => {
    await kafka.stopBroker(3);
    try {
      const { code, out } = await probe(kafka.bootstrap.plaintext);
      assert.equal(code, 1);
      assert.match(out, /connect: .*ECONNREFUSED.*\n {2}Refused: nothing listens on that port/);
      const { bootstrap, brokers } = await probeJson(kafka.bootstrap.plaintext);
      assert.deepEqual(bootstrap.map(isReachable), [true, true, false]);
      // The controller fences it soon, and then clients are no longer told of it.
      assert.deepEqual(
        brokers.filter(isReachable).map(({ nodeId }) => nodeId),
        [1, 2],
      );
    } finally {
      await kafka.startBroker(3);
    }
  });

  test('where TLS ends: no trust, the wrong name, no TLS at all', async () => {
    const listener = (bootstrap: string) => Number(bootstrap.split(',')[0]!.split(':')[1]);
    const [ssl, plain] = [listener(kafka.bootstrap.ssl), listener(kafka.bootstrap.plaintext)];
    const failureOf = async (host: string, port: number, tls?: object) => {
      const options = { resolve: async () => ['127.0.0.1'], timeoutMs: 60_000, tls };
      const { addresses } = await probeEndpoint({ host, port }, options);
      return `${addresses[0]!.failed?.step}: ${addresses[0]!.failed?.problem}`;
    };
    const ca = readFileSync(kafka.tls.caFile);
    assert.equal(await failureOf('localhost', ssl, { ca }), 'undefined: undefined');
    assert.match(await failureOf('localhost', ssl, {}), /^tls: .*certificate/);
    assert.match(await failureOf('b-1.example.test', ssl, { ca }), /^tls: .*b-1\.example\.test/);
    assert.match(await failureOf('localhost', plain, { ca }), /^tls: /);
    assert.match(await failureOf('localhost', ssl), /^versions: /);
  });

  test('a wrong password', async () => {
    const password = join(kafka.directory, 'nobody');
    writeFileSync(password, 'not this one');
    const sasl = ['--sasl-mechanism', ALICE.mechanism, '--user', ALICE.username, '--password-file', password];
    const { code, out } = await probe(kafka.bootstrap.saslPlaintext, ...sasl);
    assert.equal(code, 1);
    assert.match(out, /login: /);
    assert.ok(!out.includes('not this one'));
  });

  test('a name that leads to another broker', async () => {
    const [host = '', port] = kafka.addresses('PLAINTEXT')[0]!.split(':');
    const options = { resolve: resolveBySystem, timeoutMs: 60_000 };
    const right = await probeEndpoint({ host, port: Number(port), nodeId: 1 }, options);
    assert.equal(right.addresses[0]!.failed, undefined);
    const wrong = await probeEndpoint({ host, port: Number(port), nodeId: 2 }, options);
    assert.equal(wrong.addresses[0]!.failed?.step, 'identity');
    assert.match(wrong.addresses[0]!.failed.problem, /another broker answers there/);
  });

  test('who takes connections and says nothing is left in time', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const options = { resolve: resolveBySystem, timeoutMs: 5000 };
      const silent = await probeEndpoint({ host: '127.0.0.1', port }, options);
      assert.equal(silent.addresses[0]!.failed?.step, 'versions');
      assert.match(silent.addresses[0]!.failed.problem, /no (answer|connection) .*within 5000 ms/);
    } finally {
      server.close();
    }
  });
});

suite('names for a probe', () => {
  test('a DNS server that is asked instead of the system', async () => {
    const name = 'b-1.example.test';
    const records = [
      { name, type: 'A' as const, data: '192.0.2.1' },
      { name, type: 'AAAA' as const, data: '2001:db8::1' },
    ];
    await using dns = await startOurs({ zones: [{ name: 'example.test' }], records });
    const resolve = resolveBy(`127.0.0.1:${dns.port}`, 60_000);
    assert.deepEqual(await resolve('b-1.example.test'), ['192.0.2.1', '2001:db8::1']);
    assert.deepEqual(await resolve('192.0.2.77'), ['192.0.2.77']);
    await assert.rejects(resolve('b-2.example.test'), /answers that there is no address \(NXDOMAIN\)/);
  });

  test('one that does not answer', async () => {
    await assert.rejects(resolveBy('127.0.0.1:9', 200)('b-1.example.test'), /does not answer/);
  });

  test('what cannot be meant is refused', async () => {
    for (const [args, words] of [
      [['kafka'], /not host:port/],
      [['kafka:0'], /not host:port/],
      [['kafka:9092', '--resolver', 'dns.example'], /an address/],
      [['kafka:9092', '--cert', 'x'], /--cert and --key/],
      [['kafka:9092', '--user', 'x'], /given together/],
      [['kafka:9092', '--ca', '/nowhere'], /--ca: ENOENT/],
    ] as const) {
      const { code, err } = await probe(...args);
      assert.equal(code, 2);
      assert.match(err, words);
    }
  });
});
