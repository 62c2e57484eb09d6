import { once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, PeerCertificate, TLSSocket } from 'node:tls';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import { apiOf } from './apis.ts';
import type { ApiName } from './apis.ts';
import { responseCodec } from './codec.ts';
import type { Draft } from './codec.ts';
import { ERRORS, errorOf } from './errors.ts';
import { decodeResponseHeader, encodeRequest } from './frame.ts';
import type { Requests, Responses } from './schemas/types.ts';
import { startScram } from './scram.ts';
import type { ScramMechanism } from './scram.ts';

/** A connection to one broker, for our own questions: probes, checks before a restart. Not for traffic. */

export interface Credentials {
  mechanism: 'PLAIN' | ScramMechanism;
  username: string;
  password: string;
}

export interface ClientOptions {
  host: string;
  port: number;
  /** Present for TLS: trust, client certificate, server name. */
  tls?: ConnectionOptions;
  /** Says what is wrong with the server's certificate, whoever has signed it; for `tls` that takes any authority. */
  checkPeer?: (certificate: PeerCertificate) => Error | undefined;
  sasl?: Credentials;
  clientId?: string;
  /** For the connection with TLS, versions and SASL all together. */
  connectTimeoutMs?: number;
  requestTimeoutMs?: number;
  /** Resolves the host in another way than usual. */
  lookup?: LookupFunction;
  /** The longest response that is read. */
  maxResponseBytes?: number;
  /** The newest version to use of an API, where that is not the newest that both sides know. */
  newestVersions?: { readonly [Name in ApiName]?: number };
  /** Hears how far the connection has come. */
  onStage?: (stage: ConnectStage) => void;
}

/** What is behind a connection, in this order: the second only with TLS, the last only with SASL. */
export type ConnectStage = 'connect' | 'tls' | 'versions' | 'login';

export interface KafkaClient {
  /** The version in which a request of this API would be sent; undefined if the broker does not have the API. */
  versionOf(api: ApiName): number | undefined;
  /**
   * Sends a request in the newest version that both sides know and returns the response, whatever error codes are in it.
   * Rejects with KAFKA_UNREACHABLE or KAFKA_REFUSED. Not for Produce with acks 0, which has no response.
   */
  request<Name extends ApiName>(api: Name, body: Draft<Requests[Name]>): Promise<Responses[Name]>;
  /** Brokers and topics: all of them, or those named, or none with an empty list. */
  metadata(topics?: readonly string[]): Promise<Responses['Metadata']>;
  describeCluster(): Promise<Responses['DescribeCluster']>;
  /** False once the connection was lost or closed. */
  isOpen(): boolean;
  close(): void;
}

interface Waiting {
  api: ApiName;
  version: number;
  resolve: (response: never) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

interface Wire {
  send<Name extends ApiName>(
    api: Name,
    version: number,
    body: Draft<Requests[Name]>,
  ): Promise<Responses[Name]>;
  isOpen(): boolean;
  close(reason: Error): void;
}

const DEFAULTS = {
  clientId: 'isthmus',
  connectTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  maxResponseBytes: 64 * 1024 * 1024,
  onStage: (): void => {},
};

type Settled = ClientOptions & Required<Pick<ClientOptions, keyof typeof DEFAULTS>>;

const refused = (what: string, cause?: unknown) => new IsthmusError('KAFKA_REFUSED', what, { cause });

/** Connects, agrees on versions and authenticates. Rejects with KAFKA_UNREACHABLE or KAFKA_REFUSED. */
export async function connectKafka(options: ClientOptions): Promise<KafkaClient> {
  const settled: Settled = { ...DEFAULTS, ...options };
  const where = `${options.host}:${options.port}`;
  const socket = openSocket(settled);
  const late = setTimeout(
    () => socket.destroy(new Error(`no connection within ${settled.connectTimeoutMs} ms`)),
    settled.connectTimeoutMs,
  );
  try {
    socket.once('connect', () => settled.onStage('connect'));
    await once(socket, settled.tls ? 'secureConnect' : 'connect');
    const wrong = settled.checkPeer?.((socket as TLSSocket).getPeerCertificate());
    if (wrong) throw wrong;
    if (settled.tls) settled.onStage('tls');
    const wire = openWire(socket, settled, where);
    const versions = await agreeOnVersions(wire, settled.newestVersions);
    settled.onStage('versions');
    if (settled.sasl) await authenticate(wire, versions, settled.sasl);
    if (settled.sasl) settled.onStage('login');
    return clientOf(wire, versions, where);
  } catch (error) {
    socket.destroy();
    if (error instanceof IsthmusError) throw error;
    throw new IsthmusError('KAFKA_UNREACHABLE', `${where}: ${messageOf(error)}`, { cause: error });
  } finally {
    clearTimeout(late);
  }
}

function openSocket({ host, port, tls, lookup }: Settled): Socket {
  const where = { host, port, ...(lookup && { lookup }) };
  if (!tls) return connectTcp({ ...where, noDelay: true });
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ ...where, ...servername, ...tls });
}

function openWire(socket: Socket, options: Settled, where: string): Wire {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  const close = (reason: Error) => {
    socket.destroy();
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(reason);
    }
    waiting.clear();
  };
  const lost = (what: string, cause?: unknown) =>
    close(new IsthmusError('KAFKA_UNREACHABLE', `${where}: ${what}`, { cause }));
  socket.on('error', (error) => lost(error.message, error));
  socket.on('close', () => lost('the connection was closed'));
  readFrames(socket, options.maxResponseBytes, lost, (frame) => {
    const found = waiting.get(frame.readInt32BE(0));
    if (!found) return lost('a response to no request');
    waiting.delete(frame.readInt32BE(0));
    settle(found, frame, where);
  });
  return {
    close,
    isOpen: () => !socket.destroyed,
    send: (api, version, body) =>
      new Promise((resolve, reject) => {
        const correlationId = ++lastId;
        const { key: apiKey } = apiOf(api);
        const header = { apiKey, apiVersion: version, correlationId, clientId: options.clientId };
        const frame = encodeRequest(header, body);
        const late = () => lost(`no answer to ${api} within ${options.requestTimeoutMs} ms`);
        const timer = setTimeout(late, options.requestTimeoutMs);
        waiting.set(correlationId, { api, version, resolve, reject, timer });
        if (socket.destroyed) lost('the connection was closed');
        else socket.write(frame);
      }),
  };
}

function settle(waiting: Waiting, frame: Buffer, where: string): void {
  clearTimeout(waiting.timer);
  try {
    waiting.resolve(decodeResponse(waiting, frame) as never);
  } catch (error) {
    waiting.reject(refused(`${where}: ${messageOf(error)}`, error));
  }
}

/** Cuts the stream into frames, each without its length. */
function readFrames(
  socket: Socket,
  longest: number,
  lost: (what: string) => void,
  onFrame: (frame: Buffer) => void,
): void {
  let chunks: Buffer[] = [];
  let held = 0;
  let wanted = 4;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held < wanted) return;
    let bytes = Buffer.concat(chunks, held);
    while (bytes.length >= 4) {
      const length = bytes.readInt32BE(0);
      if (length < 4 || length > longest)
        return lost(`a response of ${length} bytes; is this a Kafka listener?`);
      wanted = 4 + length;
      if (bytes.length < wanted) break;
      onFrame(bytes.subarray(4, wanted));
      bytes = bytes.subarray(wanted);
      wanted = 4;
    }
    chunks = [bytes];
    held = bytes.length;
  });
}

function decodeResponse({ api, version }: Waiting, frame: Buffer): Responses[ApiName] {
  const { key } = apiOf(api);
  const { end } = decodeResponseHeader(key, version, frame);
  // A broker that does not know our version of ApiVersions says so in version 0.
  const unknown = api === 'ApiVersions' && frame.readInt16BE(end) === ERRORS.UNSUPPORTED_VERSION.code;
  return responseCodec(key, unknown ? 0 : version).decode(frame, end);
}

type Versions = ReadonlyMap<ApiName, number>;

async function agreeOnVersions(
  wire: Wire,
  newestVersions: ClientOptions['newestVersions'] = {},
): Promise<Versions> {
  const body = { clientSoftwareName: 'isthmus', clientSoftwareVersion: '1' };
  let response = await wire.send('ApiVersions', apiOf('ApiVersions').max, body);
  if (response.errorCode === ERRORS.UNSUPPORTED_VERSION.code) {
    response = await wire.send('ApiVersions', 0, body);
  }
  if (response.errorCode !== 0) throw refused(`ApiVersions: ${errorOf(response.errorCode).name}`);
  const versions = new Map<ApiName, number>();
  for (const { apiKey, minVersion, maxVersion } of response.apiKeys) {
    const api = apiOf(apiKey);
    if (!api) continue;
    const wanted = newestVersions[api.name] ?? Infinity;
    const newest = Math.min(maxVersion, wanted, api.unstable ? api.max - 1 : api.max);
    if (newest >= Math.max(minVersion, api.min)) versions.set(api.name, newest);
  }
  return versions;
}

async function authenticate(
  wire: Wire,
  versions: Versions,
  { mechanism, ...user }: Credentials,
): Promise<void> {
  const version = versions.get('SaslAuthenticate') ?? 0;
  const handshake = await wire.send('SaslHandshake', 1, { mechanism });
  if (handshake.errorCode !== 0) {
    const offered = `it offers ${handshake.mechanisms.join(', ')}`;
    throw refused(`${mechanism}: ${errorOf(handshake.errorCode).name}; ${offered}`);
  }
  const exchange = async (text: string) => {
    const answer = await wire.send('SaslAuthenticate', version, { authBytes: Buffer.from(text) });
    if (answer.errorCode === 0) return answer.authBytes.toString();
    throw refused(`${mechanism}: ${answer.errorMessage ?? errorOf(answer.errorCode).name}`);
  };
  if (mechanism === 'PLAIN') {
    await exchange(`\0${user.username}\0${user.password}`);
    return;
  }
  const scram = startScram(mechanism, user);
  const final = await scram.final(await exchange(scram.first));
  if (!scram.verify(await exchange(final)))
    throw refused(`${mechanism}: it does not know the password itself`);
}

function clientOf(wire: Wire, versions: Versions, where: string): KafkaClient {
  const request: KafkaClient['request'] = (api, body) => {
    const version = versions.get(api);
    if (version === undefined) return Promise.reject(refused(`${where}: it does not have ${api}`));
    return wire.send(api, version, body);
  };
  return {
    request,
    versionOf: (api) => versions.get(api),
    metadata: (topics) => {
      const named = topics?.map((name) => ({ name })) ?? null;
      return request('Metadata', { topics: named, allowAutoTopicCreation: false });
    },
    describeCluster: () => request('DescribeCluster', {}),
    isOpen: () => wire.isOpen(),
    close: () => wire.close(new IsthmusError('KAFKA_UNREACHABLE', `${where}: the client was closed`)),
  };
}
