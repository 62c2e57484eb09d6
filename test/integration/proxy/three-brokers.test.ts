/** Three brokers behind the proxy: leaders move, brokers stop and start, workers die, and nothing is lost. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { ensureConfluentKafka } from '../../support/install/python.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { startLoad } from '../../support/kafka/load.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess } from './proxy-process.ts';

const SECONDS = Number(process.env['ISTHMUS_CHAOS_SECONDS'] ?? 25);

interface Verdict {
  acked: number;
  read: number;
  failed: number;
  failures: string[];
  problems: string[];
}

describe('three brokers', () => {
  let kafka: KafkaCluster;
  let proxy: ProxyProcess;
  let block: PortBlock;

  const cluster = (name: string, first: number, bootstrapServers: string, more: object = {}) => ({
    name,
    targetCluster: { bootstrapServers },
    gateways: [portGateway(first)],
    ...more,
  });
  const document = (more: object = {}, extra: object[] = []) => ({
    workers: 2,
    virtualClusters: [
      cluster('main', block.first, kafka.bootstrap.plaintext, more),
      cluster('login', block.first + 4, kafka.bootstrap.saslPlaintext),
      {
        ...cluster('partial', 0, kafka.bootstrap.plaintext),
        gateways: [
          {
            ...portGateway(block.first + 8),
            portIdentifiesNode: {
              bootstrapAddress: `127.0.0.1:${block.first + 8}`,
              nodeIdRanges: [{ start: 1, end: 2 }],
            },
          },
        ],
      },
      ...extra,
    ],
  });

  before(async () => {
    [kafka, block] = await Promise.all([startKafka({ brokers: 3 }), reserveBlock(15)]);
    proxy = await startProxyProcess(document());
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  /** A consumer's or producer's connection to one broker, past the login where one is needed. */
  const ask = (port: number, login = false): Promise<KafkaClient> =>
    askKafka(port, login ? { sasl: kafka.security.saslPlaintext.sasl! } : {});
  const produced = () => proxy.metric('isthmus_proxy_requests_total', { api: 'Produce' });
  /** Waits until something has been counted: a worker that is busy for a moment is in the sum with what it said before. */
  const counted = (metric: string) =>
    waitFor(metric, async () => (await proxy.metric(metric)) > 0, { timeoutMs: 30_000 });
  const leaderOf = async (client: KafkaClient, topic: string) =>
    (await client.metadata([topic])).topics[0]?.partitions[0]?.leaderId;

  test('a client that comes straight to a broker’s port, before anyone knows where it is, gets there', async () => {
    await kafka.createTopic('leaders', { partitions: 3, replicas: 3 });
    const bootstrap = await ask(block.first);
    const { topics } = await bootstrap.metadata(['leaders']);
    bootstrap.close();
    for (const { leaderId, partitionIndex } of topics[0]!.partitions) {
      const offset = await waitFor(`broker ${leaderId}`, async () => {
        const client = await ask(block.first + 4 + leaderId, true).catch(() => undefined);
        const response = await client
          ?.request('ListOffsets', {
            replicaId: -1,
            topics: [
              { name: 'leaders', partitions: [{ partitionIndex, timestamp: -1n, currentLeaderEpoch: -1 }] },
            ],
          })
          .catch(() => undefined); // closed, so that the client comes again
        client?.close();
        return response?.topics[0]?.partitions[0];
      });
      assert.equal(offset.errorCode, 0, 'the leader itself answered');
    }
  });

  test('which brokers there are is told, declared or not, and also of a target that wants a login', async () => {
    const client = await ask(block.first + 4, true);
    const { brokers } = await client.metadata([]);
    client.close();
    const ids = brokers.map(({ nodeId }) => nodeId).toSorted((a, b) => a - b);
    assert.equal(ids.length, 3);
    await waitFor('the ids of all brokers', async () => {
      const { virtualClusters } = await proxy.status();
      const told = new Map(virtualClusters.map(({ name, nodeIds }) => [name, nodeIds.join()]));
      return ['main', 'login', 'partial'].every((name) => told.get(name) === ids.join());
    });
  });

  test('a broker outside the ranges is left out, and harms nobody else', async () => {
    const client = await ask(block.first + 8);
    const { brokers, topics } = await client.metadata(['leaders']);
    client.close();
    assert.deepEqual(
      brokers.toSorted((a, b) => a.nodeId - b.nodeId).map(({ nodeId, port }) => [nodeId, port]),
      [
        [1, block.first + 9],
        [2, block.first + 10],
      ],
    );
    assert.equal(topics[0]?.partitions.length, 3);
    await proxy.logged(/"node":3,.*outside nodeIdRanges/);
    await counted('isthmus_proxy_unadvertised_brokers_total');
  });

  test('a leader that moves under a Java producer is found through the proxy', async (t) => {
    await kafka.createTopic('moving', { partitions: 1, replicas: 3 });
    const direct = await askKafka(directPort(kafka, 1));
    const rewritten = () => proxy.metric('isthmus_proxy_node_endpoints_rewritten_total');
    const rewrittenBefore = await rewritten();
    const load = await startLoad(
      { bootstrap: `127.0.0.1:${block.first}`, topic: 'moving' },
      { perSecond: 200 },
    );
    t.after(() => load.stop());
    /** Records are acknowledged, and have come through the proxy. */
    const traffic = async () => {
      const requests = await produced();
      await load.flows();
      await waitFor('requests', async () => (await produced()) > requests + 20);
    };
    await traffic();
    for (const replicas of [
      [2, 3, 1],
      [3, 1, 2],
      [1, 2, 3],
    ]) {
      const partitions = [{ partitionIndex: 0, replicas }];
      await direct.request('AlterPartitionReassignments', {
        timeoutMs: 30_000,
        topics: [{ name: 'moving', partitions }],
      });
      await waitFor('the new leader', async () => {
        const topicPartitions = [{ topic: 'moving', partitions: [0] }];
        await direct.request('ElectLeaders', { electionType: 0, timeoutMs: 30_000, topicPartitions });
        return (await leaderOf(direct, 'moving')) === replicas[0];
      });
      await traffic(); // with this leader
    }
    direct.close();
    await load.stop();
    const { acknowledged, failed } = await load.seen();
    assert.deepEqual(failed, []);
    const numbers = acknowledged.map(({ value }) => Number(value));
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => i),
      'each record was acknowledged, once and in order',
    );
    // The new leader was in a response. A worker that is busy for a moment is in the sum with what it said before.
    await waitFor('rewritten responses', async () => (await rewritten()) > rewrittenBefore);
  });

  test(`nothing that was acknowledged is lost, doubled or out of order in ${SECONDS} s of trouble`, async (t) => {
    await kafka.createTopic('precious', {
      partitions: 6,
      replicas: 3,
      configs: { 'min.insync.replicas': '2' },
    });
    const producedBefore = await produced();
    const script = join(import.meta.dirname, '../../support/clients/idempotent_producer.py');
    const producer = spawn('python3', [script], {
      env: { ...process.env, PYTHONPATH: await ensureConfluentKafka() },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => producer.kill('SIGKILL'));
    const request = {
      topic: 'precious',
      partitions: 6,
      config: { 'bootstrap.servers': `127.0.0.1:${block.first}` },
      direct: { 'bootstrap.servers': kafka.bootstrap.plaintext },
    };
    producer.stdin.write(`${JSON.stringify(request)}\n`);
    const output: Buffer[] = [];
    producer.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    const ended = once(producer, 'close');
    await waitFor('the producer', async () => (await produced()) > producedBefore + 50);

    const deadline = Date.now() + SECONDS * 1000;
    let reloads = 0;
    const reloading = (async () => {
      while (Date.now() < deadline) {
        await delay(3000);
        // Every other time the cluster itself changes, and its connections drain.
        const more = reloads % 2 === 0 ? { drainTimeout: `${5 + (reloads % 7)}s` } : {};
        const extra =
          reloads % 3 === 0 ? [cluster('other', block.first + 11, kafka.bootstrap.plaintext)] : [];
        proxy.write(document(more, extra));
        reloads++;
      }
    })();
    const killing = (async () => {
      await delay((SECONDS * 1000) / 3);
      process.kill(proxy.workerPids()[0]!, 'SIGKILL');
    })();
    let restarts = 0;
    for (let id = 1; Date.now() < deadline; id = (id % 3) + 1) {
      await kafka.stopBroker(id);
      await kafka.startBroker(id);
      restarts++;
      await inSync(kafka, id === 1 ? 2 : 1);
    }
    await Promise.all([reloading, killing]);
    producer.stdin.end();
    await ended;
    const verdict = JSON.parse(Buffer.concat(output).toString()) as Verdict;
    t.diagnostic(
      `${verdict.acked} acknowledged, ${verdict.read} read, ${restarts} restarts, ${reloads} reloads`,
    );
    assert.deepEqual(verdict.problems, []);
    assert.deepEqual([verdict.failed, verdict.failures], [0, []]);
    assert.ok(verdict.acked > 1000 && restarts > 0 && reloads > 3);
  });
});

const directPort = (kafka: KafkaCluster, broker: number) =>
  Number(kafka.addresses('PLAINTEXT')[broker - 1]!.split(':')[1]);

/** Waits until every replica of the topic has caught up, as whoever restarts brokers has to. */
async function inSync(kafka: KafkaCluster, via: number): Promise<void> {
  const sync = async () => {
    const client = await askKafka(directPort(kafka, via)).catch(() => undefined);
    const metadata = await client?.metadata(['precious']).catch(() => undefined);
    client?.close();
    return metadata?.topics[0]?.partitions.every(({ isrNodes }) => isrNodes.length === 3) ?? false;
  };
  await waitFor('replicas in sync', sync, { timeoutMs: 300_000 });
}
