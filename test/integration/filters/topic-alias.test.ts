/** Topics under other names, as the example has them, in front of a real Kafka: with clients of all kinds, groups, transactions and admin tools. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kafka } from 'kafkajs';
import { ERRORS } from '../../../src/kafka/errors.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { connectTo } from '../encryption/site.ts';
import { startExample } from './site.ts';
import type { Running } from './site.ts';

const REAL = 'prod.eu.orders.v3';

describe('topics under other names', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let proxy: Running;
  let aliased: string;
  let direct: string;
  before(async () => {
    kafka = await startKafka();
    direct = kafka.bootstrap.plaintext;
    proxy = await startExample('topic-alias', direct);
    aliased = proxy.bootstrap['demo']!;
    for (const name of [REAL, 'orders', 'of-others']) await kafka.createTopic(name);
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  const tool = async (name: Parameters<KafkaCluster['tool']>[0], bootstrap: string, ...args: string[]) => {
    const { code, stdout, stderr } = await kafka.tool(name, ['--bootstrap-server', bootstrap, ...args]);
    return { code, text: stdout + stderr };
  };
  const topicsAt = async (bootstrap: string) => {
    const client = await connectTo(bootstrap);
    const { topics } = await client.request('Metadata', { topics: null });
    client.close();
    return topics.map(({ name }) => name!).filter((name) => !name.startsWith('__'));
  };

  it('are made, described, set and deleted by Kafka’s own tools', async () => {
    const made = await tool('kafka-topics', aliased, '--create', '--topic', 'team-a', '--partitions', '2');
    assert.equal(made.code, 0, made.text);
    const again = await tool('kafka-topics', aliased, '--create', '--topic', 'team-a');
    assert.match(again.text, /Topic 'team-a' already exists/);
    assert.deepEqual((await topicsAt(aliased)).toSorted(), ['orders', 'team-a']);
    assert.deepEqual((await topicsAt(direct)).toSorted(), ['of-others', 'orders', REAL, 'prod.team.a']);
    const entity = ['--entity-type', 'topics', '--entity-name', 'team-a'];
    const set = await tool(
      'kafka-configs',
      aliased,
      '--alter',
      ...entity,
      '--add-config',
      'retention.ms=777777',
    );
    assert.equal(set.code, 0, set.text);
    const there = ['--describe', '--entity-type', 'topics', '--entity-name', 'prod.team.a'];
    assert.match((await tool('kafka-configs', direct, ...there)).text, /retention\.ms=777777/);
    const described = await tool('kafka-topics', aliased, '--describe', '--topic', 'team-a');
    assert.match(described.text, /Topic: team-a\s+.*PartitionCount: 2/);
    assert.doesNotMatch(described.text, /prod\./);
    assert.equal((await tool('kafka-topics', aliased, '--delete', '--topic', 'team-a')).code, 0);
    await waitFor('the topic to be gone', async () => !(await topicsAt(direct)).includes('prod.team.a'));
  });

  it('are written and read by clients of all kinds, and are the same for those without aliases', async () => {
    for (const client of ['java', 'confluent', 'kafkajs'] as const) {
      await kafka.createTopic(`prod.team.${client}`);
      const records = [{ key: 'k', value: `by ${client}` }];
      await produce(client, { bootstrap: aliased, topic: `team-${client}`, records });
      const read = { count: 1, group: `group-${client}` };
      assert.deepEqual(
        await consume(client, { bootstrap: aliased, topic: `team-${client}`, ...read }),
        records,
      );
      const there = { bootstrap: direct, topic: `prod.team.${client}`, count: 1, group: 'direct' };
      assert.deepEqual(await consume('kafkajs', there), records);
    }
    const described = await tool('kafka-consumer-groups', aliased, '--describe', '--group', 'group-java');
    assert.match(described.text, /group-java\s+team-java\s+0\s+1/);
    const really = await tool('kafka-consumer-groups', direct, '--describe', '--group', 'group-java');
    assert.match(really.text, /group-java\s+prod\.team\.java\s+0\s+1/);
  });

  it('are subscribed to under their real names, so that Kafka keeps their offsets and members can be anywhere', async () => {
    const topic = 'prod.team.shared';
    await tool('kafka-topics', direct, '--create', '--topic', topic, '--partitions', '2');
    const got: string[] = [];
    const consumers = await Promise.all(
      [
        [aliased, 'team-shared'],
        [direct, topic],
      ].map(async ([broker, name]) => {
        const consumer = new Kafka({ ...PATIENT_KAFKAJS, brokers: [broker!] }).consumer({ groupId: 'both' });
        await consumer.connect();
        await consumer.subscribe({ topic: name!, fromBeginning: true });
        return consumer;
      }),
    );
    try {
      const joined = consumers.map(
        (consumer) =>
          new Promise<number>((resolve) =>
            consumer.on('consumer.group_join', ({ payload }) => {
              const partitions = Object.values(payload.memberAssignment).flat();
              if (partitions.length === 1) resolve(partitions[0]!);
            }),
          ),
      );
      for (const consumer of consumers)
        await consumer.run({ eachMessage: async ({ message }) => void got.push(message.value!.toString()) });
      // Each has one partition of the two, whoever of them leads the group.
      assert.deepEqual(
        (await Promise.all(joined)).toSorted((a, b) => a - b),
        [0, 1],
      );
      const client = await connectTo(direct);
      const deleted = await client.request('OffsetDelete', {
        groupId: 'both',
        topics: [{ name: topic, partitions: [{ partitionIndex: 0 }] }],
      });
      client.close();
      assert.equal(
        deleted.topics[0]!.partitions[0]!.errorCode,
        ERRORS.GROUP_SUBSCRIBED_TO_TOPIC.code,
        'the coordinator has to know to what the group subscribes',
      );
    } finally {
      for (const consumer of consumers) await consumer.disconnect();
    }
  });

  it('work with the consumer protocol of Kafka 4, and in share groups', async () => {
    const end = ['--max-messages', '1', '--timeout-ms', '60000'];
    const from = ['--bootstrap-server', aliased, '--topic', 'team-new'];
    await kafka.createTopic('prod.team.new');
    await produce('kafkajs', {
      bootstrap: aliased,
      topic: 'team-new',
      records: [{ key: 'k', value: 'new' }],
    });
    const modern = ['--from-beginning', '--command-property', 'group.protocol=consumer', '--group', 'modern'];
    const consumer = await kafka.tool('kafka-console-consumer', [...from, ...modern, ...end]);
    assert.equal(consumer.stdout.trim(), 'new', consumer.stderr);
    const group = ['--alter', '--entity-type', 'groups', '--entity-name', 'sharers'];
    const set = await tool(
      'kafka-configs',
      aliased,
      ...group,
      '--add-config',
      'share.auto.offset.reset=earliest',
    );
    assert.equal(set.code, 0, set.text);
    const share = await kafka.tool('kafka-console-share-consumer', [...from, '--group', 'sharers', ...end]);
    assert.equal(share.stdout.trim(), 'new', share.stderr);
  });

  it('take part in transactions', async () => {
    const producer = new Kafka({ ...PATIENT_KAFKAJS, brokers: [aliased] }).producer({
      transactionalId: 'tx',
      idempotent: true,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic: 'orders', messages: [{ key: 'k', value: 'paid' }] });
    await transaction.sendOffsets({
      consumerGroupId: 'payers',
      topics: [{ topic: 'orders', partitions: [{ partition: 0, offset: '7' }] }],
    });
    await transaction.commit();
    await producer.disconnect();
    const there = await consume('kafkajs', { bootstrap: direct, topic: REAL, count: 1, group: 'late' });
    assert.deepEqual(there, [{ key: 'k', value: 'paid' }]);
    const described = await tool('kafka-consumer-groups', direct, '--describe', '--group', 'payers');
    assert.match(described.text, /payers\s+prod\.eu\.orders\.v3\s+0\s+7/);
  });

  it('hide real names, names that an alias has taken, and all others; by name and by id', async () => {
    const [client, real] = [await connectTo(aliased), await connectTo(direct)];
    const unknown = ERRORS.UNKNOWN_TOPIC_OR_PARTITION.code;
    const topics = ['orders', REAL, 'of-others'].map((name) => ({ name, topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }));
    const answer = await client.request('Metadata', { topics, allowAutoTopicCreation: true });
    assert.deepEqual(
      answer.topics.map(({ name, errorCode }) => [name, errorCode]),
      [
        ['orders', 0],
        [REAL, unknown],
        ['of-others', unknown],
      ],
    );
    const ids = (await real.metadata([REAL, 'orders', 'of-others'])).topics;
    assert.equal(answer.topics[0]!.topicId, ids.find(({ name }) => name === REAL)!.topicId);
    for (const { name, topicId } of ids) {
      const byId = await client.request('Metadata', { topics: [{ topicId, name: null }] });
      const expected = name === REAL ? ['orders', 0] : [null, ERRORS.UNKNOWN_TOPIC_ID.code];
      assert.deepEqual([byId.topics[0]!.name || null, byId.topics[0]!.errorCode], expected);
    }
    const made = await tool('kafka-topics', aliased, '--create', '--topic', 'of-nobody');
    assert.match(made.text, /InvalidTopicException/);
    const { apiKeys } = await client.request('ApiVersions', {
      clientSoftwareName: 'test',
      clientSoftwareVersion: '1',
    });
    for (const key of [29, 30, 31, 75, 88])
      assert.ok(!apiKeys.some(({ apiKey }) => apiKey === key), `${key}`);
    client.close();
    real.close();
  });
});
