import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { IsthmusError } from './errors.ts';
import type { Health, Report } from './health.ts';
import { accessOf, readTokens } from './management-access.ts';
import type { Access, TokenFiles } from './management-access.ts';
import { eitherServer } from './management-tls.ts';
import type { KeyFiles } from './management-tls.ts';

export interface ManagementOptions extends TokenFiles {
  host: string;
  port: number;
  /** Whoever speaks TLS is answered by it; plain HTTP is served all the same, for probes. */
  tls?: KeyFiles | undefined;
  health: Health;
  /** The text of /metrics. */
  metrics: () => Promise<string>;
  /** The document of /config: which configuration is loaded, with no secret in it. */
  config?: () => unknown;
  /** The events of /tap: what is sent until the result is called. */
  tap?: (send: (data: string) => void) => () => void;
}

export interface ManagementServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves /livez and /readyz over HTTP, in a word; more of them, /metrics and /config for those who may see it (`management-access`). */
export async function serveManagement(options: ManagementOptions): Promise<ManagementServer> {
  const taps = new Set<ServerResponse>();
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { authorization } = request.headers;
    const access = accessOf(authorization, request.socket.remoteAddress, readTokens(options));
    if (request.url === '/tap' && request.method === 'GET' && access === 'all' && options.tap)
      return streamTap(response, options.tap, taps);
    answer(options, access, request.method ?? '', request.url ?? '').then(
      ({ status, type, body }) =>
        response
          .writeHead(status, {
            'content-type': type,
            ...(status === 401 && { 'www-authenticate': 'Bearer' }),
          })
          .end(body),
      () => response.writeHead(500, { 'content-type': 'text/plain' }).end('internal error\n'),
    );
  };
  const { server, closeConnections } = eitherServer(onRequest, options.tls);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new IsthmusError('LISTEN_FAILED', `management: ${cause.message}`, { cause })),
    );
    // Without a host Node takes all addresses of both families, and of IPv4 alone where a machine has no other.
    const host = options.host === '::' ? undefined : options.host;
    server.listen(options.port, host, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        closeConnections();
      }),
  };
}

/** So many look on at once, and none who does not read what was sent. */
const MOST_TAPS = 4;
const MOST_BACKLOG = 1_048_576;

function streamTap(
  response: ServerResponse,
  tap: NonNullable<ManagementOptions['tap']>,
  taps: Set<ServerResponse>,
): void {
  if (taps.size >= MOST_TAPS) {
    response.writeHead(429, { 'content-type': 'text/plain' }).end(`${MOST_TAPS} look on already\n`);
    return;
  }
  taps.add(response);
  response
    .writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    .flushHeaders();
  const stop = tap((data) => {
    if (response.writableLength > MOST_BACKLOG) response.destroy();
    else response.write(`data: ${data}\n\n`);
  });
  response.once('close', () => {
    taps.delete(response);
    stop();
  });
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

const UNAUTHORIZED: Answer = {
  status: 401,
  type: 'text/plain',
  body: 'a bearer token is needed here; without one only /livez and /readyz are served\n',
};

async function answer(
  options: ManagementOptions,
  access: Access,
  method: string,
  url: string,
): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, type: 'text/plain', body: 'GET only\n' };
  const { health, metrics, config } = options;
  const path = url.split('?')[0];
  if (path === '/livez') return reportAnswer(health.report('live'), access);
  if (path === '/readyz') return reportAnswer(health.report('ready'), access);
  if (access === 'health') return UNAUTHORIZED;
  if (path === '/metrics') return { status: 200, type: 'text/plain; version=0.0.4', body: await metrics() };
  if (access === 'metrics') return UNAUTHORIZED;
  if (path === '/config' && config)
    return { status: 200, type: 'application/json', body: `${JSON.stringify(config(), null, 2)}\n` };
  return { status: 404, type: 'text/plain', body: 'not found: /livez, /readyz, /metrics\n' };
}

/** Which part is not well, and why, may name tenants. */
function reportAnswer({ ok, checks }: Report, access: Access): Answer {
  const details = checks.map(
    ({ name, problem }) => `${problem ? '-' : '+'} ${name}${problem ? `: ${problem}` : ''}`,
  );
  const lines = [...(access === 'all' ? details : []), ok ? 'ok' : 'failed'];
  return { status: ok ? 200 : 503, type: 'text/plain', body: `${lines.join('\n')}\n` };
}
