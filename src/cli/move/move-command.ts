import { Command } from 'commander';
import { parseClusterId, parseDuration, parseNamespace } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { connectionOptions, withClient } from '../kube/connect.ts';
import type { ConnectionFlags } from '../kube/connect.ts';
import { outputOption, renderData } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import type { MoveResult } from './move.ts';

interface MoveFlags extends ConnectionFlags {
  to: string;
  name?: string;
  namespace?: string;
  wait?: boolean;
  timeout: number;
  dryRun?: boolean;
  output: OutputFormat;
}

const DEFAULT_TIMEOUT_MS = 3_600_000;

/** `isthmus move pool`: nodes of a stretched Kafka go to another Kubernetes cluster, with all that they have. */
export function moveCommand(terminal: Terminal): Command {
  return new Command('move')
    .description('move parts of a Kafka over several clusters')
    .addCommand(movePoolCommand(terminal));
}

function movePoolCommand(terminal: Terminal): Command {
  const command = new Command('pool')
    .description(
      'move a node pool to another Kubernetes cluster: a pool like it is made there, then this one is emptied and goes',
    )
    .argument('<name>', 'the KafkaNodePool')
    .requiredOption('--to <cluster>', 'the joined cluster, by its name', parseClusterId)
    .option('--name <name>', 'what the new pool is called (default: NAME-CLUSTER)')
    .option('-n, --namespace <name>', 'where it is (default: the context’s namespace)', parseNamespace)
    .option('--wait', 'wait until the former pool is gone')
    .option('--timeout <duration>', 'how long to wait, as in 30m or 2h', parseDuration, DEFAULT_TIMEOUT_MS)
    .option('--dry-run', 'say what would be done next, and do nothing')
    .addOption(outputOption());
  return connectionOptions(command).action(async (name: string, flags: MoveFlags) => {
    const { runMove } = await import('./move.ts');
    const { to, name: successor = `${name}-${to}`, wait = false, dryRun = false, timeout: timeoutMs } = flags;
    const result = await withClient(flags, (client) => {
      const namespace = flags.namespace ?? client.namespace;
      const say = (text: string) => terminal.err(`${text}\n`);
      return runMove({ name, to, successor, namespace, wait, dryRun, timeoutMs }, client, say);
    });
    if (result.state === 'moving' && wait) terminal.exitCode = EXIT.problems;
    if (flags.output !== 'table')
      terminal.out(renderData({ pool: name, to, successor, ...result }, flags.output));
    else terminal.out(`${textOf(result, name, successor, to)}\n`);
  });
}

function textOf({ state, progress }: MoveResult, name: string, successor: string, to: string): string {
  if (state === 'moved')
    return `KafkaNodePool ${name} is moved: its nodes are those of ${successor}, in ${to}`;
  if (state === 'planned') return `nothing was done; next: ${progress}`;
  return `KafkaNodePool ${name} is being moved by the operator; run this again to see how far it is, and to have the empty pool deleted`;
}
