/** Brokers that move, name a new leader in passing, answer out of turn or not at all. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { apiOf } from '../../../src/kafka/apis.ts';
import { responseCodec } from '../../../src/kafka/codec.ts';
import { encodeRequest } from '../../../src/kafka/frame.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics, metricsText } from '../../../src/ops/metrics.ts';
import { checkProxyConfig } from '../../../src/proxy/config/load.ts';
import { createLocalPool } from '../../../src/proxy/workers/worker-pool.ts';
import type { WorkerPool } from '../../../src/proxy/workers/worker-pool.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startFakeBroker } from './fake-broker.ts';
import type { FakeBroker } from './fake-broker.ts';
import { askKafka, portGateway, reserveBlock } from './proxy-process.ts';
import type { PortBlock } from './proxy-process.ts';

describe('odd brokers', () => {
  let block: PortBlock;
  let pool: WorkerPool;
  let brokers: [FakeBroker, FakeBroker];
  const metrics = createMetrics();

  before(async () => {
    block = await reserveBlock(4);
    pool = createLocalPool(createLog('silent'), metrics);
  });
  after(async () => {
    await pool?.drain(1000);
    await block?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    brokers = [await startFakeBroker(), await startFakeBroker()];
    for (const broker of brokers) broker.nodes = [[1, brokers[0].port]];
    await configure({ bootstrapServers: `127.0.0.1:${brokers[0].port}` });
  });
  afterEach(async () => {
    for (const broker of brokers) await broker[Symbol.asyncDispose]();
  });

  const configure = (targetCluster: object, more: object = {}) => {
    const virtualClusters = [{ name: 'odd', targetCluster, gateways: [portGateway(block.first)] }];
    return pool.apply(checkProxyConfig({ ...more, virtualClusters }, 'the test').config);
  };
  const ask = (node = 0) => askKafka(block.first + node);
  const counted = async (name: string) => {
    const line = (await metricsText([await metrics.snapshot()]))
      .split('\n')
      .find((each) => each.startsWith(name));
    return Number(line?.split(' ').at(-1) ?? 0);
  };

  /** Sends a frame as it is, and returns the first `length` bytes that come back. */
  async function exchange(frame: Buffer, length: (bytes: Buffer) => number): Promise<Buffer> {
    const socket = connect(block.first, '127.0.0.1');
    socket.write(frame);
    let bytes: Buffer = Buffer.alloc(0);
    for await (const chunk of socket) {
      bytes = Buffer.concat([bytes, chunk as Buffer]);
      if (bytes.length >= 4 && bytes.length >= length(bytes)) break;
    }
    socket.destroy();
    return bytes;
  }
  const whole = (bytes: Buffer) => bytes.readInt32BE(0) + 4;
  const request = (api: 'ApiVersions' | 'SaslHandshake' | 'Fetch', apiVersion: number) =>
    encodeRequest({ apiKey: apiOf(api).key, apiVersion, correlationId: 77, clientId: 'c' }, {});

  test('connections follow a broker to where it has moved', async () => {
    const bootstrap = await ask();
    await bootstrap.metadata([]);
    const atBroker = await ask(1);
    const stays = await ask(0);
    assert.equal(brokers[1].connections, 0);
    for (const broker of brokers) broker.nodes = [[1, brokers[1].port]];
    await bootstrap.metadata([]);
    await waitFor('the end of the old connection', () =>
      atBroker.metadata([]).then(
        () => undefined,
        () => true,
      ),
    );
    (await ask(1)).close();
    assert.ok(brokers[1].connections > 0);
    await stays.metadata([]);
    for (const client of [bootstrap, stays]) client.close();
  });

  test('one bootstrap server that does not answer is passed over', async () => {
    const dead = brokers[1].port;
    await brokers[1][Symbol.asyncDispose]();
    brokers[1] = await startFakeBroker();
    await configure({ bootstrapServers: `127.0.0.1:${dead},127.0.0.1:${brokers[0].port}` });
    const clients = await Promise.all([ask(), ask(), ask()]);
    for (const client of clients) client.close();
  });

  for (const [what, size, rewritten] of [
    ['a short response', 100, true],
    ['a long one, whose head has gone already', 3_000_000, false],
  ] as const) {
    test(`a new leader in ${what} is ${rewritten ? 'given our address' : 'hidden'}`, async () => {
      const before = [
        await counted('isthmus_proxy_node_endpoints_rewritten'),
        await counted('isthmus_proxy_node_endpoints_neutralised'),
      ];
      const records = Buffer.alloc(size, 7);
      brokers[0].answer = ({ apiKey }) =>
        apiKey === apiOf('Fetch').key
          ? {
              responses: [{ topicId: 'A'.repeat(22), partitions: [{ partitionIndex: 5, records }] }],
              nodeEndpoints: [{ nodeId: 2, host: 'secret-host', port: 1234, rack: null }],
            }
          : undefined;
      const bytes = await exchange(request('Fetch', 17), whole);
      assert.ok(!bytes.includes('secret-host'));
      const response = responseCodec('Fetch', 17).decode(bytes, 9);
      assert.ok(response.responses[0]?.partitions[0]?.records?.equals(records));
      const shown = (response.nodeEndpoints ?? []).map(({ nodeId, host, port }) => [nodeId, host, port]);
      assert.deepEqual(shown, rewritten ? [[2, '127.0.0.1', block.first + 2]] : []);
      const now = [
        await counted('isthmus_proxy_node_endpoints_rewritten'),
        await counted('isthmus_proxy_node_endpoints_neutralised'),
      ];
      assert.deepEqual(
        now.map((value, i) => value - before[i]!),
        rewritten ? [1, 0] : [0, 1],
      );
    });
  }

  test('a broker that answers what was not asked is cut off', async () => {
    brokers[0].answer = () => Buffer.from('0000000800000063000000ff', 'hex');
    assert.equal((await exchange(request('Fetch', 12), whole)).length, 0);
  });

  test('versions that we do not have are answered as a broker would', async () => {
    const newest = await exchange(Buffer.concat([request('ApiVersions', 4)].map(withVersion(99))), whole);
    const { errorCode, apiKeys } = responseCodec('ApiVersions', 0).decode(newest, 8);
    assert.deepEqual(
      [errorCode, apiKeys],
      [35, [{ apiKey: 18, minVersion: 0, maxVersion: 4, unknownTags: undefined }]],
    );
    const oldest = await exchange(request('SaslHandshake', 0), whole);
    assert.deepEqual([oldest.readInt32BE(4), oldest.readInt16BE(8)], [77, 35]);
  });
  const withVersion = (version: number) => (frame: Buffer) => {
    frame.writeInt16BE(version, 6);
    return frame;
  };

  test('a connection that says nothing for too long is closed, and one that talks is not', async () => {
    // Long enough that nobody takes a hesitating process for a silent client.
    await configure({ bootstrapServers: `127.0.0.1:${brokers[0].port}` }, { limits: { idleTimeout: '3s' } });
    const talking = await ask();
    const silent = connect(block.first, '127.0.0.1').resume();
    let closed = false;
    silent.on('error', () => {}).on('close', () => (closed = true));
    await waitFor('the end', async () => (await talking.metadata([]), closed), { everyMs: 20 });
    await talking.metadata([]);
    talking.close();
  });
});
