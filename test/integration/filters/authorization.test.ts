/** Rights of two users in front of a real Kafka, as the example has them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { connectKafka } from '../../../src/kafka/client.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { ERRORS, errorOf } from '../../../src/kafka/errors.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { consume, produce } from '../../support/clients.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { ALICE, BOB } from '../../support/kafka/security.ts';
import { startExample } from './site.ts';
import type { Running } from './site.ts';

describe('rights', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let proxy: Running;
  let bootstrap: string;
  before(async () => {
    // What Kafka itself would deny is not looked at here.
    kafka = await startKafka({ properties: { 'super.users': 'User:ANONYMOUS;User:alice;User:bob' } });
    for (const topic of ['orders', 'orders-eu', 'salaries']) await kafka.createTopic(topic);
    proxy = await startExample('authorization', kafka.bootstrap.saslPlaintext);
    bootstrap = proxy.bootstrap['demo']!;
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  const connect = async (sasl: typeof ALICE): Promise<KafkaClient> => {
    const limits = { connectTimeoutMs: 60_000, requestTimeoutMs: 60_000, sasl };
    const [host = '', port = ''] = bootstrap.split(':');
    const first = await connectKafka({ host, port: Number(port), ...limits });
    const { brokers } = await first.metadata([]);
    first.close();
    return connectKafka({ host: brokers[0]!.host, port: brokers[0]!.port, ...limits });
  };
  const records = () =>
    encodeBatch({}, [{ offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from('v'), headers: [] }]);
  const write = async (client: KafkaClient, ...topics: string[]) => {
    const topicData = topics.map((name) => ({ name, partitionData: [{ index: 0, records: records() }] }));
    const { responses } = await client.request('Produce', { acks: -1, timeoutMs: 30_000, topicData });
    return Object.fromEntries(
      responses.map(({ name, partitionResponses }) => [name, errorOf(partitionResponses[0]!.errorCode).name]),
    );
  };
  const DENIED = 'TOPIC_AUTHORIZATION_FAILED';

  it('are looked at topic by topic', async () => {
    const [alice, bob] = [await connect(ALICE), await connect(BOB)];
    assert.deepEqual(await write(alice, 'salaries', 'orders', 'orders-eu'), {
      orders: 'NONE',
      'orders-eu': 'NONE',
      salaries: DENIED,
    });
    assert.deepEqual(await write(bob, 'orders', 'salaries'), { orders: DENIED, salaries: DENIED });
    const topicsOf = async (client: KafkaClient) =>
      (await client.request('Metadata', { topics: null })).topics.map(({ name }) => name!);
    assert.deepEqual(new Set(await topicsOf(alice)), new Set(['orders', 'orders-eu']));
    assert.deepEqual(await topicsOf(bob), ['orders']);
    const { topics } = await bob.request('Metadata', {
      topics: ['orders', 'salaries'].map((name) => ({ name, topicId: 'AAAAAAAAAAAAAAAAAAAAAA' })),
      allowAutoTopicCreation: false,
    });
    assert.deepEqual(
      topics.map(({ name, errorCode }) => [name, errorOf(errorCode).name]),
      [
        ['orders', 'NONE'],
        ['salaries', DENIED],
      ],
    );
    const made = await bob.request('CreateTopics', {
      topics: [{ name: 'orders-us', numPartitions: 1, replicationFactor: 1 }],
      timeoutMs: 30_000,
    });
    assert.equal(made.topics[0]!.errorCode, ERRORS.TOPIC_AUTHORIZATION_FAILED.code);
    alice.close();
    bob.close();
  });

  it('let clients of all kinds do what they may', async () => {
    for (const client of ['java', 'kafkajs', 'confluent'] as const) {
      const target = { bootstrap, topic: 'orders-eu', security: { sasl: ALICE } };
      await produce(client, { ...target, records: [{ key: client, value: 'v' }] });
      const group = `app-${client}`;
      assert.equal((await consume(client, { ...target, count: 1, group })).length, 1);
    }
  });

  it('keep clients from groups of others, with an error that they know', async () => {
    const args = [
      '--bootstrap-server',
      bootstrap,
      '--topic',
      'orders',
      '--from-beginning',
      '--group',
      'others',
    ];
    const property = (name: string, value: string) => ['--command-property', `${name}=${value}`];
    const login = [
      ...property('security.protocol', 'SASL_PLAINTEXT'),
      ...property('sasl.mechanism', 'PLAIN'),
      ...property(
        'sasl.jaas.config',
        `org.apache.kafka.common.security.plain.PlainLoginModule required username="${BOB.username}" password="${BOB.password}";`,
      ),
    ];
    const { stderr } = await kafka.tool('kafka-console-consumer', [
      ...args,
      ...login,
      '--timeout-ms',
      '60000',
    ]);
    assert.match(stderr, /GroupAuthorizationException: Not authorized to access group: others/);
  });
});
