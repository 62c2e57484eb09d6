/** Quotas in front of a real Kafka: how much clients of others get through, by the example, and over several processes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CompressionTypes, Kafka } from 'kafkajs';
import type { Metrics } from '../../../src/ops/metrics.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { portGateway, reserveBlock, startProxyProcess } from '../proxy/proxy-process.ts';
import { startExample } from './site.ts';

/** What the example gives the client id `batch`. */
const BATCH = { produce: 262_144, fetch: 524_288 };
const SHARED = 200_000;
const WORKERS = 3;

/** For how long clients were slowed down, by the proxy's own count. */
async function throttledMs(metrics: Metrics): Promise<number> {
  const all = (await metrics.snapshot()) as { name: string; values: { value: number }[] }[];
  const found = all.find(({ name }) => name === 'isthmus_filter_quota_throttle_milliseconds_total');
  return found!.values.reduce((sum, { value }) => sum + value, 0);
}

describe('quotas', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  before(async () => {
    kafka = await startKafka();
    for (const topic of ['orders', 'shared']) await kafka.createTopic(topic);
  });
  after(async () => {
    await kafka?.stop();
  });

  it('slow down the Java client, which is told for how long, in writing and in reading', async () => {
    await using proxy = await startExample('quota', kafka.bootstrap.plaintext);
    const bootstrap = proxy.bootstrap['demo']!;
    const [records, size] = [1000, 1000];
    const what = ['--topic', 'orders', '--num-records', `${records}`, '--record-size', `${size}`];
    const props = [`bootstrap.servers=${bootstrap}`, 'client.id=batch', 'batch.size=16384'];
    const produced = await kafka.tool('kafka-producer-perf-test', [
      ...what,
      '--throughput',
      '-1',
      '--print-metrics',
      '--command-property',
      ...props,
    ]);
    assert.equal(produced.code, 0, produced.stderr);
    // The rate that came of it: nobody has more than a second's worth on top. And what Java counts of the waits that it was told of;
    // a machine that is slower than the quota by itself has none.
    const told = /produce-throttle-time-max.*?:\s*([\d.]+)/.exec(produced.stdout)?.[1];
    const perSecond = Number(/([\d.]+) records\/sec/.exec(produced.stdout)?.[1]) * size;
    const seconds = (records * size) / perSecond;
    const waits = await throttledMs(proxy.metrics);
    assert.ok(
      Number(told) > 0 || waits < 1000,
      `${waits} ms, of which Java knows nothing: ${produced.stdout}`,
    );
    assert.ok(records * size <= BATCH.produce * (seconds + 1.5), `${perSecond} bytes/s for ${seconds} s`);

    const began = performance.now();
    const consumer = new Kafka({ ...PATIENT_KAFKAJS, clientId: 'batch', brokers: [bootstrap] }).consumer({
      groupId: 'readers',
      maxBytesPerPartition: 65_536,
    });
    await consumer.connect();
    await consumer.subscribe({ topics: ['orders'], fromBeginning: true });
    const { promise: all, resolve } = Promise.withResolvers<void>();
    let read = 0;
    await consumer.run({ eachMessage: async () => void (++read === records && resolve()) });
    await all;
    await consumer.disconnect();
    const readSeconds = (performance.now() - began) / 1000;
    assert.ok(records * size <= BATCH.fetch * (readSeconds + 1.5), `${readSeconds} s`);
  });

  it('are of all processes together, in the long run', async (t) => {
    await using block = await reserveBlock(4);
    await using proxy = await startProxyProcess({
      workers: WORKERS,
      filterDefinitions: [
        { name: 'q', type: 'quota', config: { quotas: [{ per: 'virtualCluster', produceBytes: SHARED }] } },
      ],
      virtualClusters: [
        {
          name: 'shared',
          targetCluster: { bootstrapServers: kafka.bootstrap.plaintext },
          gateways: [portGateway(block.first)],
          filters: ['q'],
        },
      ],
    });
    const producers = Array.from({ length: 9 }, (_, i) =>
      new Kafka({ ...PATIENT_KAFKAJS, clientId: `p${i}`, brokers: [`127.0.0.1:${block.first}`] }).producer(),
    );
    await Promise.all(producers.map((producer) => producer.connect()));
    const value = Buffer.alloc(10_000, 'x');
    const began = performance.now();
    let bytes = 0;
    const seconds = () => (performance.now() - began) / 1000;
    await Promise.all(
      producers.map(async (producer) => {
        while (bytes < 8 * SHARED) {
          await producer.send({
            topic: 'shared',
            messages: [{ value }],
            compression: CompressionTypes.None,
          });
          bytes += value.length;
        }
      }),
    );
    const took = seconds();
    await Promise.all(producers.map((producer) => producer.disconnect()));
    t.diagnostic(`${(bytes / took / SHARED).toFixed(2)} of the quota over ${took.toFixed(1)} s`);
    // On top of the rate: a second's worth that was saved up, in each process, and what was under way in between.
    const most = SHARED * (took + WORKERS) + producers.length * value.length;
    assert.ok(bytes <= most, `${bytes} bytes in ${took} s`);
    assert.ok((await proxy.metric('isthmus_filter_quota_throttles_total', { per: 'virtualCluster' })) > 0);
  });
});
