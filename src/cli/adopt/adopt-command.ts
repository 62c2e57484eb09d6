import { Command } from 'commander';
import { parseDuration, parseNamespace } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { connectionOptions, withClient } from '../kube/connect.ts';
import type { ConnectionFlags } from '../kube/connect.ts';
import { outputOption, renderData } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import type { AdoptResult } from './adopt.ts';

interface AdoptFlags extends ConnectionFlags {
  namespace?: string;
  isthmusNamespace: string;
  wait?: boolean;
  timeout: number;
  dryRun?: boolean;
  output: OutputFormat;
}

const DEFAULT_TIMEOUT_MS = 3_600_000;

/** `isthmus adopt`: this cluster becomes the central one of a Kafka that has lost its own. */
export function adoptCommand(terminal: Terminal): Command {
  const command = new Command('adopt')
    .description('take over a Kafka over several clusters whose central cluster is lost for good')
    .argument('<kafka>', 'the Kafka, which was applied here and is still refused')
    .option('-n, --namespace <name>', 'where it is (default: the context’s namespace)', parseNamespace)
    .option(
      '--isthmus-namespace <name>',
      'Isthmus’ own namespace, where joined clusters are known',
      parseNamespace,
      'isthmus-system',
    )
    .option('--wait', 'wait until all keys are replaced, and everything is ready')
    .option('--timeout <duration>', 'how long to wait, as in 30m or 2h', parseDuration, DEFAULT_TIMEOUT_MS)
    .option('--dry-run', 'say what would be done next, and do nothing')
    .addOption(outputOption());
  return connectionOptions(command).action(async (name: string, flags: AdoptFlags) => {
    const { runAdopt } = await import('./adopt.ts');
    const { isthmusNamespace: home, wait = false, dryRun = false, timeout: timeoutMs } = flags;
    const result = await withClient(flags, (client) => {
      const namespace = flags.namespace ?? client.namespace;
      const say = (text: string) => terminal.err(`${text}\n`);
      return runAdopt({ name, namespace, home, wait, dryRun, timeoutMs }, client, say);
    });
    if (result.state === 'asked' || (result.state === 'adopting' && wait)) terminal.exitCode = EXIT.problems;
    if (flags.output !== 'table') terminal.out(renderData({ kafka: name, ...result }, flags.output));
    else terminal.out(`${textOf(result, name)}\n`);
  });
}

function textOf({ state, progress }: AdoptResult, name: string): string {
  if (state === 'adopted') return `Kafka ${name} is run from here, and all of its keys are new`;
  if (state === 'planned') return `nothing was done; next: ${progress}`;
  if (state === 'asked') return `Kafka ${name} is not being taken over yet: ${progress}`;
  return `Kafka ${name} is being taken over by the operator; run this again to see how far it is`;
}
