/** Every client library through the proxy, over every kind of connection: what they write is what they read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { consume, produce } from '../../support/clients.ts';
import type { ClientName } from '../../support/clients.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { BOB } from '../../support/kafka/security.ts';
import type { Security } from '../../support/kafka/security.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess } from './proxy-process.ts';

const RECORDS = Array.from({ length: 1000 }, (_, n) => ({
  key: `k${n}`,
  value: `value ${n} ${'x'.repeat(n % 700)}`,
}));

/** How a client comes in, and how the proxy goes on from there. */
const WAYS = {
  plaintext: { clients: ['java', 'confluent', 'kafkajs', 'platformatic', 'kcat'] },
  tls: { clients: ['java', 'confluent', 'kafkajs', 'platformatic', 'kcat'] },
  mtls: { clients: ['java', 'confluent', 'kafkajs', 'platformatic'] },
  sasl: { clients: ['java', 'confluent', 'kafkajs', 'platformatic', 'kcat'] },
} as const satisfies Record<string, { clients: readonly ClientName[] }>;
type Way = keyof typeof WAYS;

describe('clients through the proxy', () => {
  let kafka: KafkaCluster;
  let proxy: ProxyProcess;
  let block: PortBlock;
  const firstPort = (way: Way) => block.first + Object.keys(WAYS).indexOf(way) * 4;

  function security(way: Way, client: ClientName): Security {
    if (way === 'plaintext') return {};
    const ca = kafka.tls.caFile;
    if (way === 'mtls') return { ca, client: kafka.tls.clientFiles };
    if (way === 'tls') return { ca };
    // Debian's kcat cannot do SCRAM.
    return { ca, sasl: client === 'kcat' ? BOB : kafka.security.saslSsl.sasl! };
  }

  before(async () => {
    [kafka, block] = await Promise.all([startKafka(), reserveBlock(16)]);
    const { server, client, authority } = kafka.tls;
    const key = { certificate: server.certPem, privateKey: server.keyPem };
    const trust = { certificates: authority.certPem };
    const clientKey = { certificate: client.certPem, privateKey: client.keyPem };
    const cluster = (way: Way, bootstrapServers: string, targetTls?: object, gatewayTls?: object) => ({
      name: way,
      targetCluster: { bootstrapServers, ...(targetTls && { tls: targetTls }) },
      gateways: [portGateway(firstPort(way), 'localhost', gatewayTls && { tls: gatewayTls })],
    });
    proxy = await startProxyProcess({
      workers: 2,
      virtualClusters: [
        cluster('plaintext', kafka.bootstrap.plaintext),
        cluster('tls', kafka.bootstrap.ssl, { trust }, { key }),
        cluster('mtls', kafka.bootstrap.mtls, { trust, key: clientKey }, { key, trust }),
        cluster('sasl', kafka.bootstrap.saslSsl, { trust }, { key }),
      ],
    });
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  for (const way of Object.keys(WAYS) as Way[]) {
    for (const client of WAYS[way].clients) {
      test(`${client}, ${way}`, async () => {
        const topic = `${way}-${client}`;
        await kafka.createTopic(topic);
        const target = { bootstrap: `localhost:${firstPort(way)}`, topic, security: security(way, client) };
        await produce(client, { ...target, records: RECORDS });
        assert.deepEqual(await consume(client, { ...target, count: RECORDS.length }), RECORDS);
      });
    }
  }

  test('a client without a certificate does not get past mutual TLS', async () => {
    const socket = connect({ port: firstPort('mtls'), host: 'localhost', ca: kafka.tls.authority.certPem });
    await assert.rejects(once(socket, 'data'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' });
  });

  test('everything went through the proxy, and nothing was cut', async () => {
    assert.equal(await proxy.metric('isthmus_proxy_connections_cut_total', { reason: 'bad_traffic' }), 0);
    for (const way of Object.keys(WAYS)) {
      const bytes = () => proxy.metric('isthmus_proxy_bytes_total', { virtual_cluster: way });
      // A worker that is busy for a moment is in the sum with what it said before.
      await waitFor(`the bytes of ${way}`, async () => (await bytes()) > 2_000_000, { timeoutMs: 30_000 });
    }
  });
});
