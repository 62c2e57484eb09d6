/** How long requests under way are waited for when their virtual cluster changes, and when the proxy ends. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { produce } from '../../support/clients.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess } from './proxy-process.ts';

/** Longer than anybody waits: what ends before that was not waited for. */
const HOUR_MS = 3_600_000;

describe('drain', () => {
  let kafka: KafkaCluster;
  let block: PortBlock;
  before(async () => {
    [kafka, block] = await Promise.all([startKafka(), reserveBlock(8)]);
  });
  after(async () => {
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  const cluster = (name: string, first: number, more: object = {}) => ({
    name,
    targetCluster: { bootstrapServers: kafka.bootstrap.plaintext },
    gateways: [portGateway(first)],
    ...more,
  });
  /** Asks for records of a topic that has none: the answer comes when one is written, or when the time is over. */
  const poll = async (port: number, topic: string, maxWaitMs: number) => {
    await kafka.createTopic(topic);
    const client = await askKafka(port, { requestTimeoutMs: HOUR_MS });
    const { topics } = await client.metadata([topic]);
    const partitions = [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 1000 }];
    const wanted = [{ topic, topicId: topics[0]!.topicId, partitions }];
    const answer = client.request('Fetch', { maxWaitMs, minBytes: 1, maxBytes: 1000, topics: wanted });
    answer.catch(() => {}); // the test looks at it later
    return { client, answer };
  };
  const writeTo = (topic: string) =>
    produce('platformatic', {
      bootstrap: kafka.bootstrap.plaintext,
      topic,
      records: [{ key: 'a', value: 'b' }],
    });
  const underWay = (proxy: ProxyProcess, count: number) =>
    waitFor(
      'requests under way',
      async () => (await proxy.metric('isthmus_proxy_requests_total', { api: 'Fetch' })) === count,
    );

  test('a virtual cluster that changes waits for as long as its drainTimeout says', async () => {
    const hasty = cluster('hasty', block.first, { drainTimeout: '500ms' });
    const patient = cluster('patient', block.first + 4, { drainTimeout: '1h' });
    await using proxy = await startProxyProcess({ workers: 2, virtualClusters: [hasty, patient] });
    const cut = await poll(block.first, 'hasty', HOUR_MS);
    const kept = await poll(block.first + 4, 'patient', HOUR_MS);
    await underWay(proxy, 2);
    const changed = [hasty, patient].map(({ targetCluster, ...rest }) => ({
      ...rest,
      targetCluster: { ...targetCluster, bootstrapServerSelection: { strategy: 'random' } },
    }));
    await proxy.reload({ workers: 2, virtualClusters: changed });
    await assert.rejects(cut.answer, /closed|ECONNRESET/);
    const cuts = (name: string) =>
      proxy.metric('isthmus_proxy_connections_cut_total', { virtual_cluster: name, reason: 'drain_timeout' });
    await waitFor('the cut', async () => (await cuts('hasty')) === 1);
    await writeTo('patient');
    assert.equal((await kept.answer).errorCode, 0);
    assert.equal(await cuts('patient'), 0);
  });

  test('at the end, requests under way are answered and then connections closed', async () => {
    await using last = await startProxyProcess({ virtualClusters: [cluster('last', block.first)] });
    const { client, answer } = await poll(block.first, 'last', 2000);
    await underWay(last, 1);
    const stopped = last.server.stop();
    assert.equal((await answer).errorCode, 0);
    await stopped;
    await assert.rejects(client.metadata([]), /closed/);
    await last.logged(/draining/);
  });

  test('the end waits for as long as the shutdownTimeout of the last configuration says', async () => {
    const timeout = (shutdownTimeout: string) => ({ workers: 2, network: { proxy: { shutdownTimeout } } });
    const [first, second] = [cluster('first', block.first), cluster('second', block.first + 4)];
    await using hasty = await startProxyProcess({ ...timeout('1h'), virtualClusters: [first] });
    await using patient = await startProxyProcess({ ...timeout('1h'), virtualClusters: [second] });
    await hasty.reload({ ...timeout('500ms'), virtualClusters: [first] });
    const cut = await poll(block.first, 'first', HOUR_MS);
    const kept = await poll(block.first + 4, 'second', HOUR_MS);
    await underWay(hasty, 1);
    await underWay(patient, 1);
    // The patient one is told first, so that it would end first if both had the same time.
    const ended = patient.server.stop('SIGTERM', HOUR_MS);
    await patient.logged(/draining/);
    await hasty.server.stop('SIGTERM', HOUR_MS);
    await assert.rejects(cut.answer, /closed|ECONNRESET/);
    assert.ok(patient.server.running);
    await writeTo('second');
    assert.equal((await kept.answer).errorCode, 0);
    await ended;
    assert.deepEqual([hasty.server.exitCode, patient.server.exitCode], [0, 0]);
  });
});
