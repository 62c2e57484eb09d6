/** A session of the proxy between two pairs of streams, for tests of what becomes of frames. */
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { pino } from 'pino';
import { apiOf } from '../../src/kafka/apis.ts';
import type { ApiName } from '../../src/kafka/apis.ts';
import type { Draft } from '../../src/kafka/codec.ts';
import { encodeRequest, encodeResponse } from '../../src/kafka/frame.ts';
import type { Requests } from '../../src/kafka/schemas/types.ts';
import { BoundedMap } from '../../src/ops/bounded-map.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import type { Cluster } from '../../src/proxy/cluster/cluster.ts';
import { createStats } from '../../src/proxy/cluster/stats.ts';
import { Tap } from '../../src/proxy/cluster/tap.ts';
import { createTopology } from '../../src/proxy/cluster/topology.ts';
import type { ConnectionContext, ConnectionFilter } from '../../src/proxy/filter.ts';
import { ProcessBudget } from '../../src/proxy/net/byte-budget.ts';
import { Connection } from '../../src/proxy/net/connection.ts';
import type { ConnectionInfo } from '../../src/proxy/session/connection-info.ts';
import { Session } from '../../src/proxy/session/session.ts';

/**
 * A session between two pairs of streams in place of sockets: what a test writes and reads are the far ends. Unless it
 * is of a stranger, the broker has accepted it already.
 */
export function open(connect?: (context: ConnectionContext) => ConnectionFilter, stranger = false) {
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
    tap: new Tap(),
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

export function pair(): [Connection, Duplex] {
  const [near, far] = duplexPair();
  const connection = new Connection();
  connection.attach(Object.assign(near, { setKeepAlive() {} }) as unknown as Socket);
  far.on('error', () => {});
  return [connection, far];
}

export function request<Name extends ApiName>(
  api: Name,
  apiVersion: number,
  body: Draft<Requests[Name]>,
): Buffer {
  const header = { apiKey: apiOf(api).key, apiVersion, correlationId: 7, clientId: 'test' };
  return encodeRequest(header, body);
}

export const unanswered = request('Produce', 9, { acks: 0, timeoutMs: 1, topicData: [] });

/** Answers everything, as a broker that wants no login, but for what wants no answer. */
export function serve(broker: Duplex): void {
  broker.on('data', (bytes: Buffer) => {
    for (let at = 0; at + 12 <= bytes.length; at += bytes.readInt32BE(at) + 4) {
      const [apiKey, apiVersion] = [bytes.readInt16BE(at + 4), bytes.readInt16BE(at + 6)];
      if (apiKey === apiOf('Produce').key) continue;
      broker.write(encodeResponse(apiKey, apiVersion, { correlationId: bytes.readInt32BE(at + 8) }, {}));
    }
  });
}

export async function readAll(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => void stream.once('close', resolve).once('end', resolve));
  return Buffer.concat(chunks);
}
