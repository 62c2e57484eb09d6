import { Command } from 'commander';
import { createHealth } from '../ops/health.ts';
import { createLog, LOG_LEVELS } from '../ops/log.ts';
import type { LogLevel } from '../ops/log.ts';
import { serveManagement } from '../ops/management.ts';
import { createMetrics, metricsText } from '../ops/metrics.ts';
import { untilStopped } from './terminal.ts';
import type { Terminal } from './terminal.ts';

interface DnsFlags {
  config: string;
  logLevel: LogLevel;
}

/** `isthmus dns`: the DNS server alone, answering from its configuration. */
export function dnsCommand(_terminal: Terminal): Command {
  return new Command('dns')
    .description('run the DNS server alone, from a configuration file')
    .requiredOption('--config <file>', 'the configuration, YAML')
    .option('--log-level <level>', LOG_LEVELS.join(', '), 'info')
    .action(async (flags: DnsFlags) => {
      const { loadDnsConfig } = await import('../dns/config.ts');
      const { startDns } = await import('../dns/server.ts');
      const config = loadDnsConfig(flags.config, process.env);
      const log = createLog(flags.logLevel, { role: 'dns' });
      const metrics = createMetrics();
      const server = await startDns(config, { log, metrics });
      const health = createHealth();
      health.ready('dns', () => server.problem());
      const management =
        config.management &&
        (await serveManagement({
          ...config.management,
          health,
          metrics: async () => metricsText([await metrics.snapshot()]),
        }));
      log.info({ signal: await untilStopped() }, 'stopping');
      await server.close();
      await management?.close();
    });
}
