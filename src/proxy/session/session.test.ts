import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Socket } from 'node:net';
import { pino } from 'pino';
import { apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import type { Draft } from '../../kafka/codec.ts';
import { encodeRequest, encodeResponse } from '../../kafka/frame.ts';
import type { Requests } from '../../kafka/schemas/types.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import { createMetrics } from '../../ops/metrics.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { createStats } from '../cluster/stats.ts';
import { createTopology } from '../cluster/topology.ts';
import type { ConnectionContext, ConnectionFilter } from '../filter.ts';
import { ProcessBudget } from '../net/byte-budget.ts';
import { Connection } from '../net/connection.ts';
import type { ConnectionInfo } from './connection-info.ts';
import { Session } from './session.ts';

/**
 * A session between two pairs of streams in place of sockets: what a test writes and reads are the far ends. Unless it
 * is of a stranger, the broker has accepted it already.
 */
function open(connect?: (context: ConnectionContext) => ConnectionFilter, stranger = false) {
  const [client, clientFar] = pair();
  const [upstream, brokerFar] = pair();
  const cuts: string[] = [];
  const topology = createTopology();
  const cluster: Cluster = {
    config: {
      name: 'c',
      target: { bootstrapServers: [], selection: 'round-robin', tls: undefined },
      gateways: [],
      filters: [],
      drainTimeoutMs: 10_000,
    },
    log: pino({ level: 'silent' }),
    stats: createStats(createMetrics()).cluster('c'),
    topology,
    topicNames: new BoundedMap(10),
    upstream: {
      open: async () => ({ connection: upstream, address: { host: 'b', port: 1 }, guessed: false }),
    },
    filters: connect ? [{ connect }] : [],
    memory: { process: new ProcessBudget(), used: { value: 0 }, waits: { value: 0 } },
    sessions: new Set(),
    reportCut: (reason) => void cuts.push(reason),
    reportUnadvertised() {},
  };
  const info: ConnectionInfo = {
    cluster,
    gateway: 'g',
    addressing: { bootstrap: { host: 'h', port: 1 }, advertise: () => undefined },
    node: undefined,
    clientAddress: '192.0.2.1',
    principal: undefined,
  };
  const limits = {
    maxConnections: 0,
    maxConnectionsPerAddress: 0,
    maxConnectionsPerVirtualCluster: 0,
    maxBufferedBytes: 1e9,
    maxBufferedBytesPerVirtualCluster: 1e9,
    maxBufferedBytesPerConnection: 1e9,
    maxFrameBytes: 1_000_000,
    connectTimeoutMs: 0,
    handshakeTimeoutMs: 0,
    idleTimeoutMs: 0,
    unauthenticatedIdleTimeoutMs: 60_000,
  };
  const session = new Session(info, { limits, unknownApis: 'pass' }, client);
  session.accepted = !stranger;
  session.start(Buffer.alloc(0));
  return { session, cluster, cuts, client: clientFar, broker: brokerFar };
}

function pair(): [Connection, Duplex] {
  const [near, far] = duplexPair();
  const connection = new Connection();
  connection.attach(Object.assign(near, { setKeepAlive() {} }) as unknown as Socket);
  far.on('error', () => {});
  return [connection, far];
}

function request<Name extends ApiName>(api: Name, apiVersion: number, body: Draft<Requests[Name]>): Buffer {
  const header = { apiKey: apiOf(api).key, apiVersion, correlationId: 7, clientId: 'test' };
  return encodeRequest(header, body);
}

const unanswered = request('Produce', 9, { acks: 0, timeoutMs: 1, topicData: [] });

/** Answers everything, as a broker that wants no login, but for what wants no answer. */
function serve(broker: Duplex): void {
  broker.on('data', (bytes: Buffer) => {
    for (let at = 0; at + 12 <= bytes.length; at += bytes.readInt32BE(at) + 4) {
      const [apiKey, apiVersion] = [bytes.readInt16BE(at + 4), bytes.readInt16BE(at + 6)];
      if (apiKey === apiOf('Produce').key) continue;
      broker.write(encodeResponse(apiKey, apiVersion, { correlationId: bytes.readInt32BE(at + 8) }, {}));
    }
  });
}

async function readAll(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => void stream.once('close', resolve).once('end', resolve));
  return Buffer.concat(chunks);
}

test('what a client sends last, wanting no answer, reaches the broker although the client is gone', async () => {
  const { session, client, broker } = open();
  client.write(unanswered);
  while (session.upstream === undefined) await turn();
  client.end(unanswered);
  assert.deepEqual(await readAll(broker), Buffer.concat([unanswered, unanswered]));
});

test('a session that ends within a read goes on reading, so that its end arrives', async () => {
  const { session, client, broker } = open();
  broker.resume();
  client.write(unanswered);
  while (session.upstream === undefined) await turn();
  client.write(unanswered.subarray(0, 20));
  while (client.writableLength > 0) await turn();
  session.drain('a test');
  // Ends the request and begins another one that the session does not take any more.
  client.write(Buffer.concat([unanswered.subarray(20), unanswered]));
  client.resume();
  const ended = Promise.withResolvers<void>();
  client.once('end', ended.resolve);
  await ended.promise;
  client.end(unanswered);
  const closed = Promise.withResolvers<void>();
  client.once('close', closed.resolve);
  await closed.promise;
});

test('a filter that asks a broker which goes away is told so', async () => {
  const { promise: refused, resolve } = Promise.withResolvers<unknown>();
  const { client, broker } = open((context) => ({
    onRequest: {
      async Metadata() {
        await context.ask('Metadata', 1, { topics: [] }).catch(resolve);
        return undefined;
      },
    },
  }));
  client.resume();
  client.write(request('Metadata', 1, { topics: [] }));
  broker.once('data', () => broker.destroy());
  assert.match(String(await refused), /disconnected before it answered/);
});

test('a filter that throws when a connection closes does no harm to others', async () => {
  const { session, cluster, client } = open(() => ({
    onClose() {
      throw new Error('a fault of the filter');
    },
  }));
  client.destroy();
  while (!session.client.closed) await turn();
  assert.equal(cluster.sessions.size, 0);
  assert.equal(cluster.stats.active.value, 0);
});

test('responses that had come before the broker was lost are handled, however slow the filter', async () => {
  const { promise: slow, resolve } = Promise.withResolvers<undefined>();
  const { session, client, broker } = open(() => ({ onResponse: { Heartbeat: () => slow } }));
  const heartbeat = request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' });
  client.write(Buffer.concat([heartbeat, heartbeat]));
  const answer = encodeResponse(apiOf('Heartbeat').key, 4, { correlationId: 7 }, {});
  const seen = readAll(client);
  await new Promise((resolve) => broker.once('data', resolve));
  broker.write(Buffer.concat([answer, answer]));
  while (broker.writableLength > 0) await turn();
  session.upstream!.destroy();
  await turn();
  resolve(undefined);
  assert.deepEqual(await seen, Buffer.concat([answer, answer]));
});

test('a client that has closed its side does not wait for ever for a broker that hangs', async () => {
  const { session, cuts, client, broker } = open();
  broker.resume();
  client.write(request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' }));
  while (session.upstream === undefined) await turn();
  client.end();
  while (!session.ending) await turn();
  session.sweep(performance.now() + 30_000);
  assert.deepEqual(cuts, []);
  session.sweep(performance.now() + 61_000);
  assert.deepEqual(cuts, ['drain_timeout']);
});

test('before the broker has accepted the session, only its answers count as activity', async () => {
  const { session, cuts, client, broker } = open(undefined, true);
  let now = performance.now();
  const sweep = (ms: number) => session.sweep((now += ms));
  sweep(0);
  client.write(request('SaslAuthenticate', 2, { authBytes: Buffer.alloc(1000) }).subarray(0, 500));
  while (broker.readableLength === 0) await turn();
  sweep(50_000);
  client.write(Buffer.alloc(100));
  while (broker.readableLength < 600) await turn();
  assert.deepEqual(cuts, []);
  sweep(20_000);
  assert.deepEqual(cuts, ['idle']);
});

test('a session that the broker has accepted has no limit of a stranger any more', async () => {
  const { session, cuts, client, broker } = open(undefined, true);
  serve(broker);
  client.write(request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' }));
  while (!session.accepted) await turn();
  session.sweep(performance.now());
  session.sweep(performance.now() + 1e9);
  assert.deepEqual(cuts, []);
});

for (const [what, bytes] of [
  ['wants no answer', unanswered],
  [
    'is large',
    request('Metadata', 1, {
      topics: [{ name: 'x'.repeat(30_000) }, { name: 'y'.repeat(30_000) }, { name: 'z'.repeat(9000) }],
    }),
  ],
  [
    'is a large Produce request',
    request('Produce', 9, {
      acks: 1,
      timeoutMs: 1,
      topicData: [{ name: 'x', partitionData: [{ index: 0, records: Buffer.alloc(200_000) }] }],
    }),
  ],
] as const) {
  test(`a first request that ${what} waits until the broker has answered the proxy`, async () => {
    const { session, client, broker } = open(undefined, true);
    client.resume();
    client.write(bytes);
    while (broker.readableLength === 0) await turn();
    const asked = broker.read() as Buffer;
    assert.equal(asked.readInt16BE(4), apiOf('Metadata').key);
    assert.ok(asked.length < 100, 'nothing of the client has gone to the broker');
    assert.equal(session.account.held, 0);
    broker.write(encodeResponse(apiOf('Metadata').key, 1, { correlationId: asked.readInt32BE(8) }, {}));
    const chunks: Buffer[] = [];
    broker.on('data', (chunk: Buffer) => chunks.push(chunk));
    while (Buffer.concat(chunks).length < bytes.length) await turn();
    assert.deepEqual(Buffer.concat(chunks), bytes);
    assert.ok(session.accepted);
  });
}

test('no filter sees a request of a client that the broker has not accepted', async () => {
  const seen: string[] = [];
  const { session, client, broker } = open(
    () => ({
      onRequest: {
        Produce() {
          seen.push('Produce');
          return undefined;
        },
      },
    }),
    true,
  );
  client.resume();
  client.write(request('Produce', 9, { acks: 1, timeoutMs: 1, topicData: [] }));
  while (broker.readableLength === 0) await turn();
  assert.deepEqual(seen, []);
  broker.destroy(); // as it does where a login comes first
  while (!session.upstream!.closed) await turn();
  client.end();
  while (!session.client.closed) await turn();
  assert.deepEqual(seen, []);
});

test('a login has short requests', async () => {
  for (const [apiKey, length, cut] of [
    [apiOf('SaslAuthenticate').key, 524_288, false],
    [apiOf('SaslAuthenticate').key, 524_289, true],
    [apiOf('ApiVersions').key, 65_537, true],
  ] as const) {
    const { session, cuts, client } = open(undefined, true);
    const head = Buffer.alloc(20);
    head.writeInt32BE(length, 0);
    head.writeInt16BE(apiKey, 4);
    client.write(head);
    while (session.upstream === undefined && cuts.length === 0) await turn();
    await turn();
    assert.deepEqual(cuts, cut ? ['bad_traffic'] : [], `${apiKey} ${length}`);
    session.destroy();
  }
});

test('what a filter works on is left alone when the broker is lost meanwhile', async (t) => {
  const { promise: slow, resolve } = Promise.withResolvers<undefined>();
  const begun = Promise.withResolvers<void>();
  const { session, client } = open(() => ({
    onRequest: {
      Heartbeat() {
        begun.resolve();
        return slow;
      },
    },
  }));
  client.resume();
  client.write(request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' }));
  await begun.promise;
  const reads = t.mock.method(session.client, 'resume');
  session.upstream!.destroy();
  while (!session.upstream!.closed) await turn();
  assert.equal(reads.mock.callCount(), 0);
  resolve(undefined);
  while (reads.mock.callCount() === 0) await turn();
  client.end();
  while (!session.client.closed) await turn();
});
