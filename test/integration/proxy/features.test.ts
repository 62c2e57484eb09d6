/** What clients do besides writing and reading: groups of every kind, transactions, administration. Java's own tools. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Kafka, Partitioners } from 'kafkajs';
import { consume, produce } from '../../support/clients.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import type { ApiName } from '../../../src/kafka/apis.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import type { Draft } from '../../../src/kafka/codec.ts';
import type { Requests } from '../../../src/kafka/schemas/types.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import type { KafkaTool } from '../../support/kafka/tools.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess } from './proxy-process.ts';

describe('features through the proxy', () => {
  let kafka: KafkaCluster;
  let proxy: ProxyProcess;
  let block: PortBlock;
  let bootstrap: string;

  before(async () => {
    [kafka, block] = await Promise.all([startKafka(), reserveBlock(4)]);
    bootstrap = `127.0.0.1:${block.first}`;
    proxy = await startProxyProcess({
      virtualClusters: [
        {
          name: 'v',
          targetCluster: { bootstrapServers: kafka.bootstrap.plaintext },
          gateways: [portGateway(block.first)],
        },
      ],
    });
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  async function tool(name: KafkaTool, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await kafka.tool(name, ['--bootstrap-server', bootstrap, ...args]);
    assert.equal(code, 0, `${name} ${args.join(' ')}: ${stderr}`);
    return stdout;
  }
  const records = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ key: `k${n}`, value: `v${n}` }));

  test('topics are created, described, altered and deleted', async () => {
    await tool('kafka-topics', '--create', '--topic', 'admin', '--partitions', '2');
    await tool('kafka-topics', '--alter', '--topic', 'admin', '--partitions', '5');
    const alter = ['--alter', '--entity-type', 'topics', '--entity-name', 'admin'];
    await tool('kafka-configs', ...alter, '--add-config', 'retention.ms=12345');
    // A change is acknowledged by the controller; the broker that is asked hears of it a moment later.
    await waitFor('the changes', async () => {
      const described = await tool('kafka-topics', '--describe', '--topic', 'admin');
      return /PartitionCount: 5/.test(described) && /retention\.ms=12345/.test(described);
    });
    await tool('kafka-topics', '--delete', '--topic', 'admin');
    await waitFor('its end', async () => !/^admin$/m.test(await tool('kafka-topics', '--list')));
  });

  test('access rules, the quorum and the versions of a broker are seen, but for what clients may not do', async () => {
    const rule = ['--allow-principal', 'User:alice', '--operation', 'Read', '--topic', 'x'];
    await tool('kafka-acls', '--add', ...rule);
    // What was added is printed by the tool itself; what there is comes from the broker.
    await waitFor('the rule', async () => /principal=User:alice/.test(await tool('kafka-acls', '--list')));
    assert.match(await tool('kafka-metadata-quorum', 'describe', '--status'), /LeaderId:\s+1/);
    const seen = await tool('kafka-broker-api-versions');
    const direct = await kafka.tool('kafka-broker-api-versions', [
      '--bootstrap-server',
      kafka.bootstrap.plaintext,
    ]);
    const apis = (text: string) =>
      [...text.matchAll(/^\s+(\w+)\(\d+\): (?!UNSUPPORTED)/gm)].map(([, api]) => api);
    const shown = apis(seen);
    assert.ok(shown.length > 50 && seen.startsWith(`127.0.0.1:${block.first + 1}`), seen);
    assert.deepEqual(
      apis(direct.stdout).filter((api) => !shown.includes(api)),
      [
        'AddRaftVoter',
        'RemoveRaftVoter',
        'InitializeShareGroupState',
        'ReadShareGroupState',
        'WriteShareGroupState',
        'DeleteShareGroupState',
        'ReadShareGroupStateSummary',
      ],
    );
  });

  test('brokers are seen only by our address, in every field of every answer about them', async () => {
    await kafka.createTopic('seen');
    const [direct, proxied] = await Promise.all([
      askKafka(Number(kafka.bootstrap.plaintext.split(':')[1])),
      askKafka(block.first),
    ]);
    const questions: [api: ApiName, body: Draft<Requests[ApiName]>][] = [
      ['Metadata', {}],
      ['DescribeCluster', { endpointType: 1 }],
      ['FindCoordinator', { coordinatorKeys: ['g'] }],
      ['DescribeTopicPartitions', { topics: [{ name: 'seen' }], responsePartitionLimit: 9 }],
      [
        'DescribeQuorum',
        { topics: [{ topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }] },
      ],
      ['DescribeConfigs', { resources: [{ resourceType: 4, resourceName: '1', configurationKeys: null }] }],
      ['DescribeLogDirs', { topics: null }],
    ];
    const answers = async (client: KafkaClient) => {
      const values: [api: string, value: unknown][] = [];
      for (const [api, body] of questions)
        values.push(
          ...[...everyValue(await client.request(api, body))].map(
            (value) => [api, value] as [string, unknown],
          ),
        );
      client.close();
      return values;
    };
    const own = await answers(direct);
    const listeners = own.flatMap(([, value]) => String(value).match(/(?<=:\/\/127\.0\.0\.1:)\d+/g) ?? []);
    const isOwn = ([, value]: [string, unknown]) =>
      listeners.some((port) => value === Number(port) || String(value).includes(`:${port}`));
    const leaking = (values: [string, unknown][]) => [...new Set(values.filter(isOwn).map(([api]) => api))];
    const withAddresses = [
      'Metadata',
      'DescribeCluster',
      'FindCoordinator',
      'DescribeQuorum',
      'DescribeConfigs',
    ];
    await waitFor('answers of the broker itself', async () => {
      const all = await answers(await askKafka(Number(kafka.bootstrap.plaintext.split(':')[1])));
      return withAddresses.every((api) => leaking(all).includes(api));
    });
    assert.deepEqual(leaking(await answers(proxied)), []);
  });

  test('a consumer group of each protocol reads and commits', async () => {
    await kafka.createTopic('groups', { partitions: 3 });
    await produce('kafkajs', { bootstrap, topic: 'groups', records: records(300) });
    const read = (group: string, protocol: string) => {
      const what = ['--topic', 'groups', '--group', group, '--from-beginning', '--max-messages', '300'];
      const how = ['--timeout-ms', '60000', '--command-property', `group.protocol=${protocol}`];
      return tool('kafka-console-consumer', ...what, ...how);
    };
    for (const protocol of ['classic', 'consumer']) {
      const lines = (await read(`g-${protocol}`, protocol)).trim().split('\n');
      assert.equal(new Set(lines).size, 300, protocol);
    }
    const groups = await tool('kafka-consumer-groups', '--describe', '--all-groups');
    const committed = groups.split('\n').filter((line) => /^g-(classic|consumer)\s+groups/.test(line));
    assert.equal(committed.length, 6);
    assert.ok(
      committed.every((line) => line.split(/\s+/)[5] === '0'),
      groups,
    ); // no lag
  });

  test('a share group reads every record', async () => {
    await kafka.createTopic('shared', { partitions: 2 });
    await produce('kafkajs', { bootstrap, topic: 'shared', records: records(200) });
    const group = ['--alter', '--entity-type', 'groups', '--entity-name', 'sg'];
    await tool('kafka-configs', ...group, '--add-config', 'share.auto.offset.reset=earliest');
    const read = ['--topic', 'shared', '--group', 'sg', '--max-messages', '200', '--timeout-ms', '60000'];
    const lines = (await tool('kafka-console-share-consumer', ...read)).trim().split('\n');
    assert.equal(new Set(lines).size, 200);
    assert.ok((await proxy.metric('isthmus_proxy_requests_total', { api: 'ShareFetch' })) > 0);
  });

  test('transactions are committed and aborted', async () => {
    await kafka.createTopic('transactions');
    const client = new Kafka({ ...PATIENT_KAFKAJS, brokers: [bootstrap] });
    const producer = client.producer({
      transactionalId: 'tx',
      maxInFlightRequests: 1,
      idempotent: true,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    for (const value of ['committed 1', 'aborted', 'committed 2']) {
      const transaction = await producer.transaction();
      await transaction.send({ topic: 'transactions', messages: [{ value }] });
      await (value === 'aborted' ? transaction.abort() : transaction.commit());
    }
    await producer.disconnect();
    const got = await consume('confluent', { bootstrap, topic: 'transactions', count: 2 });
    assert.deepEqual(
      got.map(({ value }) => value),
      ['committed 1', 'committed 2'],
    );
  });

  test('a Java producer writes in transactions, and without waiting for an answer', async () => {
    await kafka.createTopic('perf');
    const perf = ['--topic', 'perf', '--num-records', '2000', '--record-size', '100', '--throughput', '-1'];
    await tool(
      'kafka-producer-perf-test',
      ...perf,
      '--transactional-id',
      'perf-tx',
      '--transaction-duration-ms',
      '100',
    );
    await tool('kafka-producer-perf-test', ...perf, '--command-property', 'acks=0');
    // Nobody has waited until the last ones were written.
    await waitFor('all records', async () => {
      const offsets = await tool('kafka-get-offsets', '--topic', 'perf');
      return Number(offsets.trim().split(':')[2]) >= 4000;
    });
  });
});

/** Every value of a message, at any depth. */
function* everyValue(of: unknown): Generator {
  if (typeof of !== 'object' || of === null || Buffer.isBuffer(of)) yield of;
  else for (const each of Object.values(of)) yield* everyValue(each);
}
