/**
 * The real Kroxylicious 0.12.0 in front of one broker, to show that what it writes we read, and the other way round.
 *
 *     await using peer = await startKroxylicious({ upstream: kafka.bootstrap.plaintext, filters: [encryption] });
 */
import { connect } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureKroxylicious } from './install/kroxylicious.ts';
import { reservePorts } from '../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../src/store/embedded/process.ts';
import type { Server } from '../../src/store/embedded/process.ts';
import { workspace } from './workspace.ts';

export interface KroxyliciousOptions {
  /** The broker behind it. */
  upstream: string;
  /** The broker's id; the gateway has a port for this one only. */
  brokerId?: number;
  filters?: readonly FilterDefinition[];
}

export interface FilterDefinition {
  type: string;
  config: object;
}

export interface Kroxylicious extends AsyncDisposable {
  readonly bootstrap: string;
  readonly server: Server;
  stop(): Promise<void>;
}

/** Its configuration document. JSON is YAML enough for it. */
export function kroxyliciousConfig(
  { upstream, brokerId = 1, filters = [] }: KroxyliciousOptions,
  [bootstrapPort, brokerPort]: readonly [number, number],
): object {
  const definitions = filters.map((filter, i) => ({ name: `filter-${i}`, ...filter }));
  const gateway = {
    name: 'gateway',
    portIdentifiesNode: {
      bootstrapAddress: `127.0.0.1:${bootstrapPort}`,
      nodeStartPort: brokerPort,
      nodeIdRanges: [{ name: 'only', start: brokerId, end: brokerId }],
    },
  };
  return {
    virtualClusters: [{ name: 'peer', targetCluster: { bootstrapServers: upstream }, gateways: [gateway] }],
    ...(filters.length > 0
      ? { filterDefinitions: definitions, defaultFilters: definitions.map(({ name }) => name) }
      : {}),
  };
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: '127.0.0.1', port });
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Starts it and waits until it listens. It binds to all interfaces: it knows no other way. */
export async function startKroxylicious(options: KroxyliciousOptions): Promise<Kroxylicious> {
  const classPath = await ensureKroxylicious();
  const ports = await reservePorts(2);
  const [bootstrapPort = 0, brokerPort = 0] = ports.numbers;
  const directory = workspace('kroxylicious');
  const configFile = join(directory, 'config.yaml');
  await writeFile(
    configFile,
    JSON.stringify(kroxyliciousConfig(options, [bootstrapPort, brokerPort]), null, 2),
  );
  const java = ['-Xms64m', '-Xmx256m', '-cp', classPath, 'Launcher', configFile];
  const server = startServer('kroxylicious', 'java', java, { logFile: join(directory, 'log.txt') });
  const stop = async () => {
    await server.stop('SIGKILL'); // it has nothing to lose, and its tidy end takes seconds
    await ports.release();
  };
  try {
    await waitFor('Kroxylicious', async () => (await accepts(bootstrapPort)) && (await accepts(brokerPort)), {
      abort: () => (server.running ? undefined : `it ended; see ${server.logFile}`),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { bootstrap: `127.0.0.1:${bootstrapPort}`, server, stop, [Symbol.asyncDispose]: stop };
}
