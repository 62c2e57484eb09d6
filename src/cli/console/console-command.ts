import { Command, Option } from 'commander';
import type { ClusterSource } from '../../console/cluster-source.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { createLog } from '../../ops/log.ts';
import type { Log, LogLevel } from '../../ops/log.ts';
import { logLevelOption, parseNamespaces, parsePort } from '../arguments.ts';
import { connectionOptions, namespaceOptions } from '../kube/connect.ts';
import type { ConnectionFlags, NamespaceFlags } from '../kube/connect.ts';
import { untilStopped } from '../terminal.ts';
import type { Terminal } from '../terminal.ts';

interface ConsoleFlags extends ConnectionFlags, NamespaceFlags {
  port: number;
  host?: string;
  login?: boolean;
  watchNamespaces?: string[];
  managementPort?: number;
  logLevel: LogLevel;
}

/** Only where others look, too. */
const FOR_LOGIN = ['host', 'watchNamespaces', 'managementPort'] as const;

/** `isthmus console`: what is in a cluster, in a browser: on this machine as far as one's own rights go, or for all who log in. */
export function consoleCommand(terminal: Terminal): Command {
  const command = new Command('console')
    .description('show a cluster in a browser on this machine: it reads what you may read, and nothing else')
    .option('--port <port>', 'where it listens on this machine (0: any that is free)', parsePort, 9080)
    .option(
      '--login',
      'serve others: whoever logs in with a bearer token of the cluster sees what they may read there (how it runs in a cluster)',
    )
    .option('--host <address>', 'with --login: the address to listen on, as :: for all (default: 127.0.0.1)')
    .addOption(
      new Option('--watch-namespaces <list>', 'with --login: show only these (default: all)').argParser(
        parseNamespaces,
      ),
    )
    .option('--management-port <port>', 'with --login: where /livez and /readyz are served', parsePort)
    .addOption(logLevelOption('warn'));
  return connectionOptions(namespaceOptions(command)).action(async (flags: ConsoleFlags, own: Command) => {
    const alone = FOR_LOGIN.filter((name) => flags[name] !== undefined);
    if (!flags.login && alone.length > 0)
      throw new IsthmusError('USAGE', 'without --login the console is for you alone, on this machine');
    const stopped = untilStopped();
    // Who logs in is worth a line where others do.
    const isUsual = own.getOptionValueSource('logLevel') === 'default';
    const log = createLog(flags.login && isUsual ? 'info' : flags.logLevel, { role: 'console' });
    const { cluster, source } = await openSource(flags, log);
    const { serveConsole } = await import('../../console/server.ts');
    const shared = flags.login ? await sharedParts(cluster, source, flags, log) : undefined;
    const management = await serveHealth(cluster, source, flags.managementPort);
    const console = await serveConsole({ source, log, port: flags.port, ...(shared && { shared }) });
    terminal.out(`The console: ${console.url}\n`);
    terminal.err('isthmus: Ctrl-C stops it\n');
    await stopped;
    await console.close();
    await management?.close();
    await source.stop();
  });
}

async function openSource(
  flags: ConsoleFlags,
  log: Log,
): Promise<{ cluster: Cluster; source: ClusterSource }> {
  const { createCluster } = await import('../../kube/cluster.ts');
  const { loadConnection } = await import('../../kube/http/kubeconfig.ts');
  const { clusterSource } = await import('../../console/cluster-source.ts');
  const connection = loadConnection({ file: flags.kubeconfig, context: flags.context });
  const cluster = createCluster({ name: flags.context ?? new URL(connection.server).host, connection, log });
  const reached = await cluster.probe();
  if (reached.state === 'unreachable') {
    await cluster.stop();
    throw new IsthmusError('CLUSTER_UNREACHABLE', reached.problem);
  }
  const own = flags.allNamespaces ? [] : [flags.namespace ?? cluster.client.namespace];
  const namespaces = flags.login ? (flags.watchNamespaces ?? []) : own;
  return { cluster, source: clusterSource(cluster, { namespaces, log, command: kubectlLine(flags) }) };
}

/** Who is let in, and where. */
async function sharedParts(
  cluster: Cluster,
  source: ClusterSource,
  { host = '127.0.0.1' }: ConsoleFlags,
  log: Log,
) {
  const { loginDoor } = await import('../../console/login/door.ts');
  const { createAccessReviews } = await import('../../console/login/access-reviews.ts');
  const { createTokenReviews } = await import('../../console/login/token-reviews.ts');
  const { askAccessOf, askTokenOf } = await import('../../console/login/reviews.ts');
  const tokens = createTokenReviews(askTokenOf(() => cluster.client));
  const access = createAccessReviews(askAccessOf(() => cluster.client));
  return { host, door: loginDoor({ source, tokens, access, log }) };
}

/** For kubelets. */
async function serveHealth(cluster: Cluster, source: ClusterSource, port: number | undefined) {
  if (port === undefined) return undefined;
  const { createHealth } = await import('../../ops/health.ts');
  const { serveManagement } = await import('../../ops/management.ts');
  const { createMetrics, metricsText } = await import('../../ops/metrics.ts');
  const health = createHealth();
  const metrics = createMetrics();
  let isRead = false;
  void source.ready.then(() => (isRead = true));
  health.ready('kubernetes', () => {
    const { state } = cluster.reachability;
    if (state !== 'reachable') return `the API server is ${state}`;
    return isRead ? undefined : 'not all has been read';
  });
  return serveManagement({
    host: '::',
    port,
    health,
    metrics: async () => metricsText([await metrics.snapshot()]),
  });
}

function kubectlLine({ kubeconfig, context }: ConnectionFlags): string {
  return [
    'kubectl',
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${kubeconfig}`]),
    ...(context === undefined ? [] : [`--context ${context}`]),
  ].join(' ');
}
