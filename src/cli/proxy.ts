import { Command } from 'commander';
import { createLog } from '../ops/log.ts';
import type { LogLevel } from '../ops/log.ts';
import { logLevelOption } from './arguments.ts';
import { untilStopped } from './terminal.ts';
import type { Terminal } from './terminal.ts';

interface ProxyFlags {
  config: string;
  logLevel: LogLevel;
}

/** `isthmus proxy`: the data plane alone, from a file. */
export function proxyCommand(_terminal: Terminal): Command {
  return new Command('proxy')
    .description(
      'run the Kafka proxy alone, from a configuration file; a change of the file takes effect at once',
    )
    .requiredOption('--config <file>', 'the configuration, YAML; files for Kroxylicious are understood')
    .addOption(logLevelOption())
    .action(async (flags: ProxyFlags) => {
      const { runProxy } = await import('../proxy/workers/run.ts');
      const stopped = untilStopped();
      const log = createLog(flags.logLevel, { role: 'proxy' });
      const proxy = await runProxy(flags.config, { log });
      log.info({ signal: await stopped }, 'draining');
      await proxy.close();
    });
}
