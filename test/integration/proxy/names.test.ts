/** One port for all: the TLS server name says which virtual cluster and which broker. And the PROXY protocol before it. */
import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, before, describe, mock, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { apiOf } from '../../../src/kafka/apis.ts';
import { encodeRequest } from '../../../src/kafka/frame.ts';
import { consume, produce } from '../../support/clients.ts';
import type { ClientName } from '../../support/clients.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { BOB } from '../../support/kafka/security.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { createAuthority } from '../../support/pki.ts';
import type { KeyPairPem } from '../../support/pki.ts';
import { hostsFile, runNamed } from './named-client.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess } from './proxy-process.ts';

/** Names below localhost mean this machine, but Debian's resolver does not say so: clients are told here, or by the file. */
function resolveLocalhost(): string {
  const real = dns.lookup;
  const fake = ((name: string, ...rest: unknown[]) =>
    (real as (...args: unknown[]) => void)(
      name.endsWith('.localhost') ? '127.0.0.1' : name,
      ...rest,
    )) as typeof real;
  mock.method(dns, 'lookup', fake);
  const names = ['a', 'b'].flatMap((name) => [`${name}.localhost`, `${name}-1.localhost`]);
  const hosts = hostsFile(names);
  process.env['JAVA_TOOL_OPTIONS'] = `-Djdk.net.hosts.file=${hosts}`;
  return hosts;
}

describe('names', () => {
  let kafka: KafkaCluster;
  let proxy: ProxyProcess;
  let block: PortBlock;
  let port: number;
  let hosts: string;
  const RECORDS = Array.from({ length: 100 }, (_, n) => ({ key: `k${n}`, value: `v${n}` }));

  before(async () => {
    hosts = resolveLocalhost();
    [kafka, block] = await Promise.all([startKafka(), reserveBlock(7)]);
    port = block.first;
    const { authority } = kafka.tls;
    const certificate = async (...dnsNames: string[]) => {
      const { certPem, keyPem } = await authority.issue({ commonName: dnsNames[0]!, dns: dnsNames });
      return { certificate: certPem, privateKey: keyPem };
    };
    const named = (name: string, bootstrapServers: string, tls: object) => ({
      name,
      targetCluster: { bootstrapServers },
      gateways: [
        {
          name: 'names',
          bindAddress: '127.0.0.1',
          sniHostIdentifiesNode: {
            bootstrapAddress: `${name}.localhost:${port}`,
            advertisedBrokerAddressPattern: `$(virtualClusterName)-$(nodeId).localhost`,
          },
          tls,
        },
      ],
    });
    const trust = { certificates: authority.certPem, trustOptions: { clientAuth: 'REQUESTED' } };
    proxy = await startProxyProcess({
      workers: 2,
      virtualClusters: [
        named('a', kafka.bootstrap.plaintext, {
          key: [await certificate('a.localhost'), await certificate('a-1.localhost')],
        }),
        named('b', kafka.bootstrap.saslPlaintext, {
          key: await certificate('b.localhost', 'b-1.localhost'),
          trust,
        }),
      ],
    });
  });
  after(async () => {
    mock.restoreAll();
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  for (const client of ['java', 'kafkajs', 'platformatic'] as ClientName[]) {
    test(`${client} finds two virtual clusters behind one port`, async () => {
      const ca = kafka.tls.caFile;
      const target = { topic: `names-${client}`, records: RECORDS, count: 100 };
      await kafka.createTopic(target.topic);
      await produce(client, { ...target, bootstrap: `a.localhost:${port}`, security: { ca } });
      const security = { ca, sasl: kafka.security.saslPlaintext.sasl! };
      assert.deepEqual(
        await consume(client, { ...target, bootstrap: `b.localhost:${port}`, security }),
        RECORDS,
      );
    });
  }

  for (const client of ['confluent', 'kcat'] as ClientName[]) {
    test(`${client}, with librdkafka, finds them too`, async () => {
      const ca = kafka.tls.caFile;
      const topic = `names-${client}`;
      await kafka.createTopic(topic);
      await runNamed(hosts, {
        client,
        produce: { topic, records: RECORDS, bootstrap: `a.localhost:${port}`, security: { ca } },
      });
      const security = { ca, sasl: BOB }; // Debian's kcat cannot do SCRAM
      const records = await runNamed(hosts, {
        client,
        consume: { topic, count: RECORDS.length, bootstrap: `b.localhost:${port}`, security },
      });
      assert.deepEqual(records, RECORDS);
    });
  }

  test('each name gets the certificate that has it', async () => {
    for (const servername of ['a.localhost', 'a-1.localhost', 'b-1.localhost']) {
      const socket = connectTls({ port, host: '127.0.0.1', servername, ca: kafka.tls.authority.certPem });
      await once(socket, 'secureConnect');
      assert.ok(socket.getPeerX509Certificate()?.checkHost(servername));
      socket.destroy();
    }
  });

  test('a certificate that was only requested may be missing, but not be a stranger’s', async () => {
    const { authority } = kafka.tls;
    const stranger = await (await createAuthority('stranger')).issue({ commonName: 'x' });
    const { sasl } = kafka.security.saslPlaintext;
    const tls = { servername: 'b.localhost', ca: authority.certPem };
    const show = ({ certPem: cert, keyPem: key }: KeyPairPem) =>
      askKafka(port, { sasl: sasl!, tls: { ...tls, cert, key } });
    (await askKafka(port, { sasl: sasl!, tls })).close();
    (await show(kafka.tls.client)).close();
    await assert.rejects(show(stranger));
    await proxy.logged(/certificate is not trusted/);
  });

  test('the PROXY protocol says whose a connection is, over plaintext and TLS', async () => {
    const [plain, secure] = [block.first + 1, block.first + 5];
    const { server } = kafka.tls;
    const tls = { key: { certificate: server.certPem, privateKey: server.keyPem } };
    const targetCluster = { bootstrapServers: kafka.bootstrap.plaintext };
    const gateway = portGateway(secure, 'localhost', { tls });
    gateway.portIdentifiesNode.nodeIdRanges = [{ start: 1, end: 1 }];
    await using behind = await startProxyProcess({
      proxyProtocol: { mode: 'required' },
      limits: { maxConnectionsPerAddress: 2 },
      virtualClusters: [
        { name: 'plain', targetCluster, gateways: [portGateway(plain)] },
        { name: 'secure', targetCluster, gateways: [gateway] },
      ],
    });
    const v1 = (source: string) => Buffer.from(`PROXY TCP4 ${source} 127.0.0.1 5000 9092\r\n`);
    const v2 = (source: string) =>
      Buffer.concat([
        Buffer.from('0d0a0d0a000d0a515549540a2111000c', 'hex'),
        Buffer.from(source.split('.').map(Number)),
        Buffer.from('7f000001138823b8', 'hex'),
      ]);
    const versions = encodeRequest(
      { apiKey: apiOf('ApiVersions').key, apiVersion: 0, correlationId: 7, clientId: null },
      {},
    );
    /** True if a request behind this header is answered. */
    const answered = async (header: Buffer) => {
      const socket = connectTcp(plain, '127.0.0.1');
      const { promise: ok, resolve } = Promise.withResolvers<boolean>();
      // Whoever is refused after the first piece may see a reset when it sends the second.
      socket.on('error', () => {}).on('close', () => resolve(false));
      socket.on('data', () => resolve(true));
      socket.write(header.subarray(0, 5)); // in two pieces, and the rest together with the request
      socket.once('connect', () => socket.write(Buffer.concat([header.subarray(5), versions])));
      return { ok: await ok, socket };
    };
    const first = await answered(v1('192.0.2.1'));
    const second = await answered(v2('192.0.2.1'));
    assert.deepEqual([first.ok, second.ok], [true, true]);
    assert.equal((await answered(v2('192.0.2.1'))).ok, false); // a third of the same address
    assert.ok((await answered(v2('192.0.2.2'))).ok);
    assert.equal((await answered(Buffer.concat([versions, versions]))).ok, false);
    const raw = connectTcp(secure, '127.0.0.1');
    raw.write(v2('192.0.2.9'));
    const socket = connectTls({ socket: raw, servername: 'localhost', ca: kafka.tls.authority.certPem });
    socket.write(versions);
    await once(socket, 'data');
    for (const each of [first.socket, second.socket, socket]) each.destroy();
    await waitFor('the counts', async () => {
      const cut = await behind.metric('isthmus_proxy_connections_cut_total', { reason: 'proxy_protocol' });
      return (
        cut === 1 &&
        (await behind.metric('isthmus_proxy_connections_cut_total', { reason: 'address_limit' })) === 1
      );
    });
  });
});
