import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { Admin } from '@platformatic/kafka';
import { CLIENT_NAMES, consume, produce } from '../../support/clients.ts';
import type { ClientName } from '../../support/clients.ts';
import type { TestRecord } from '../../support/clients/types.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { ALICE, BOB } from '../../support/kafka/security.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

function records(count: number, prefix: string): TestRecord[] {
  return Array.from({ length: count }, (_, n) => ({
    key: n % 10 === 0 ? null : `k${n}`,
    value: `${prefix} ${n}`,
  }));
}

/** What an error says, and what caused it. */
const wordsOf = (error: unknown) => inspect(error, { depth: 10 });

type ListenerName = keyof KafkaCluster['bootstrap'];

describe('one broker', () => {
  let kafka: KafkaCluster;
  before(async () => {
    kafka = await startKafka();
  });
  after(() => kafka?.stop());

  /** Debian's kcat cannot do SCRAM. */
  const securityFor = (client: ClientName, listener: ListenerName) =>
    client === 'kcat' && listener === 'saslSsl'
      ? { ...kafka.security.saslSsl, sasl: BOB }
      : kafka.security[listener];

  const LISTENERS = ['plaintext', 'ssl', 'mtls', 'saslPlaintext', 'saslSsl'] as const;
  /** Those that are processes of their own take long to start; the tests of the proxy have them in every way, too. */
  const listenersFor = (client: ClientName) =>
    client === 'kafkajs' || client === 'platformatic'
      ? LISTENERS
      : (['plaintext', 'mtls', 'saslSsl'] as const);

  for (const client of CLIENT_NAMES) {
    for (const listener of listenersFor(client)) {
      test(`${client} writes and reads 1,000 records through ${listener}`, async () => {
        const target = {
          bootstrap: kafka.bootstrap[listener],
          topic: `${client}-${listener}`,
          security: securityFor(client, listener),
        };
        const sent = records(1000, client);
        await kafka.createTopic(target.topic);
        await produce(client, { ...target, records: sent });
        assert.deepEqual(await consume(client, { ...target, count: 1000 }), sent);
      });
    }
  }

  test('both SCRAM mechanisms know alice, and a wrong password is refused', async () => {
    const target = { bootstrap: kafka.bootstrap.saslPlaintext, topic: 'scram' };
    const one = [{ key: 'a', value: 'b' }];
    await kafka.createTopic('scram');
    await produce('kafkajs', {
      ...target,
      security: { sasl: { ...ALICE, mechanism: 'SCRAM-SHA-256' } },
      records: one,
    });
    await produce('platformatic', { ...target, security: { sasl: ALICE }, records: one });
    const wrong = { sasl: { ...ALICE, password: 'wrong' } };
    for (const client of ['confluent', 'java', 'kafkajs', 'platformatic'] as const) {
      const attempt = produce(client, { ...target, security: wrong, records: one, timeoutMs: 60_000 });
      await assert.rejects(attempt, (error) => /authentication failed/i.test(wordsOf(error)), client);
    }
    assert.equal((await consume('kcat', { ...target, security: { sasl: BOB }, count: 2 })).length, 2);
  });

  test('the mutual TLS listener refuses who has no certificate', async () => {
    const target = { bootstrap: kafka.bootstrap.mtls, topic: 'nobody', security: kafka.security.ssl };
    const attempt = produce('confluent', { ...target, records: [{ key: 'a', value: 'b' }] });
    await assert.rejects(attempt, /bad certificate|certificate required/);
  });

  test('ACLs bind whoever is authenticated', async () => {
    const target = {
      bootstrap: kafka.bootstrap.saslPlaintext,
      topic: 'guarded',
      security: kafka.security.saslPlaintext,
    };
    const one = [{ key: 'a', value: 'b' }];
    await kafka.createTopic('guarded');
    const at = ['--bootstrap-server', kafka.bootstrap.plaintext];
    const acl = ['--add', '--allow-principal', 'User:alice', '--operation', 'All', '--topic', 'guarded'];
    const added = await kafka.tool('kafka-acls', [...at, ...acl]);
    assert.equal(added.code, 0, added.stderr);
    const isRefused = (error: unknown) => /TOPIC_AUTHORIZATION_FAILED/.test(wordsOf(error));
    // The broker that is asked hears of the rule a moment after the controller.
    await waitFor('the refusal', () =>
      produce('platformatic', { ...target, records: one }).then(() => undefined, isRefused),
    );
    await produce('platformatic', { ...target, security: { sasl: ALICE }, records: one });
  });
});

test('a broker can advertise what a proxy listens on, and takes properties of the test', async () => {
  await using kafka = await startKafka({
    listeners: [
      { name: 'PROXY', protocol: 'PLAINTEXT', advertised: (id) => `broker-${id}.example.test:9092` },
    ],
    properties: { 'message.max.bytes': 2345 },
  });
  const { stdout } = await kafka.tool('kafka-configs', [
    '--bootstrap-server',
    kafka.bootstrap.plaintext,
    '--describe',
    '--all',
    '--broker',
    '1',
  ]);
  assert.match(stdout, /message\.max\.bytes=2345/);
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: kafka.addresses('PROXY') });
  const { brokers } = await admin.metadata({ topics: [] });
  await admin.close();
  assert.deepEqual(
    [...brokers.values()].map(({ host, port }) => `${host}:${port}`),
    ['broker-1.example.test:9092'],
  );
});

test('three brokers go on without one of them, and take it back', async () => {
  await using kafka = await startKafka({ brokers: 3 });
  const target = { bootstrap: kafka.bootstrap.plaintext, topic: 'replicated' };
  await kafka.createTopic('replicated', { partitions: 3 });
  await produce('platformatic', { ...target, records: records(100, 'before') });
  await kafka.stopBroker(2, 'SIGKILL');
  await produce('confluent', { ...target, records: records(100, 'without') });
  await kafka.startBroker(2);
  await waitFor('three replicas in sync', async () => {
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: kafka.addresses('PLAINTEXT') });
    const metadata = await admin.metadata({ topics: ['replicated'] }).catch(() => undefined);
    await admin.close();
    const partitions = Object.values(metadata?.topics.get('replicated')?.partitions ?? {});
    return partitions.length === 3 && partitions.every(({ isr }) => isr.length === 3);
  });
  assert.equal((await consume('kafkajs', { ...target, count: 200 })).length, 200);
});
