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
import { Connection } from '../net/connection.ts';
import type { ConnectionInfo } from './connection-info.ts';
import { Session } from './session.ts';

/** A session between two pairs of streams in place of sockets: what a test writes and reads are the far ends. */
function open(connect?: (context: ConnectionContext) => ConnectionFilter) {
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
    maxFrameBytes: 1_000_000,
    connectTimeoutMs: 0,
    handshakeTimeoutMs: 0,
    idleTimeoutMs: 0,
    unauthenticatedIdleTimeoutMs: 0,
  };
  const session = new Session(info, { limits, unknownApis: 'pass' }, client, () => {});
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

test('a client that says nothing at all is not waited for for ever, even where no limit is set', () => {
  const { session, cuts } = open();
  session.sweep(performance.now());
  session.sweep(performance.now() + 500_000);
  assert.deepEqual(cuts, []);
  session.sweep(performance.now() + 601_000);
  assert.deepEqual(cuts, ['idle']);
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
