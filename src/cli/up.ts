import { Command } from 'commander';
import { createLog } from '../ops/log.ts';
import type { LogLevel } from '../ops/log.ts';
import type { Listing } from '../store/local-plan.ts';
import type { UpState } from '../store/up.ts';
import { logLevelOption } from './arguments.ts';
import { render } from './output.ts';
import { untilStopped } from './terminal.ts';
import type { Terminal } from './terminal.ts';

interface UpFlags {
  filename: string;
  logLevel: LogLevel;
}

/** `isthmus up`: the same resources as in a cluster, from a folder, on this machine. */
export function upCommand(terminal: Terminal): Command {
  return new Command('up')
    .description(
      'serve a folder of resources on this machine, no Kubernetes needed; follows changes of the files',
    )
    .requiredOption('-f, --filename <folder>', 'the folder with YAML files')
    .addOption(logLevelOption('warn'))
    .action(async ({ filename, logLevel }: UpFlags) => {
      const { startUp } = await import('../store/up.ts');
      const stopped = untilStopped();
      const up = await startUp({
        folder: filename,
        log: createLog(logLevel, { role: 'up' }),
        onChange: (state) => terminal.out(describe(state)),
        onProgress: (line) => terminal.err(`isthmus: ${line}\n`),
      });
      terminal.err('isthmus: edit the files and the change takes effect; Ctrl-C stops everything\n');
      await stopped;
      terminal.err('isthmus: stopping …\n');
      await up.stop();
    });
}

const COLUMNS = {
  'virtual cluster': (listing: Listing) => listing.virtualCluster,
  bootstrap: (listing: Listing) => listing.bootstrap,
  protocol: (listing: Listing) => listing.protocol,
  filters: (listing: Listing) => listing.filters.join(', ') || '-',
};

/** What is served, what is wrong, and lines to paste. */
export function describe({ listings, problems, kafka }: UpState): string {
  const wrong = problems.map(({ file, line, message }) => `✖ ${file}:${line}: ${message}\n`).join('');
  if (listings.length === 0) return `\n${wrong}Nothing is served: no VirtualKafkaCluster is usable.\n`;
  const embedded = kafka ? `Apache Kafka itself listens on ${kafka.bootstrap}\n` : '';
  return `\n${wrong}${render(listings, COLUMNS, 'table')}${embedded}${paste(listings, kafka)}`;
}

/** Lines that work as they are: with the tools of the Kafka that was started, else with kcat. */
function paste(listings: readonly Listing[], kafka: UpState['kafka']): string {
  const bootstrap = listings.find(({ protocol }) => protocol === 'TCP')?.bootstrap;
  if (bootstrap === undefined) return '';
  const tool = (name: string) =>
    `java -cp '${kafka?.libs}/*' org.apache.kafka.tools.${name} --bootstrap-server ${bootstrap} --topic hello`;
  const [produce, consume] = kafka
    ? [tool('ConsoleProducer'), `${tool('consumer.ConsoleConsumer')} --from-beginning`]
    : [`kcat -b ${bootstrap} -t hello -P`, `kcat -b ${bootstrap} -t hello -C`];
  return `\nTo try it, in another terminal:\n  echo hello | ${produce}\n  ${consume}\n`;
}
