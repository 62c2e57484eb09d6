/** Filters at work: one of a user's own, and the two small ones that come with the proxy. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { consume, produce } from '../../support/clients.ts';
import { environmentWith } from '../../support/filter-modules.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { BOB } from '../../support/kafka/security.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess } from './proxy-process.ts';

describe('filters', () => {
  let kafka: KafkaCluster;
  let proxy: ProxyProcess;
  let block: PortBlock;

  before(async () => {
    [kafka, block] = await Promise.all([startKafka(), reserveBlock(12)]);
    const cluster = (name: string, index: number, bootstrapServers: string) => ({
      name,
      targetCluster: { bootstrapServers },
      gateways: [portGateway(block.first + index * 4)],
      filters: [name],
    });
    const modules = new Map([['example-filter', new URL('./example-filter.ts', import.meta.url).href]]);
    proxy = await startProxyProcess(
      {
        filterModules: [{ name: 'example-filter' }],
        filterDefinitions: [
          { name: 'own', type: 'module:example-filter', config: { forbidden: 'forbidden', prefix: 'mine-' } },
          { name: 'expiry', type: 'ConnectionExpiration', config: { maxAge: '3s', jitter: '300ms' } },
          {
            name: 'logger',
            type: 'protocol-logger',
            config: { apiKeyNames: ['METADATA', 'SaslAuthenticate'], logLevel: 'INFO' },
          },
        ],
        virtualClusters: [
          cluster('own', 0, kafka.bootstrap.plaintext),
          cluster('expiry', 1, kafka.bootstrap.plaintext),
          cluster('logger', 2, kafka.bootstrap.saslPlaintext),
        ],
      },
      { logLevel: 'debug', env: environmentWith(modules) },
    );
    for (const topic of ['allowed', 'forbidden', 'forbidden-close', 'plain']) await kafka.createTopic(topic);
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  const RECORDS = [{ key: 'k', value: 'v' }];

  /** Produces one record in the newest version, which names topics by id only. */
  async function write(client: KafkaClient, name: string, acks = -1) {
    const { topics } = await client.metadata([name]);
    const records = encodeBatch({}, [
      { offsetDelta: 0, timestampDelta: 0, key: null, value: Buffer.from('v'), headers: [] },
    ]);
    const partitionData = [{ index: 0, records }];
    return client.request('Produce', {
      acks,
      timeoutMs: 30_000,
      topicData: [{ name, topicId: topics[0]!.topicId, partitionData }],
    });
  }

  test('a topic is refused by its name though only its id is sent, and the connection lives on', async () => {
    const client = await askKafka(block.first + 1);
    assert.equal(client.versionOf('Produce'), 13);
    const codes = [];
    for (const topic of ['allowed', 'forbidden', 'allowed']) {
      const { responses } = await write(client, topic);
      codes.push(responses[0]!.partitionResponses[0]!.errorCode);
    }
    assert.deepEqual(codes, [0, 29, 0]);
    client.close();
  });

  test('a verdict to close closes, and says why', async () => {
    const client = await askKafka(block.first + 1);
    await assert.rejects(write(client, 'forbidden-close'));
    await proxy.logged(/a topic that must not be written/);
  });

  test('requests and responses are changed', async () => {
    const client = await askKafka(block.first);
    const { topics } = await client.request('CreateTopics', {
      topics: [{ name: 'new', numPartitions: 1, replicationFactor: 1 }],
      timeoutMs: 30_000,
    });
    assert.deepEqual([topics[0]?.name, topics[0]?.errorCode], ['new', 0]);
    await waitFor('the topic', async () => (await client.metadata(['mine-new'])).topics[0]?.errorCode === 0);
    client.close();
  });

  test('an answer that takes its time keeps its place among pipelined requests', async () => {
    const client = await askKafka(block.first);
    const order: string[] = [];
    const note = async (what: string, work: Promise<unknown>) => {
      const result = await work;
      order.push(what);
      return result;
    };
    const [, described] = await Promise.all([
      note('first', client.metadata([])),
      note('answered here', client.describeCluster()),
      note('last', client.metadata([])),
    ]);
    assert.deepEqual(order, ['first', 'answered here', 'last']);
    assert.match((described as { clusterId: string }).clusterId, /^mine-.+/);
    client.close();
  });

  test('unfiltered traffic of a filtered cluster is untouched', async () => {
    const target = { bootstrap: `127.0.0.1:${block.first}`, topic: 'plain' };
    await produce('confluent', { ...target, records: RECORDS });
    assert.deepEqual(await consume('confluent', { ...target, count: 1 }), RECORDS);
  });

  test('connections of a certain age close between two requests', async () => {
    const opened = performance.now(); // not later than the proxy starts to count
    const client = await askKafka(block.first + 4);
    await waitFor(
      'the end',
      () =>
        client.metadata([]).then(
          () => undefined,
          () => true,
        ),
      { everyMs: 5 },
    );
    const age = performance.now() - opened;
    assert.ok(age > 2500, `${age} ms`);
    assert.equal(await proxy.metric('isthmus_proxy_connections_cut_total', { virtual_cluster: 'expiry' }), 0);
    await proxy.logged(/has reached its age/);
  });

  test('messages are logged, and credentials are not', async () => {
    // Whose password is in the message: with SCRAM it would never be seen.
    const client = await askKafka(block.first + 8, { sasl: BOB });
    await client.metadata(['allowed']);
    client.close();
    await proxy.logged(/"logger":"protocol".*"api":"SaslAuthenticate".*\(secret\)/);
    await proxy.logged(/"logger":"protocol".*"api":"Metadata".*"msg":"response"/); // the last thing that is logged
    const lines = proxy
      .log()
      .split('\n')
      .filter((line) => line.includes('"logger":"protocol"'));
    const { username, password } = BOB;
    const sent = Buffer.from(`\0${username}\0${password}`);
    for (const trace of [password, sent.toString('hex'), sent.toString('base64')])
      assert.ok(!proxy.log().includes(trace));
    assert.ok(lines.every((line) => !line.includes('"api":"ApiVersions"')));
  });
});
