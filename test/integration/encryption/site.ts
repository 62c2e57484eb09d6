/** One broker with two encrypting proxies in front of it, the original and ours, that share a key. */
import { checkProxyConfig } from '../../../src/proxy/config/load.ts';
import { createLocalPool } from '../../../src/proxy/workers/worker-pool.ts';
import { connectKafka } from '../../../src/kafka/client.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { kroxyliciousConfig, startKroxylicious } from '../../support/kroxylicious.ts';
import type { FilterDefinition, Kroxylicious } from '../../support/kroxylicious.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';

export const KEK = {
  uuid: '11111111-2222-3333-4444-555555555555',
  key: Buffer.alloc(32, 107).toString('base64'),
  algorithm: 'AES',
  alias: 'the-key',
};
export const KMS_CONFIG = { numIvBytes: 12, numAuthBits: 128, existingKeks: [KEK] };

/** The filter as it stands in a configuration; the two proxies take the same. */
export const ENCRYPTION: FilterDefinition = {
  type: 'RecordEncryption',
  config: {
    kms: 'UnitTestingKmsService',
    kmsConfig: KMS_CONFIG,
    selector: 'TemplateKekSelector',
    selectorConfig: { template: KEK.alias },
  },
};

export interface Ours extends AsyncDisposable {
  bootstrap: string;
}

/** Starts our proxy, in this process, with a filter, or several. */
export async function startOurs(
  upstream: string,
  filter: FilterDefinition | FilterDefinition[] = ENCRYPTION,
  metrics = createMetrics(),
): Promise<Ours> {
  const ports = await reservePorts(2);
  const [bootstrapPort = 0, brokerPort = 0] = ports.numbers;
  const document = kroxyliciousConfig({ upstream, filters: [filter].flat() }, [bootstrapPort, brokerPort]);
  const pool = createLocalPool(createLog('error'), metrics);
  await pool.apply(checkProxyConfig(document, 'the test').config);
  return {
    bootstrap: `127.0.0.1:${bootstrapPort}`,
    async [Symbol.asyncDispose]() {
      await pool.drain(1000);
      await ports.release();
    },
  };
}

export interface Site extends AsyncDisposable {
  kafka: KafkaCluster;
  peer: Kroxylicious;
  ours: Ours;
}

export async function startSite(): Promise<Site> {
  await using starting = new AsyncDisposableStack();
  const kafka = starting.use(await startKafka());
  const upstream = kafka.bootstrap.plaintext;
  const peer = starting.use(await startKroxylicious({ upstream, filters: [ENCRYPTION] }));
  const ours = starting.use(await startOurs(upstream));
  const started = starting.move();
  return { kafka, peer, ours, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** A connection to the one broker behind a bootstrap address. */
export async function connectTo(bootstrap: string): Promise<KafkaClient> {
  const at = (host: string, port: number) =>
    connectKafka({ host, port, connectTimeoutMs: 60_000, requestTimeoutMs: 60_000 });
  const [host = '', port = ''] = bootstrap.split(':');
  const first = await at(host, Number(port));
  const { brokers } = await first.metadata([]);
  first.close();
  const broker = brokers[0]!;
  return at(broker.host, broker.port);
}
