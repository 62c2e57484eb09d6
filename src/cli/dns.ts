import { Command } from 'commander';
import type { DiscoverRoad, DiscoverRoadOptions } from '../control/discover/road.ts';
import { createHealth } from '../ops/health.ts';
import { createLog } from '../ops/log.ts';
import type { LogLevel } from '../ops/log.ts';
import { serveManagement } from '../ops/management.ts';
import { createMetrics, metricsText } from '../ops/metrics.ts';
import { logLevelOption } from './arguments.ts';
import { dnsManifestsCommand } from './dns-manifests.ts';
import { dnsQueryCommand } from './dns-query.ts';
import { dnsUndelegateCommand } from './dns-undelegate.ts';
import { dnsUnimportCommand } from './dns-unimport.ts';
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
    .addCommand(dnsUnimportCommand(terminal))
    .action(async (flags: DnsFlags) => {
      const { collectConfigured, loadDnsCommandConfig } = await import('./dns-config.ts');
      const { startDns } = await import('../dns/server/server.ts');
      const { dns: config, kubernetes } = loadDnsCommandConfig(flags.config, process.env);
      const stopped = untilStopped();
      const log = createLog(flags.logLevel, { role: 'dns' });
      const metrics = createMetrics();
      const configured = kubernetes && collectConfigured(config.zones);
      const server = await startDns(config, {
        log,
        metrics,
        ready: !kubernetes,
        serials: kubernetes ? 'given' : 'own',
        onConfigured: configured?.set,
      });
      const road =
        kubernetes &&
        configured &&
        (await startRoad({ settings: kubernetes, configured, sink: server, log, metrics }));
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
      await road?.stop();
      await management?.close();
    });
}

/** Loaded only where clusters are followed. It sets the server ready when it has read them. */
async function startRoad(options: DiscoverRoadOptions): Promise<DiscoverRoad> {
  const { startDiscoverRoad } = await import('../control/discover/road.ts');
  return startDiscoverRoad(options);
}
