/** Two tenants in one real Kafka, as the example has them: with clients of all kinds, groups, transactions and admin tools. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kafka } from 'kafkajs';
import { ERRORS } from '../../../src/kafka/errors.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { connectTo } from '../encryption/site.ts';
import { read, recordsOf, write } from '../encryption/traffic.ts';
import { startExample } from './site.ts';
import type { Running } from './site.ts';

describe('two tenants', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let proxy: Running;
  let red: string;
  let blue: string;
  before(async () => {
    kafka = await startKafka();
    proxy = await startExample('multi-tenant', kafka.bootstrap.plaintext);
    [red, blue] = [proxy.bootstrap['red']!, proxy.bootstrap['blue']!];
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  const tool = async (name: 'kafka-topics' | 'kafka-configs', bootstrap: string, ...args: string[]) => {
    const { code, stdout, stderr } = await kafka.tool(name, ['--bootstrap-server', bootstrap, ...args]);
    return { code, text: stdout + stderr };
  };
  const topicsOf = async (bootstrap: string) => {
    const client = await connectTo(bootstrap);
    const { topics } = await client.request('Metadata', { topics: null });
    client.close();
    return topics.map(({ name }) => name!);
  };

  it('have a topic of the same name each, made, described, set and deleted by Kafka’s own tools', async () => {
    for (const bootstrap of [red, blue]) {
      const made = await tool(
        'kafka-topics',
        bootstrap,
        '--create',
        '--topic',
        'orders',
        '--partitions',
        '2',
      );
      assert.equal(made.code, 0, made.text);
    }
    const again = await tool('kafka-topics', red, '--create', '--topic', 'orders');
    assert.match(again.text, /Topic 'orders' already exists/);
    const topic = ['--entity-type', 'topics', '--entity-name', 'orders'];
    const set = await tool('kafka-configs', red, '--alter', ...topic, '--add-config', 'retention.ms=777777');
    assert.equal(set.code, 0, set.text);
    assert.match((await tool('kafka-configs', red, '--describe', ...topic)).text, /retention\.ms=777777/);
    assert.doesNotMatch((await tool('kafka-configs', blue, '--describe', ...topic)).text, /777777/);
    const described = await tool('kafka-topics', red, '--describe', '--topic', 'orders');
    assert.match(described.text, /Topic: orders\s+.*PartitionCount: 2/);
    assert.doesNotMatch(described.text, /red-|blue-/);
    assert.equal((await tool('kafka-topics', blue, '--create', '--topic', 'short-lived')).code, 0);
    assert.equal((await tool('kafka-topics', blue, '--delete', '--topic', 'short-lived')).code, 0);
    await kafka.createTopic('of-nobody');
    assert.deepEqual([await topicsOf(red), await topicsOf(blue)], [['orders'], ['orders']]);
    const all = await topicsOf(kafka.bootstrap.plaintext);
    for (const name of ['red-orders', 'blue-orders', 'of-nobody']) assert.ok(all.includes(name));
  });

  it('write and read with clients of all kinds, in groups of the same name', async () => {
    for (const client of ['java', 'confluent', 'kafkajs'] as const) {
      const topic = `by-${client}`;
      for (const tenant of ['red', 'blue']) await kafka.createTopic(`${tenant}-${topic}`);
      for (const [tenant, bootstrap] of [
        ['red', red],
        ['blue', blue],
      ] as const)
        await produce(client, { bootstrap, topic, records: [{ key: tenant, value: `for ${tenant}` }] });
      for (const [tenant, bootstrap] of [
        ['red', red],
        ['blue', blue],
      ] as const)
        assert.deepEqual(await consume(client, { bootstrap, topic, count: 1, group: 'workers' }), [
          { key: tenant, value: `for ${tenant}` },
        ]);
    }
    for (const bootstrap of [red, blue]) {
      const { stdout } = await kafka.tool('kafka-consumer-groups', [
        '--bootstrap-server',
        bootstrap,
        '--list',
      ]);
      assert.deepEqual(stdout.trim().split('\n'), ['workers']);
      const args = ['--bootstrap-server', bootstrap, '--describe', '--group', 'workers'];
      const described = await kafka.tool('kafka-consumer-groups', args);
      assert.match(described.stdout, /workers\s+by-java\s+0\s+1/);
      assert.doesNotMatch(described.stdout, /red-|blue-/);
    }
  });

  it('have groups of which Kafka knows to what they subscribe, so that offsets of idle topics stay', async () => {
    await kafka.createTopic('red-idle');
    const consumer = new Kafka({ ...PATIENT_KAFKAJS, brokers: [red] }).consumer({ groupId: 'idlers' });
    try {
      await consumer.connect();
      await consumer.subscribe({ topic: 'idle' });
      const joined = new Promise<object>((resolve) => {
        consumer.on('consumer.group_join', ({ payload }) => resolve(payload.memberAssignment));
      });
      await consumer.run({ eachMessage: async () => {} });
      assert.deepEqual(await joined, { idle: [0] });
      const client = await connectTo(kafka.bootstrap.plaintext);
      const topics = [{ name: 'red-idle', partitions: [{ partitionIndex: 0 }] }];
      const deleted = await client.request('OffsetDelete', { groupId: 'red-idlers', topics });
      client.close();
      const { code } = ERRORS.GROUP_SUBSCRIBED_TO_TOPIC;
      assert.equal(deleted.topics[0]!.partitions[0]!.errorCode, code);
    } finally {
      await consumer.disconnect();
    }
  });

  it('use the consumer protocol of Kafka 4, and share groups', async () => {
    for (const name of ['red-new', 'blue-new']) await kafka.createTopic(name);
    await produce('kafkajs', { bootstrap: red, topic: 'new', records: [{ key: 'k', value: 'red value' }] });
    const end = ['--max-messages', '1', '--timeout-ms', '60000'];
    const from = ['--bootstrap-server', red, '--topic', 'new'];
    const consumer = await kafka.tool('kafka-console-consumer', [
      ...from,
      '--from-beginning',
      '--command-property',
      'group.protocol=consumer',
      '--group',
      'modern',
      ...end,
    ]);
    assert.equal(consumer.stdout.trim(), 'red value', consumer.stderr);
    const group = ['--alter', '--entity-type', 'groups', '--entity-name', 'sharers'];
    const set = await tool(
      'kafka-configs',
      red,
      ...group,
      '--add-config',
      'share.auto.offset.reset=earliest',
    );
    assert.equal(set.code, 0, set.text);
    const share = await kafka.tool('kafka-console-share-consumer', [...from, '--group', 'sharers', ...end]);
    assert.equal(share.stdout.trim(), 'red value', share.stderr);
  });

  it('have transactions of the same id that do not fence each other', async () => {
    for (const name of ['red-paid', 'blue-paid']) await kafka.createTopic(name);
    const producers = [red, blue].map((broker) =>
      new Kafka({ ...PATIENT_KAFKAJS, brokers: [broker] }).producer({
        transactionalId: 'tx',
        idempotent: true,
        maxInFlightRequests: 1,
      }),
    );
    for (const producer of producers) await producer.connect();
    const transactions = [];
    for (const producer of producers) transactions.push(await producer.transaction());
    for (const each of transactions) await each.send({ topic: 'paid', messages: [{ value: 'paid' }] });
    for (const each of transactions) await each.commit();
    for (const producer of producers) await producer.disconnect();
    for (const bootstrap of [red, blue]) {
      const [fetched] = await read(bootstrap, 'paid', 1);
      assert.equal(recordsOf(fetched!)[0]!.value!.toString(), 'paid');
    }
  });

  it('reach nothing of each other, by name, by id, or by an API that has no tenants', async () => {
    await kafka.createTopic('blue-secret');
    const batch = encodeBatch({}, [
      { offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from('v'), headers: [] },
    ]);
    assert.deepEqual(await write(blue, 'secret', [batch]), [0]);
    const [ours, theirs] = [await connectTo(red), await connectTo(blue)];
    const secret = (await theirs.metadata(['secret'])).topics[0]!;
    assert.equal(secret.errorCode, 0);
    const unknown = ERRORS.UNKNOWN_TOPIC_OR_PARTITION.code;
    for (const name of ['secret', 'blue-secret']) {
      const topics = [{ name, topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }];
      const answer = await ours.request('Metadata', { topics, allowAutoTopicCreation: false });
      assert.deepEqual([answer.topics[0]!.name, answer.topics[0]!.errorCode], [name, unknown]);
    }
    const byId = await ours.request('Metadata', { topics: [{ topicId: secret.topicId, name: null }] });
    assert.equal(byId.topics[0]!.errorCode, ERRORS.UNKNOWN_TOPIC_ID.code);
    assert.deepEqual([ours.versionOf('Produce'), ours.versionOf('Fetch')], [12, 12]);
    const brokers = await ours.request('DescribeConfigs', {
      resources: [{ resourceType: 4, resourceName: '1', configurationKeys: null }],
    });
    assert.equal(brokers.results[0]!.errorCode, ERRORS.CLUSTER_AUTHORIZATION_FAILED.code);
    const broker = await connectTo(kafka.bootstrap.plaintext);
    const offeredBy = async (client: typeof ours) => {
      const software = { clientSoftwareName: 'test', clientSoftwareVersion: '1' };
      const { apiKeys } = await client.request('ApiVersions', software);
      return [29, 30, 31, 48, 75].filter((key) => apiKeys.some(({ apiKey }) => apiKey === key));
    };
    assert.deepEqual([await offeredBy(broker), await offeredBy(ours)], [[29, 30, 31, 48, 75], []]);
    for (const client of [ours, theirs, broker]) client.close();
  });
});
