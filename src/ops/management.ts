import type { AddressInfo } from 'node:net';
import { IsthmusError } from './errors.ts';
import type { Health, Report } from './health.ts';

export interface ManagementOptions {
  host: string;
  port: number;
  health: Health;
  /** The text of /metrics. */
  metrics: () => Promise<string>;
  /** The document of /config: which configuration is loaded, with no secret in it. */
  config?: () => unknown;
}

export interface ManagementServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves /livez, /readyz, /metrics and /config over HTTP. */
export async function serveManagement(options: ManagementOptions): Promise<ManagementServer> {
  // Not imported: that loads all that node:http offers, a whole HTTP client among it, into every process.
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer((request, response) => {
    answer(options, request.method ?? '', request.url ?? '').then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      () => response.writeHead(500, { 'content-type': 'text/plain' }).end('internal error\n'),
    );
  });
  server.requestTimeout = 10_000;
  server.headersTimeout = 10_000;
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
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

async function answer(options: ManagementOptions, method: string, url: string): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, type: 'text/plain', body: 'GET only\n' };
  const path = url.split('?')[0];
  if (path === '/livez') return reportAnswer(options.health.report('live'));
  if (path === '/readyz') return reportAnswer(options.health.report('ready'));
  if (path === '/metrics')
    return { status: 200, type: 'text/plain; version=0.0.4', body: await options.metrics() };
  if (path === '/config' && options.config) {
    return { status: 200, type: 'application/json', body: `${JSON.stringify(options.config(), null, 2)}\n` };
  }
  return { status: 404, type: 'text/plain', body: 'not found: /livez, /readyz, /metrics\n' };
}

function reportAnswer(report: Report): Answer {
  const lines = report.checks.map(
    ({ name, problem }) => `${problem ? '-' : '+'} ${name}${problem ? `: ${problem}` : ''}`,
  );
  return {
    status: report.ok ? 200 : 503,
    type: 'text/plain',
    body: `${[...lines, report.ok ? 'ok' : 'failed'].join('\n')}\n`,
  };
}
