/** Who logs in to a real Kafka, as filters and the audit see it, by the examples. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { consume, produce } from '../../support/clients.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { ALICE, BOB } from '../../support/kafka/security.ts';
import { connectKafka } from '../../../src/kafka/client.ts';
import { workspace } from '../../support/workspace.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startExample } from './site.ts';

type Line = Record<string, unknown>;

/** A log, and the lines of the audit in it. */
function listen() {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text) as Line) });
  return { log, lines, audited: () => lines.filter(({ logger }) => logger === 'audit') };
}

describe('logins and the audit', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  before(async () => {
    kafka = await startKafka();
    await kafka.createTopic('orders');
  });
  after(async () => {
    await kafka?.stop();
  });

  it('the audit says who made a topic, by PLAIN and by SCRAM, and no password', async () => {
    const { log, lines, audited } = listen();
    await using proxy = await startExample('sasl-inspection', kafka.bootstrap.saslPlaintext, { log });
    const [host = '', port = ''] = proxy.bootstrap['demo']!.split(':');
    for (const sasl of [ALICE, BOB]) {
      const limits = { connectTimeoutMs: 60_000, requestTimeoutMs: 60_000 };
      const client = await connectKafka({ host, port: Number(port), sasl, ...limits });
      const name = `made-by-${sasl.username}`;
      await client.request('CreateTopics', {
        topics: [{ name, numPartitions: 1, replicationFactor: 1 }],
        timeoutMs: 30_000,
      });
      client.close();
      const made = await waitFor(`the line of ${name}`, async () =>
        audited().find(({ api, topics }) => api === 'CreateTopics' && String(topics as string[]) === name),
      );
      assert.equal(made['principal'], sasl.username);
      assert.ok(['done', 'errors'].includes(made['outcome'] as string));
      const text = JSON.stringify(lines);
      assert.ok(!text.includes(sasl.password));
    }
  });

  it('readers see masked values, but for those who are excepted, alone and in share groups', async () => {
    await using proxy = await startExample('masking', kafka.bootstrap.saslPlaintext);
    const bootstrap = proxy.bootstrap['demo']!;
    await kafka.createTopic('customers');
    const value =
      '{"name":"Ada","email":"ada@example.com","card":{"number":"4111 1111","year":2030},"id":12345678901234567890}';
    const masked =
      '{"name":"Ada","email":"***","card":{"number":"***","year":2030},"id":12345678901234567890}';
    const target = { bootstrap, topic: 'customers' };
    await produce('java', { ...target, security: { sasl: BOB }, records: [{ key: 'k', value }] });
    for (const [client, sasl, seen] of [
      ['java', ALICE, masked],
      ['kcat', BOB, value],
      ['kafkajs', ALICE, masked],
    ] as const)
      assert.deepEqual(await consume(client, { ...target, security: { sasl }, count: 1 }), [
        { key: 'k', value: seen },
      ]);
    const config = join(workspace('masking'), 'alice.properties');
    const jaas = `org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="${ALICE.password}";`;
    const properties = [
      'security.protocol=SASL_PLAINTEXT',
      'sasl.mechanism=SCRAM-SHA-512',
      `sasl.jaas.config=${jaas}`,
    ];
    writeFileSync(config, properties.join('\n'));
    const group = [
      '--entity-type',
      'groups',
      '--entity-name',
      'sharers',
      '--add-config',
      'share.auto.offset.reset=earliest',
    ];
    const set = await kafka.tool('kafka-configs', [
      '--bootstrap-server',
      kafka.bootstrap.plaintext,
      '--alter',
      ...group,
    ]);
    assert.equal(set.code, 0, set.stderr);
    const from = [
      '--bootstrap-server',
      bootstrap,
      '--topic',
      'customers',
      '--group',
      'sharers',
      '--command-config',
      config,
    ];
    const share = await kafka.tool('kafka-console-share-consumer', [
      ...from,
      '--max-messages',
      '1',
      '--timeout-ms',
      '60000',
    ]);
    assert.equal(share.stdout.trim(), masked, share.stderr);
  });

  it('nothing is served before a login', async () => {
    await using proxy = await startExample('sasl-inspection', kafka.bootstrap.plaintext);
    const [host = '', port = ''] = proxy.bootstrap['demo']!.split(':');
    const client = await connectKafka({ host, port: Number(port), requestTimeoutMs: 60_000 });
    await assert.rejects(client.metadata([]));
    client.close();
  });

  it('the audit counts what clients wrote and read, when they leave', async () => {
    const { log, audited } = listen();
    await using proxy = await startExample('audit', kafka.bootstrap.plaintext, { log });
    const bootstrap = proxy.bootstrap['demo']!;
    const records = [{ key: 'k', value: 'v' }];
    await produce('java', { bootstrap, topic: 'orders', records });
    assert.deepEqual(await consume('kafkajs', { bootstrap, topic: 'orders', count: 1 }), records);
    for (const wanted of ['Produce', 'Fetch'])
      await waitFor(`the summary of ${wanted}`, async () =>
        audited().find(
          ({ api, topic, requests }) => api === wanted && topic === 'orders' && Number(requests) > 0,
        ),
      );
  });
});
