import { subscribe } from 'node:diagnostics_channel';
import type { Readable } from 'node:stream';
import { Pool, buildConnector } from 'undici';
import type { Dispatcher } from 'undici';
import { readPem } from './connection.ts';
import type { Connection } from './connection.ts';
import type { Certificate, Identity } from './credentials.ts';

/**
 * Connections to one API server, in two lanes: watches stay open for minutes, and must not use up the streams that
 * requests need, nor share the fate of a connection that a request found dead.
 */
export interface Transport {
  send(lane: LaneName, identity: Identity, request: HttpRequest): Promise<HttpAnswer>;
  /** Lets what is under way finish, up to `graceMs`; watches are ended at once. */
  close(graceMs?: number): Promise<void>;
}

export type LaneName = 'requests' | 'watches';

export interface HttpRequest {
  method: Dispatcher.HttpMethod;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  header(name: string): string | undefined;
  body: Readable;
  /** Says that the connection seems dead: whoever comes next gets a new one, those on it may finish. */
  suspect: () => void;
}

/** A connection that failed before an answer came, and the means to have it replaced. */
export class SendError extends Error {
  readonly suspect: () => void;

  constructor(cause: unknown, suspect: () => void) {
    super('the request was not answered', { cause });
    this.suspect = suspect;
  }
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Keeps idle connections open in firewalls; that a peer is gone is noticed by deadlines, since undici ignores missing answers. */
const PING_INTERVAL_MS = 30_000;
const IDLE_MS = 60_000;
/** Only for servers without HTTP/2, which need a connection for each request under way. */
const MAX_REQUEST_CONNECTIONS = 16;

export function createTransport(connection: Connection): Transport {
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/+$/, '');
  const lanes = {
    requests: createLane((certificate) => openPool(connection, origin, certificate, MAX_REQUEST_CONNECTIONS)),
    watches: createLane((certificate) => openPool(connection, origin, certificate, null)),
  };

  return {
    async send(laneName, identity, { method, path, headers, body, signal }) {
      const lane = lanes[laneName];
      let suspect = () => {};
      try {
        const pool = lane.poolFor(identity.certificate);
        suspect = () => lane.replace(pool);
        const answer = await pool.request({
          method,
          path: prefix + path,
          headers: { ...headers, ...identity.headers },
          body: body ?? null,
          signal,
        });
        // Whoever reads the body is told of its failure; a body that nobody has begun to read must not end the process.
        answer.body.on('error', () => {});
        const header = (name: string) => [answer.headers[name]].flat()[0];
        return { status: answer.statusCode, header, body: answer.body, suspect };
      } catch (cause) {
        throw new SendError(cause, suspect);
      }
    },
    async close(graceMs = 5000) {
      await Promise.all([lanes.requests.close(graceMs), lanes.watches.close(0)]);
    },
  };
}

interface Lane {
  poolFor(certificate: Certificate | undefined): Pool;
  replace(pool: Pool): void;
  close(graceMs: number): Promise<void>;
}

// Undici takes its listeners off an HTTP/2 stream that is aborted. If the session ends before the stream has closed, the stream's
// error would be heard by nobody, and that ends the process. Whoever waits for the stream has been told by then.
subscribe('http2.client.stream.created', (message) => {
  (message as { stream: Readable }).stream.on('error', () => {});
});

/** Holds the pool in use. A replaced pool ends when the last request on it has ended. */
function createLane(open: (certificate: Certificate | undefined) => Pool): Lane {
  const retired = new Set<Pool>();
  let current: { pool: Pool; certificate: Certificate | undefined } | undefined;
  let closed = false;

  function retire(pool: Pool): void {
    current = undefined;
    retired.add(pool);
    pool.close().then(
      () => retired.delete(pool),
      () => retired.delete(pool),
    );
  }

  return {
    poolFor(certificate) {
      if (closed) throw new Error('this client has been closed');
      if (current && current.certificate !== certificate) retire(current.pool);
      current ??= { pool: open(certificate), certificate };
      return current.pool;
    },
    replace(pool) {
      if (current?.pool === pool) retire(pool);
    },
    async close(graceMs) {
      closed = true;
      const pools = [...retired, ...(current ? [current.pool] : [])];
      const timer = setTimeout(() => {
        for (const pool of pools) void pool.destroy();
      }, graceMs);
      await Promise.allSettled(pools.map((pool) => pool.close()));
      clearTimeout(timer);
    },
  };
}

function openPool(
  connection: Connection,
  origin: string,
  certificate: Certificate | undefined,
  connections: number | null,
): Pool {
  return new Pool(origin, {
    connect: createConnector(connection, certificate),
    connections,
    keepAliveTimeout: IDLE_MS,
    // Deadlines are the caller's, who knows whether silence is a fault.
    headersTimeout: 0,
    bodyTimeout: 0,
    h2Options: { pingInterval: PING_INTERVAL_MS },
  });
}

/** Connects with the certificates of the moment: the authority's file may be replaced while we run. */
function createConnector(
  { tls, name, user }: Connection,
  certificate: Certificate | undefined,
): buildConnector.connector {
  // Over HTTP/2 undici makes one header of several of one name: of two groups, a group that nobody is in.
  const allowH2 = !Object.values(user.impersonate ?? {}).some(
    (value) => Array.isArray(value) && value.length > 1,
  );
  let made: { ca: string | undefined; connect: buildConnector.connector } | undefined;
  return (options, callback) => {
    try {
      const ca = tls.ca && readPem(tls.ca, name);
      // One connector for as long as nothing changes: it remembers TLS sessions, which belong to one identity.
      if (!made || made.ca !== ca) {
        const connect = buildConnector({
          timeout: CONNECT_TIMEOUT_MS,
          allowH2,
          preferH2: allowH2,
          rejectUnauthorized: !tls.insecure,
          ...(ca === undefined ? {} : { ca }),
          ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
          ...certificate,
        });
        made = { ca, connect };
      }
      made.connect(options, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
}
