/** `isthmus up` as a newcomer runs it: the quickstart's own files, a real Kafka, real clients, Ctrl-C. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { stringify } from 'yaml';
import { consume, produce } from '../../support/clients.ts';
import { run, waitFor } from '../../../src/store/embedded/process.ts';
import { createAuthority } from '../../support/pki.ts';
import { workspace } from '../../support/workspace.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { askKafka, reserveBlock } from '../proxy/proxy-process.ts';
import type { PortBlock } from '../proxy/proxy-process.ts';

const RECORDS = ['one', 'two', 'three'].map((value) => ({ key: null, value }));
const values = (records: readonly { value: string | null }[]) => records.map(({ value }) => value);

/** Longer than anybody waits: what ends before that was not waited for. */
const HOUR_MS = 3_600_000;

/** So that it can be seen that a request is under way. */
const LOG_FETCHES = `apiVersion: filter.kroxylicious.io/v1alpha1
kind: KafkaProtocolFilter
metadata: { name: log }
spec: { type: protocol-logger, config: { apiKeyNames: [FETCH], logLevel: error } }
`;

/** To a virtual cluster by TLS, which the quickstart has none of. */
async function writeSecureCluster(folder: string, port: number): Promise<void> {
  const authority = await createAuthority('up');
  const { certPem, keyPem } = await authority.issue({ commonName: 'localhost', dns: ['localhost'] });
  const api = { apiVersion: 'kroxylicious.io/v1alpha1' };
  const proxyRef = { name: 'quickstart' };
  const documents = [
    {
      ...api,
      kind: 'KafkaProxyIngress',
      metadata: { name: 'tls' },
      spec: { proxyRef, clusterIP: { protocol: 'TLS', port } },
    },
    {
      ...api,
      kind: 'VirtualKafkaCluster',
      metadata: { name: 'secure' },
      spec: {
        proxyRef,
        ingresses: [{ name: 'tls', tls: { certificateRefs: [{ name: 'tls' }] } }],
        targetCluster: { clusterRef: { name: 'kafka' } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'tls' },
      stringData: { 'tls.crt': certPem, 'tls.key': keyPem },
    },
  ];
  writeFileSync(join(folder, 'secure.yaml'), documents.map((one) => stringify(one)).join('---\n'));
  writeFileSync(join(folder, 'ca.crt'), authority.certPem);
}

const root = resolve(import.meta.dirname, '../../..');

suite('isthmus up', () => {
  const folder = join(workspace('up'), 'quickstart');
  let program: ChildProcess;
  let said = '';
  let block: PortBlock;
  let kafka: string;
  before(async () => {
    cpSync(join(root, 'deploy/examples/quickstart'), folder, {
      recursive: true,
      filter: (path) => !path.includes('.isthmus'),
    });
    // Its own ports would be anyone's who tries the quickstart, too.
    block = await reserveBlock(24);
    const proxy = join(folder, 'proxy.yaml');
    writeFileSync(proxy, readFileSync(proxy, 'utf8').replace(/port: 9082$/m, `port: ${block.first}`));
    await writeSecureCluster(folder, block.first + 16);
    program = spawn(process.execPath, [join(root, 'src/main.ts'), 'up', '-f', folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    program.stdout!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    program.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()));
  });
  after(async () => {
    program?.kill('SIGKILL');
    await block?.[Symbol.asyncDispose]();
  });

  const says = (pattern: RegExp) =>
    waitFor(`${pattern} from isthmus up`, async () => pattern.exec(said) ?? undefined, {
      abort: () => (program.exitCode === null ? undefined : `it ended:\n${said}`),
    });
  const bootstrapOf = async (cluster: string) =>
    (await says(new RegExp(`^${cluster} +(\\S+:\\d+)\\s`, 'm')))[1]!;

  test('both virtual clusters carry records, and the encrypted one hides them from the broker', async () => {
    kafka = (await says(/Apache Kafka itself listens on (\S+)\s/))[1]!;
    const records = RECORDS;
    for (const cluster of ['plain', 'encrypted']) {
      const at = { bootstrap: await bootstrapOf(cluster), topic: `through-${cluster}` };
      await produce('kafkajs', { ...at, records });
      assert.deepEqual(values(await consume('kafkajs', { ...at, count: 3 })), values(records));
    }
    const raw = await consume('kafkajs', { bootstrap: kafka, topic: 'through-encrypted', count: 3 });
    assert.ok(values(raw).every((value) => !values(records).includes(value ?? '')));
  });

  test('the lines that it prints to try it work as they are', { timeout: 600_000 }, async () => {
    await says(/^secure +\S+:\d+ +TLS /m);
    const printed = said.slice(said.lastIndexOf('To try it'));
    const lines = [...printed.matchAll(/^ {2}(.+)$/gm)].map(([, line = '']) => line);
    const results: string[] = [];
    for (const line of lines) {
      if (line.startsWith('#')) {
        results.push(line.replace(/,.*/, ''));
        continue;
      }
      const { code, stdout, stderr } = await run('bash', ['-o', 'pipefail', '-c', line], {
        timeoutMs: 120_000,
      });
      assert.equal(code, 0, `${line}\n${stderr}`);
      results.push(stdout);
    }
    const [sealed = ''] = results.splice(results.indexOf('# the same as the broker has it') + 1, 1);
    assert.ok(sealed !== '' && !sealed.includes('hello'), sealed);
    const works = (name: string) => [`# ${name}`, '', 'hello\n'];
    assert.deepEqual(results, [
      ...works('plain'),
      ...works('encrypted'),
      '# the same as the broker has it',
      ...works('secure'),
    ]);
  });

  suite('a mistake', () => {
    const file = join(folder, 'clusters.yaml');
    let good: string;
    let client: KafkaClient;
    let bootstrap: string;
    before(async () => {
      good = readFileSync(file, 'utf8');
      bootstrap = await bootstrapOf('encrypted');
      client = await askKafka(Number(bootstrap.split(':')[1]), { requestTimeoutMs: HOUR_MS });
    });
    after(() => client?.close());

    /** Both the connection that was open before, and new ones, get what they got. */
    async function goesOn() {
      assert.equal(await bootstrapOf('encrypted'), bootstrap);
      await client.metadata(['through-encrypted']);
      const at = { bootstrap, topic: 'through-encrypted' };
      assert.deepEqual(values(await consume('kafkajs', { ...at, count: 3 })), values(RECORDS));
    }

    test('is reported with file, line and reason, and takes nothing away', async () => {
      const line = good.split('\n').findIndex((text) => text.includes('- name: encryption')) + 1;
      said = '';
      writeFileSync(file, good.replace('- name: encryption', '- name: encription'));
      await says(
        new RegExp(
          `✖ .*clusters\\.yaml:${line}: VirtualKafkaCluster "encrypted": no KafkaProtocolFilter is named "encription"`,
        ),
      );
      await says(
        /VirtualKafkaCluster "encrypted" is served as it was last good, since \d{4}-\d\d-\d\d \d\d:/,
      );
      await says(/^encrypted +\S+:\d+ +TCP +encryption +last good$/m);
      await says(/^plain +\S+:\d+ +TCP +- +newest$/m);
      await goesOn();
    });

    test('in the YAML itself takes away nothing of what was in the file', async () => {
      said = '';
      writeFileSync(file, good.replace('kind: VirtualKafkaCluster', 'kind: [VirtualKafkaCluster'));
      await says(/✖ .*clusters\.yaml:\d+: /);
      await says(/VirtualKafkaCluster "plain" is served as it was last good/);
      await goesOn();
      const plain = { bootstrap: await bootstrapOf('plain'), topic: 'meanwhile' };
      await produce('kafkajs', { ...plain, records: [{ key: null, value: 'still here' }] });
    });

    test('that is mended lets the newest state take effect, and cuts nobody whose state is as before', async () => {
      said = '';
      writeFileSync(file, good);
      await says(/^encrypted +\S+:\d+ +TCP +encryption$/m);
      assert.doesNotMatch(said, /✖|last good/);
      await goesOn();
      said = '';
      writeFileSync(join(folder, 'log.yaml'), LOG_FETCHES);
      writeFileSync(file, good.replace('- name: encryption', '- name: log\n    - name: encryption'));
      await says(/^encrypted +\S+:\d+ +TCP +log, encryption$/m);
      said = '';
      writeFileSync(file, good);
      await says(/^encrypted +\S+:\d+ +TCP +encryption$/m);
    });
  });

  test('limits of the KafkaProxy hold, from the moment in which they are written', async () => {
    const file = join(folder, 'proxy.yaml');
    const good = readFileSync(file, 'utf8');
    const port = Number((await bootstrapOf('plain')).split(':')[1]);
    // All but the first is for the next test.
    const spec =
      'spec: { limits: { maxConnections: 1, drainTimeout: 1h }, defaultFilterRefs: [{ name: log }] }';
    const limited = good.replace('spec: {}', spec);
    assert.notEqual(limited, good);
    writeFileSync(join(folder, 'log.yaml'), LOG_FETCHES);
    writeFileSync(file, limited);
    /** Whether the second of two connections is closed by the proxy, and the first is not. */
    const isSecondClosed = async () => {
      const first = connect(port, '127.0.0.1').on('error', () => {});
      await once(first, 'connect');
      const second = connect(port, '127.0.0.1').on('error', () => {});
      const closed = new Promise<boolean>((answer) => second.on('close', () => answer(true)));
      const isClosed = await Promise.race([closed, setTimeout(1000, false)]);
      const firstStays = !first.closed;
      for (const socket of [first, second]) socket.destroy();
      return isClosed && firstStays;
    };
    await waitFor('the limit', isSecondClosed);
  });

  test('Ctrl-C waits for requests under way, for as long as drainTimeout says, and leaves nothing running', async () => {
    const bootstrap = await bootstrapOf('plain');
    // The one connection that may be there was given up a moment ago, and the proxy may not know it yet.
    const client = await waitFor('the only connection', () =>
      askKafka(Number(bootstrap.split(':')[1]), { requestTimeoutMs: HOUR_MS }).catch(() => undefined),
    );
    const { topics } = await client.metadata(['meanwhile']);
    // Nobody writes there but us, and nothing yet: the answer comes when somebody does.
    const partitions = [{ partition: 0, fetchOffset: 1n, partitionMaxBytes: 1000 }];
    const wanted = [{ topic: 'meanwhile', topicId: topics[0]!.topicId, partitions }];
    const answer = client.request('Fetch', {
      maxWaitMs: HOUR_MS,
      minBytes: 1,
      maxBytes: 1000,
      topics: wanted,
    });
    answer.catch(() => {}); // looked at later
    await says(/"api":"Fetch"/);
    program.kill('SIGINT');
    const isListening = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(Number(bootstrap.split(':')[1]), '127.0.0.1');
        socket.on('error', () => resolve(false)).on('connect', () => resolve(true));
        socket.on('close', () => {}).unref();
      });
    await waitFor('the proxy to take no more connections', async () => !(await isListening()));
    assert.equal(program.exitCode, null);
    await produce('kafkajs', {
      bootstrap: kafka,
      topic: 'meanwhile',
      records: [{ key: null, value: 'last' }],
    });
    assert.equal((await answer).errorCode, 0);
    if (program.exitCode === null) await once(program, 'exit');
    const code = program.exitCode;
    assert.equal(code, 0, said);
    for (const address of [bootstrap, kafka]) {
      const refused = await new Promise((answer) =>
        connect(Number(address.split(':')[1]), '127.0.0.1')
          .on('error', () => answer(true))
          .on('connect', () => answer(false)),
      );
      assert.equal(refused, true, address);
    }
  });
});
