/** Brokers that mean harm: what they say costs little, and leads nowhere that the admin has not allowed. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { apiOf } from '../../../src/kafka/apis.ts';
import { encodeRequest } from '../../../src/kafka/frame.ts';
import type { RequestHeader } from '../../../src/kafka/frame.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics, metricsText } from '../../../src/ops/metrics.ts';
import { checkProxyConfig } from '../../../src/proxy/config/load.ts';
import { fetchNodes } from '../../../src/proxy/cluster/fetch-nodes.ts';
import { createLocalPool } from '../../../src/proxy/workers/worker-pool.ts';
import type { WorkerPool } from '../../../src/proxy/workers/worker-pool.ts';
import { startFakeBroker } from './fake-broker.ts';
import type { FakeBroker } from './fake-broker.ts';
import { askKafka, portGateway, reserveBlock } from './proxy-process.ts';
import type { PortBlock } from './proxy-process.ts';

const MEGABYTE = 1 << 20;

describe('hostile brokers', () => {
  let block: PortBlock;
  let pool: WorkerPool;
  let liar: FakeBroker;
  let victim: FakeBroker;
  const metrics = createMetrics();

  before(async () => {
    [block, liar, victim] = await Promise.all([
      reserveBlock(4),
      startFakeBroker(),
      startFakeBroker('0.0.0.0'),
    ]);
    pool = createLocalPool(createLog('silent'), metrics);
  });
  after(async () => {
    await pool?.drain(1000);
    for (const each of [liar, victim, block]) await each?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    liar.answer = () => undefined;
    victim.connections = 0;
  });

  const configOf = (targetPolicy?: object) => {
    const targetCluster = { bootstrapServers: `127.0.0.1:${liar.port}` };
    const virtualClusters = [{ name: 'liar', targetCluster, gateways: [portGateway(block.first)] }];
    return checkProxyConfig({ ...(targetPolicy && { targetPolicy }), virtualClusters }, 'the test').config;
  };
  const cuts = async (reason: string) => {
    const lines = (await metricsText([await metrics.snapshot()])).split('\n');
    const line = lines.find(
      (each) => each.includes('connections_cut_total{') && each.includes(`"${reason}"`),
    );
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const isMetadata = ({ apiKey }: RequestHeader) => apiKey === apiOf('Metadata').key;
  const announce = (host: string, port: number) => {
    liar.answer = (header) =>
      isMetadata(header) ? { brokers: [{ nodeId: 1, host, port }], topics: [] } : undefined;
  };
  /** Learns where the brokers are, then connects to node 1; whether that led anywhere. */
  async function reachesNode(): Promise<boolean> {
    const bootstrap = await askKafka(block.first);
    await bootstrap.metadata([]);
    bootstrap.close();
    return askKafka(block.first + 1).then(
      (client) => (client.close(), true),
      () => false,
    );
  }

  test('where the file names a bootstrap server on this machine, its brokers may be there', async () => {
    await pool.apply(configOf());
    for (const [i, host] of ['127.0.0.1', '127.0.0.2', 'localhost'].entries()) {
      announce(host, victim.port);
      assert.equal(await reachesNode(), true, host);
      assert.equal(victim.connections, i + 1);
    }
  });

  for (const host of ['127.0.0.2', '127.2', '::ffff:127.0.0.2', '0.0.0.0', '169.254.169.254']) {
    test(`${host} is not dialled where only 127.0.0.1 is named`, async () => {
      await pool.apply(configOf({ allow: ['127.0.0.1'], bootstrap: 'checked' }));
      announce(host, victim.port);
      const before = await cuts('upstream');
      assert.equal(await reachesNode(), false);
      assert.equal(victim.connections, 0);
      assert.ok((await cuts('upstream')) > before);
    });
  }

  test('where bootstrap servers are checked, one on this machine is not dialled either', async () => {
    const { target } = configOf({ bootstrap: 'checked' }).virtualClusters[0]!;
    const fetched = await fetchNodes(target, true, 5000);
    assert.match(JSON.stringify(fetched), /127\.0\.0\.1 is loopback/);
    const named = configOf({ bootstrap: 'checked', allow: ['127.0.0.0/8'] }).virtualClusters[0]!.target;
    assert.ok('nodes' in (await fetchNodes(named, true, 5000)));
  });

  test('a response of 2 GB that has to be gathered is refused by its head', async () => {
    await pool.apply(configOf());
    liar.answer = (header) => {
      if (!isMetadata(header)) return undefined;
      const head = Buffer.alloc(5 * MEGABYTE);
      head.writeInt32BE(0x7fff_ffff, 0);
      head.writeInt32BE(header.correlationId, 4);
      return head;
    };
    const before = await cuts('memory');
    await assert.rejects(async () => (await askKafka(block.first)).metadata([]));
    assert.equal(await cuts('memory'), before + 1);
  });

  test('a response with more elements than any cluster has is refused before they are made', async () => {
    await pool.apply(configOf());
    const brokers = 5_000_000;
    liar.answer = (header) => {
      if (!isMetadata(header)) return undefined;
      // Version 0: a correlation id, and an array of brokers of ten bytes each.
      const frame = Buffer.alloc(4 + 4 + 4 + brokers * 10 + 4);
      frame.writeInt32BE(frame.length - 4, 0);
      frame.writeInt32BE(header.correlationId, 4);
      frame.writeInt32BE(brokers, 8);
      return frame;
    };
    const before = await cuts('bad_traffic');
    const socket = connect(block.first, '127.0.0.1').on('error', () => {});
    const closed = Promise.withResolvers<void>();
    socket.once('close', closed.resolve).resume();
    const header = { apiKey: apiOf('Metadata').key, apiVersion: 0, correlationId: 1, clientId: 'c' };
    socket.write(encodeRequest(header, { topics: [] }));
    await closed.promise;
    assert.equal(await cuts('bad_traffic'), before + 1);
  });
});
