/** Every example of `isthmus up --example`, from its own copy, in front of one real Kafka, by clients that nobody here wrote. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { Kafka } from 'kafkajs';
import { copyExample, listExamples } from '../../../src/store/examples.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import type { Security } from '../../support/kafka/security.ts';
import { startIssuer } from '../../support/oidc.ts';
import type { Issuer } from '../../support/oidc.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { workspace } from '../../support/workspace.ts';
import { reserveBlock } from '../proxy/proxy-process.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');
const folder = workspace('examples');
const record = (value: string) => ({ key: null, value });

interface Run extends AsyncDisposable {
  /** Where a virtual cluster is reached. */
  at(virtualCluster: string): Promise<string>;
}

suite('isthmus up --example', () => {
  let kafka: KafkaCluster;
  let issuer: Issuer;
  before(async () => {
    [kafka, issuer] = await Promise.all([startKafka(), startIssuer(['dave'])]);
    // As somebody does who has an issuer of their own.
    const copy = join(folder, 'isthmus-oauth');
    await copyExample('oauth', copy);
    const file = join(copy, 'resources.yaml');
    const text = readFileSync(file, 'utf8');
    const jwks = /(?<=jwksEndpointUrl: )\S+/;
    writeFileSync(
      file,
      text.replace(jwks, issuer.jwksUrl).replace(/(?<=expectedIssuer: )\S+/, issuer.issuer),
    );
  });
  after(async () => {
    await kafka?.stop();
    await issuer?.[Symbol.asyncDispose]();
  });

  /** Runs an example as a newcomer would, but with the Kafka and the ports of this test. */
  async function start(example: string): Promise<Run> {
    const block = await reserveBlock(16);
    const flags = ['--example', example, '--kafka', kafka.bootstrap.plaintext, '--port', String(block.first), '--no-console']; // prettier-ignore
    const program = spawn(process.execPath, [MAIN, 'up', ...flags], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [program.stdout, program.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const ended = new Promise((done) => program.once('exit', done));
    return {
      at: async (virtualCluster) => {
        const row = new RegExp(`^${virtualCluster} +(\\S+:\\d+)\\s`, 'm');
        const isServed = async () => row.exec(said) ?? undefined;
        const abort = () => (program.exitCode === null ? undefined : `it ended:\n${said}`);
        return (await waitFor(`${virtualCluster} of ${example}`, isServed, { abort }))[1]!;
      },
      async [Symbol.asyncDispose]() {
        program.kill('SIGTERM');
        await ended;
        await block[Symbol.asyncDispose]();
      },
    };
  }

  const valuesAt = async (bootstrap: string, topic: string, count: number, security?: Security) =>
    (await consume('kafkajs', { bootstrap, topic, count, ...(security && { security }) })).map(({ value }) => value); // prettier-ignore

  const EXAMPLES: Record<string, (run: Run) => Promise<void>> = {
    async encryption(run) {
      const bootstrap = await run.at('encrypted');
      for (const topic of ['hello-encrypted', 'public-news'])
        await produce('kafkajs', { bootstrap, topic, records: [record(`${topic} of today`)] });
      assert.deepEqual(await valuesAt(bootstrap, 'hello-encrypted', 1), ['hello-encrypted of today']);
      const seen = await valuesAt(kafka.bootstrap.plaintext, 'hello-encrypted', 1);
      assert.ok(!seen[0]!.includes('of today'), 'the broker has it in the clear');
      assert.deepEqual(await valuesAt(kafka.bootstrap.plaintext, 'public-news', 1), ['public-news of today']);
    },
    async 'multi-tenant'(run) {
      for (const tenant of ['red', 'blue'])
        await produce('kafkajs', { bootstrap: await run.at(tenant), topic: 'orders', records: [record(tenant)] }); // prettier-ignore
      for (const tenant of ['red', 'blue'])
        assert.deepEqual(await valuesAt(await run.at(tenant), 'orders', 1), [tenant]);
    },
    async oauth(run) {
      const brokers = [await run.at('members')];
      const topicsFor = async (value: string) => {
        const sasl = { mechanism: 'oauthbearer' as const, oauthBearerProvider: async () => ({ value }) };
        const admin = new Kafka({ ...PATIENT_KAFKAJS, retry: { retries: 0 }, brokers, sasl }).admin();
        try {
          await admin.connect();
          return await admin.listTopics();
        } finally {
          await admin.disconnect();
        }
      };
      assert.ok(Array.isArray(await topicsFor(await issuer.tokenOf('dave'))));
      await assert.rejects(topicsFor('eyJhbGciOiJub25lIn0.eyJzdWIiOiJkYXZlIn0.'));
      await assert.rejects(
        produce('kafkajs', { bootstrap: brokers[0]!, topic: 'orders', records: [record('no login')] }),
      );
    },
    async quickstart(run) {
      for (const cluster of ['plain', 'encrypted'])
        await produce('kafkajs', { bootstrap: await run.at(cluster), topic: cluster, records: [record('a')] }); // prettier-ignore
    },
    async tls(run) {
      const copy = join(folder, 'isthmus-tls');
      const security: Security = { ca: join(copy, 'ca.crt') };
      const bootstrap = await run.at('secure');
      await produce('kafkajs', {
        bootstrap,
        topic: 'by-tls',
        records: [record('sealed on its way')],
        security,
      });
      assert.deepEqual(await valuesAt(bootstrap, 'by-tls', 1, security), ['sealed on its way']);
      assert.equal(statSync(join(copy, 'certificate.yaml')).mode & 0o077, 0);
    },
    async validation(run) {
      const at = { bootstrap: await run.at('checked'), topic: 'orders' };
      await assert.rejects(produce('kafkajs', { ...at, records: [record('{ "no": JSON }')] }));
      await produce('kafkajs', { ...at, records: [record('{ "is": "JSON" }')] });
      assert.deepEqual(await valuesAt(at.bootstrap, 'orders', 1), ['{ "is": "JSON" }']);
    },
  };

  test('there is a test for each', () => {
    assert.deepEqual(
      listExamples().map(({ name }) => name),
      Object.keys(EXAMPLES).toSorted(),
    );
  });

  for (const [name, use] of Object.entries(EXAMPLES))
    test(`${name} does what it says`, async () => {
      await using run = await start(name);
      await use(run);
    });

  test('what somebody made of a copy stays', async () => {
    const file = join(folder, 'isthmus-multi-tenant', 'resources.yaml');
    assert.ok(existsSync(file));
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('name: red', 'name: green'));
    await using run = await start('multi-tenant');
    assert.match(await run.at('green'), /:\d+$/);
  });
});
