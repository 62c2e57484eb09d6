import { hostname } from 'node:os';
import { Command } from 'commander';
import type { Discovery } from '../control/discover/road.ts';
import type { JoinedClusters } from '../control/discover/members/join.ts';
import type { DiscoverSettings } from '../control/discover/settings.ts';
import type { DnsConfig } from '../dns/config.ts';
import type { DnsServer } from '../dns/server.ts';
import type { Election } from '../kube/controller/lease.ts';
import { createHealth } from '../ops/health.ts';
import { createLog } from '../ops/log.ts';
import type { Log, LogLevel } from '../ops/log.ts';
import { serveManagement } from '../ops/management.ts';
import { createMetrics, metricsText } from '../ops/metrics.ts';
import type { Metrics } from '../ops/metrics.ts';
import { logLevelOption } from './arguments.ts';
import { dnsManifestsCommand } from './dns-manifests.ts';
import { dnsQueryCommand } from './dns-query.ts';
import { dnsUndelegateCommand } from './dns-undelegate.ts';
import { untilStopped } from './terminal.ts';
import type { Terminal } from './terminal.ts';

interface DnsFlags {
  config: string;
  logLevel: LogLevel;
}

/** `isthmus dns`: the DNS server, answering from its configuration and from the clusters that it names. */
export function dnsCommand(terminal: Terminal): Command {
  return new Command('dns')
    .description('run the DNS server, from a configuration file and the clusters that it names')
    .requiredOption('--config <file>', 'the configuration, YAML')
    .addOption(logLevelOption())
    .addCommand(dnsQueryCommand(terminal))
    .addCommand(dnsManifestsCommand(terminal))
    .addCommand(dnsUndelegateCommand(terminal))
    .action(async (flags: DnsFlags) => {
      const { loadDnsCommandConfig } = await import('./dns-config.ts');
      const { startDns } = await import('../dns/server.ts');
      const { dns: config, kubernetes } = loadDnsCommandConfig(flags.config, process.env);
      const stopped = untilStopped();
      const log = createLog(flags.logLevel, { role: 'dns' });
      const metrics = createMetrics();
      const server = await startDns(config, { log, metrics, ready: !kubernetes });
      const followed = kubernetes && (await follow(kubernetes, config, server, log, metrics));
      const health = createHealth();
      health.ready('dns', () => server.problem());
      const management =
        config.management &&
        (await serveManagement({
          ...config.management,
          health,
          metrics: async () => metricsText([await metrics.snapshot()]),
        }));
      log.info({ signal: await stopped }, 'stopping');
      await server.close();
      await followed?.stop();
      await management?.close();
    });
}

/** Starts the discover road, which gives the server the records of clusters and sets it ready. */
async function follow(
  settings: DiscoverSettings,
  { zones }: DnsConfig,
  server: DnsServer,
  log: Log,
  metrics: Metrics,
): Promise<Pick<Discovery, 'stop'>> {
  const { joinClusters } = await import('../control/discover/members/join.ts');
  const { startDiscovery } = await import('../control/discover/road.ts');
  const joined = joinClusters(settings, log);
  const joinWaitMs = settings.joinWaitSeconds * 1000;
  const { reach } = settings;
  const discovery = startDiscovery({ ...joined, reach, sink: server, log, metrics, joinWaitMs });
  const { openDelegation } = await import('./dns-delegation.ts');
  const ready = discovery.ready;
  const delegate = openDelegation({ settings, zones, joined, ready, sink: server, log, metrics });
  const work = [
    ...(settings.import ? [(signal: AbortSignal) => discovery.importServices(signal)] : []),
    ...(delegate ? [delegate] : []),
  ];
  const election = work.length > 0 ? await leadWith(work, joined, log) : undefined;
  return {
    async stop() {
      await election?.stop();
      await discovery.stop();
      await joined.clusters.stop();
    },
  };
}

type Work = (signal: AbortSignal) => Promise<void>;

/** Every replica answers queries; the leader writes. */
async function leadWith(
  work: readonly Work[],
  { local, namespace }: JoinedClusters,
  log: Log,
): Promise<Election> {
  const { runElection } = await import('../kube/controller/lease.ts');
  const { DNS_NAME } = await import('../control/discover/install.ts');
  return runElection({
    client: () => local.client,
    namespace,
    name: DNS_NAME,
    identity: hostname(),
    lead: (signal) => together(work, signal),
    log,
  });
}

/** When one part fails, the others end, and the leader starts again. */
async function together(work: readonly Work[], signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const ends = await Promise.allSettled(work.map((part) => part(either).finally(() => over.abort())));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
