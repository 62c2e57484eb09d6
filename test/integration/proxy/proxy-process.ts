/** Our proxy as its users run it: a process of its own, with a configuration file, watched from outside. */
import { createHash, randomInt } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { tryLock } from '../../../src/store/embedded/mutex.ts';
import type { Lock } from '../../../src/store/embedded/mutex.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import type { Server } from '../../../src/store/embedded/process.ts';
import { connectKafka } from '../../../src/kafka/client.ts';
import type { ClientOptions, KafkaClient } from '../../../src/kafka/client.ts';
import { workspace } from '../../support/workspace.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');

/** Ports in a row, as a gateway wants them. */
export interface PortBlock extends AsyncDisposable {
  first: number;
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve: settle } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once('error', () => settle(false));
  probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => settle(true)));
  return promise;
}

/** Reserves so many ports in a row that are free now. */
export async function reserveBlock(count: number): Promise<PortBlock> {
  for (;;) {
    const first = randomInt(10_000, 32_768 - count);
    const locks: Lock[] = [];
    for (let port = first; port < first + count; port++) {
      const held = await tryLock(`port ${port}`);
      if (held) locks.push(held);
      if (!held || !(await isFree(port))) break;
    }
    const release = async () => {
      await Promise.all(locks.map((held) => held.release()));
    };
    if (locks.length === count && (await isFree(first + count - 1)))
      return { first, [Symbol.asyncDispose]: release };
    await release();
  }
}

/** What /config says. */
export interface Status {
  hash: string;
  error?: string;
  workers: number;
  virtualClusters: {
    name: string;
    loaded: boolean;
    targetReachable?: boolean;
    nodeIds: number[];
    problems: string[];
  }[];
}

export interface ProxyProcess extends AsyncDisposable {
  readonly server: Server;
  readonly directory: string;
  readonly managementPort: number;
  /** Replaces the configuration, as a mounted Secret is replaced; its hash. */
  write(document: object): string;
  /** Replaces it and waits until it is in use, or refused. */
  reload(document: object): Promise<Status>;
  status(): Promise<Status>;
  /** The sum of a metric over the label sets that contain these. */
  metric(name: string, labels?: Record<string, string>): Promise<number>;
  ready(): Promise<boolean>;
  /** Resident memory in bytes and processor time in seconds, of all its processes together. */
  usage(): { rss: number; cpuSeconds: number };
  workerPids(): number[];
  log(): string;
  /** Waits for a line of the log, after the place that `after` says. Clients often learn of a thing before it is logged. */
  logged(pattern: RegExp, after?: number): Promise<string>;
}

/** Starts the proxy and waits until it is ready. `management` and its port are added to the document. */
export async function startProxyProcess(
  document: object,
  {
    waitUntilReady = true,
    logLevel = 'info',
    env = {},
  }: { waitUntilReady?: boolean; logLevel?: string; env?: Record<string, string> } = {},
): Promise<ProxyProcess> {
  const directory = workspace('proxy');
  const file = join(directory, 'proxy.yaml');
  const ports = await reserveBlock(1);
  const management = { bindAddress: '127.0.0.1', port: ports.first };
  const write = (content: object) => {
    const text = stringify({ management, workers: 1, ...content });
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
    return createHash('sha256').update(text).digest('hex');
  };
  write(document);
  const server = startServer(
    'proxy',
    process.execPath,
    [MAIN, 'proxy', '--config', file, '--log-level', logLevel],
    {
      logFile: join(directory, 'proxy.log'),
      env,
    },
  );
  // A connection that is kept may be closed by the server in the moment in which it is used again.
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${ports.first}${path}`, { headers: { connection: 'close' } });
  const log = () => readFileSync(server.logFile, 'utf8');
  const proxy: ProxyProcess = {
    server,
    directory,
    managementPort: ports.first,
    write,
    log,
    logged: (pattern, after = 0) =>
      waitFor(`${pattern} in the log`, async () =>
        log()
          .slice(after)
          .split('\n')
          .find((line) => pattern.test(line)),
      ),
    async reload(content) {
      const before = await outcomes();
      const hash = write(content);
      return waitFor('a reload', async () => {
        if ((await outcomes()) === before) return undefined;
        const status = await proxy.status();
        // An earlier change, of a certificate, say, may be counted only now.
        return status.hash === hash || status.error !== undefined ? status : undefined;
      });
    },
    status: async () => (await (await get('/config')).json()) as Status,
    async metric(name, labels = {}) {
      const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
      const lines = (await (await get('/metrics')).text()).split('\n');
      return lines
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .filter((line) => wanted.every((label) => line.includes(label)))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
    ready: () =>
      get('/readyz')
        .then(({ ok }) => ok)
        .catch(() => false),
    usage: () => usageOf([server.pid, ...childrenOf(server.pid)]),
    workerPids: () => childrenOf(server.pid),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await ports[Symbol.asyncDispose]();
    },
  };
  const outcomes = () => proxy.metric('isthmus_proxy_reloads_total');
  const abort = () => (server.running ? undefined : `it ended:\n${log()}`);
  const isThere = async () =>
    waitUntilReady
      ? proxy.ready()
      : get('/livez').then(
          () => true,
          () => false,
        );
  try {
    await waitFor('the proxy', isThere, { abort });
  } catch (error) {
    await proxy[Symbol.asyncDispose](); // or the test would never end
    throw error;
  }
  return proxy;
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

function usageOf(pids: number[]): { rss: number; cpuSeconds: number } {
  let rss = 0;
  let ticks = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
    rss += Number(fields[21]) * 4096;
  }
  return { rss, cpuSeconds: ticks / 100 };
}

/** A client's connection; it waits as long as a busy machine may need, where the usual limits are a person's. */
export const askKafka = (port: number, more: Partial<ClientOptions> = {}): Promise<KafkaClient> =>
  connectKafka({
    host: '127.0.0.1',
    port,
    connectTimeoutMs: 60_000,
    requestTimeoutMs: 60_000,
    ...more,
  });

/** A gateway on loopback whose ports tell the nodes 1 to 3 apart; it needs a block of four. */
export const portGateway = (first: number, host = '127.0.0.1', more: object = {}) => ({
  name: 'ports',
  bindAddress: '127.0.0.1',
  portIdentifiesNode: { bootstrapAddress: `${host}:${first}`, nodeIdRanges: [{ start: 1, end: 3 }] },
  ...more,
});
