/** Clients that mean harm, or are broken: they are cut off with a reason, and nobody else notices. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { apiOf } from '../../../src/kafka/apis.ts';
import { encodeRequest } from '../../../src/kafka/frame.ts';
import { produce } from '../../support/clients.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess } from './proxy-process.ts';

const IDLE = 5000;
const MEGABYTE = 1 << 20;
/** No measure of speed: an answer that takes so long was held up, however busy the machine is. */
const HELD_UP_MS = 30_000;

describe('hostile clients', () => {
  let kafka: KafkaCluster;
  let proxy: ProxyProcess;
  let block: PortBlock;
  let plain: number;
  let secure: number;
  let named: number;
  let login: number;

  before(async () => {
    [kafka, block] = await Promise.all([startKafka(), reserveBlock(13)]);
    [plain, secure, named, login] = [block.first, block.first + 4, block.first + 8, block.first + 9];
    const { server } = kafka.tls;
    const tls = { key: { certificate: server.certPem, privateKey: server.keyPem } };
    const targetCluster = { bootstrapServers: kafka.bootstrap.plaintext };
    const sniHostIdentifiesNode = {
      bootstrapAddress: `kafka.localhost:${named}`,
      advertisedBrokerAddressPattern: 'b-$(nodeId).localhost',
    };
    proxy = await startProxyProcess({
      limits: {
        handshakeTimeout: '3s',
        maxConnections: 20_000,
        maxBufferedBytes: 64 * MEGABYTE,
        maxBufferedBytesPerConnection: 16 * MEGABYTE,
        unauthenticatedIdleTimeout: '90s',
      },
      virtualClusters: [
        { name: 'plain', targetCluster, gateways: [portGateway(plain)] },
        { name: 'secure', targetCluster, gateways: [portGateway(secure, 'localhost', { tls })] },
        {
          name: 'login',
          targetCluster: { bootstrapServers: kafka.bootstrap.saslPlaintext },
          gateways: [portGateway(login)],
        },
        {
          name: 'named',
          targetCluster,
          gateways: [{ name: 'g', bindAddress: '127.0.0.1', sniHostIdentifiesNode, tls }],
        },
      ],
    });
    await kafka.createTopic('big');
    const value = 'x'.repeat(100_000);
    const records = Array.from({ length: 300 }, (_, n) => ({ key: `${n}`, value }));
    await produce('confluent', { bootstrap: `127.0.0.1:${plain}`, topic: 'big', records });
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  const cuts = (reason: string) => proxy.metric('isthmus_proxy_connections_cut_total', { reason });

  /** A connection that notes when it is closed, in good order or not. */
  function open(port: number): { socket: Socket; closed: Promise<void> } {
    const socket = connectTcp(port, '127.0.0.1');
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.on('error', () => {}).on('close', () => resolve());
    socket.resume();
    return { socket, closed };
  }

  /** Goes on asking on one connection while something happens; the longest time that an answer took, in ms. */
  async function whileServing(work: () => Promise<void>): Promise<number> {
    const client = await askKafka(plain);
    let slowest = 0;
    const stop = new AbortController();
    const asking = (async () => {
      while (!stop.signal.aborted) {
        const before = performance.now();
        await client.metadata(['big']);
        slowest = Math.max(slowest, performance.now() - before);
      }
    })();
    await work();
    stop.abort();
    await asking;
    client.close();
    return slowest;
  }

  const BAD: [string, () => Buffer, RegExp][] = [
    ['random bytes', () => Buffer.concat([Buffer.from([0x7a]), randomBytes(300)]), /is announced/],
    [
      'a length of 2 GB',
      () => Buffer.from('7fffffff0003000c00000001', 'hex'),
      /2147483647 bytes is announced/,
    ],
    ['a negative length', () => Buffer.from('800000000003000c00000001', 'hex'), /is announced/],
    ['HTTP', () => Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), /looks like HTTP/],
    ['a TLS handshake', () => Buffer.from('16030101fe010001fa0303', 'hex').fill(1, 11), /looks like TLS/],
    ['an unknown API', () => Buffer.from('0000002077ff000000000001', 'hex'), /unknown API key 30719/],
  ];
  for (const [what, bytes, reason] of BAD) {
    test(`${what}: cut off, with the reason in the log`, async () => {
      const [cutBefore, logBefore] = [await cuts('bad_traffic'), proxy.log().length];
      const { socket, closed } = open(plain);
      socket.write(Buffer.concat([bytes(), Buffer.alloc(20)]));
      await closed;
      await proxy.logged(reason, logBefore);
      assert.equal(await cuts('bad_traffic'), cutBefore + 1);
    });
  }

  test('plaintext at a TLS port, and a server name that nobody has, are refused', async () => {
    const refusedBefore = await cuts('tls');
    const { socket, closed } = open(secure);
    socket.write(
      encodeRequest({ apiKey: apiOf('ApiVersions').key, apiVersion: 3, correlationId: 1, clientId: 'c' }, {}),
    );
    await closed;
    await waitFor('the refusal', async () => (await cuts('tls')) > refusedBefore);
    for (const servername of ['nobody.localhost', undefined]) {
      const options = { port: named, host: '127.0.0.1', rejectUnauthorized: false };
      const client = connectTls(servername === undefined ? options : { ...options, servername });
      await assert.rejects(once(client, 'secureConnect'));
    }
    await waitFor('the refusals', async () => (await cuts('server_name')) === 2);
    await proxy.logged(/no gateway has the server name nobody\.localhost/);
  });

  test('a TLS handshake that does not come, or comes byte by byte, ends in time', async () => {
    const began = performance.now();
    /** The head of a ClientHello of 400 bytes, and then one of them after the other, for longer than anybody may take. */
    const dribble = async (port: number) => {
      const { socket, closed } = open(port);
      socket.write(Buffer.from('16030101900100018c0303', 'hex'));
      const more = setInterval(() => socket.write(Buffer.alloc(1)), 100);
      await closed;
      clearInterval(more);
      return performance.now() - began;
    };
    const silent = [secure, named].map(async (port) => {
      await open(port).closed;
      return performance.now() - began;
    });
    for (const took of await Promise.all([...silent, dribble(secure), dribble(named)])) {
      assert.ok(took > 2500, `closed after ${took} ms, of the 3 s that it may take`);
      assert.ok(took < HELD_UP_MS, `closed after ${took} ms`);
    }
  });

  test('hundreds of half frames and bad ones do not hold others up', async () => {
    const slowest = await whileServing(async () => {
      const half = encodeRequest(
        { apiKey: apiOf('Metadata').key, apiVersion: 12, correlationId: 1, clientId: 'half' },
        { topics: null },
      );
      half.writeInt32BE(10_000_000, 0);
      const held = Array.from({ length: 300 }, () => open(plain));
      for (const { socket } of held) socket.write(half);
      await Promise.all(
        Array.from({ length: 300 }, async () => {
          const { socket, closed } = open(plain);
          socket.write(randomBytes(2000).fill(0x7b, 0, 1));
          await closed;
        }),
      );
      for (const { socket } of held) socket.destroy();
    });
    assert.ok(slowest < HELD_UP_MS, `an answer took ${slowest} ms`);
  });

  test(`${IDLE} idle connections cost little, and others do not notice`, async (t) => {
    const rssBefore = proxy.usage().rss;
    const sockets: Socket[] = [];
    const slowest = await whileServing(async () => {
      while (sockets.length < IDLE) {
        const batch = Array.from({ length: 100 }, () => open(plain).socket);
        await Promise.all(batch.map((socket) => once(socket, 'connect')));
        sockets.push(...batch);
      }
      await waitFor(
        'all connections',
        async () => (await proxy.metric('isthmus_proxy_connections_active')) > IDLE,
      );
    });
    const each = (proxy.usage().rss - rssBefore) / IDLE;
    t.diagnostic(
      `${Math.round(each)} bytes for each idle connection; the slowest answer took ${Math.round(slowest)} ms`,
    );
    for (const socket of sockets) socket.destroy();
    await waitFor('their end', async () => (await proxy.metric('isthmus_proxy_connections_active')) < 10);
    assert.ok(each < 40_000, `${each} bytes for each idle connection`);
    assert.ok(slowest < HELD_UP_MS, `an answer took ${slowest} ms`);
  });

  test('a client that asks for much and reads nothing stays within its bounds', async (t) => {
    const { topics } = await (async () => {
      const client = await askKafka(plain + 1);
      const response = await client.metadata(['big']);
      client.close();
      return response;
    })();
    const fetch = (correlationId: number) =>
      encodeRequest(
        { apiKey: apiOf('Fetch').key, apiVersion: 17, correlationId, clientId: 'greedy' },
        {
          maxWaitMs: 500,
          minBytes: 1,
          maxBytes: 60_000_000,
          topics: [
            {
              topicId: topics[0]!.topicId,
              partitions: [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 60_000_000 }],
            },
          ],
        },
      );
    const rssBefore = proxy.usage().rss;
    const pauses = () => proxy.metric('isthmus_proxy_paused_reads_total', { direction: 'to_client' });
    const pausesBefore = await pauses();
    const greedy = Array.from({ length: 20 }, () => open(plain + 1).socket.pause());
    await Promise.all(greedy.map((socket) => once(socket, 'connect')));
    const slowest = await whileServing(async () => {
      for (const socket of greedy) for (let id = 1; id <= 10; id++) socket.write(fetch(id));
      await waitFor('pauses', async () => (await pauses()) >= pausesBefore + greedy.length);
    });
    const grown = proxy.usage().rss - rssBefore;
    t.diagnostic(
      `${Math.round(grown / MEGABYTE)} MB more; the slowest answer took ${Math.round(slowest)} ms`,
    );
    for (const socket of greedy) socket.destroy();
    assert.ok(grown < 100 * MEGABYTE, `${grown / MEGABYTE} MB more for 20 clients that were sent 6 GB`);
    assert.ok(slowest < HELD_UP_MS, `an answer took ${slowest} ms`);
  });

  /** A request of a given length, of which all but the head is nothing. */
  function long(length: number): Buffer {
    const frame = Buffer.alloc(length);
    encodeRequest(
      { apiKey: apiOf('Metadata').key, apiVersion: 12, correlationId: 1, clientId: 'long' },
      { topics: null },
    ).copy(frame);
    frame.writeInt32BE(length - 4, 0);
    return frame;
  }

  /** The one is refused by its head, the other has to wait until the broker has accepted the session. */
  for (const megabytes of [100, 15])
    test(`clients that never logged in and send frames of ${megabytes} MiB take no memory`, async (t) => {
      const rssBefore = proxy.usage().rss;
      let most = 0;
      const watching = setInterval(() => (most = Math.max(most, proxy.usage().rss)), 20);
      const frame = long(megabytes * MEGABYTE);
      const slowest = await whileServing(async () => {
        const senders = Array.from({ length: 4 }, () => open(login));
        for (const { socket } of senders) socket.write(frame);
        await Promise.all(senders.map(({ closed }) => closed)); // the second by the broker, which wants a login first
      });
      clearInterval(watching);
      const grown = Math.max(0, most - rssBefore);
      t.diagnostic(
        `${Math.round(grown / MEGABYTE)} MB more at most; slowest answer ${Math.round(slowest)} ms`,
      );
      assert.ok(grown < 40 * MEGABYTE, `${grown / MEGABYTE} MB more for clients that never logged in`);
      assert.ok(slowest < HELD_UP_MS, `an answer took ${slowest} ms`);
    });

  test('a frame that a connection may not hold is refused by its head', async () => {
    const [before, logBefore] = [await cuts('memory'), proxy.log().length];
    const { socket, closed } = open(plain);
    socket.write(long(17 * MEGABYTE).subarray(0, 100_000));
    await closed;
    await proxy.logged(/has to be held, and a connection may hold 16777216/, logBefore);
    assert.equal(await cuts('memory'), before + 1);
  });

  test('what clients hold together stays within the budget, and others are served', async (t) => {
    const buffered = () => proxy.metric('isthmus_proxy_buffered_bytes');
    const waits = () => proxy.metric('isthmus_proxy_buffer_waits_total');
    const [rssBefore, waitsBefore, cutsBefore] = [proxy.usage().rss, await waits(), await cuts('memory')];
    const half = long(12 * MEGABYTE).subarray(0, 11 * MEGABYTE);
    const held = Array.from({ length: 20 }, () => open(plain));
    const slowest = await whileServing(async () => {
      for (const { socket } of held) socket.write(half);
      await waitFor('a wait', async () => (await waits()) > waitsBefore);
      assert.ok((await buffered()) <= 48 * MEGABYTE, `${await buffered()} bytes are held`);
      await waitFor('a refusal', async () => (await cuts('memory')) > cutsBefore);
    });
    const grown = proxy.usage().rss - rssBefore;
    t.diagnostic(`${Math.round(grown / MEGABYTE)} MB more; slowest answer ${Math.round(slowest)} ms`);
    for (const { socket } of held) socket.destroy();
    await waitFor('all to be given back', async () => (await buffered()) === 0);
    assert.ok(grown < 120 * MEGABYTE, `${grown / MEGABYTE} MB more`);
    assert.ok(slowest < HELD_UP_MS, `an answer took ${slowest} ms`);
  });

  test('after all that, everyday traffic is served', async () => {
    const records = [{ key: 'a', value: 'b' }];
    await produce('kafkajs', { bootstrap: `127.0.0.1:${plain}`, topic: 'big', records });
    await waitFor('readiness', () => proxy.ready());
  });
});
