import { Command } from 'commander';
import { PROBE_TASK } from '../ops/probe-task.ts';
import { VERSION } from '../ops/version.ts';
import { adoptCommand } from './adopt/adopt-command.ts';
import { analyzeCommand } from './analyze.ts';
import { checkCommand } from './check.ts';
import { COMPLETE, completionCommand, printCompletions } from './completion.ts';
import { configCommand } from './config.ts';
import { consoleCommand } from './console/console-command.ts';
import { describeCommand } from './view/describe-command.ts';
import { dnsCommand } from './dns.ts';
import { explainFailure } from './exit.ts';
import { explainCommand } from './explain.ts';
import { getCommand } from './view/get-command.ts';
import { installCommand } from './install.ts';
import { clustersCommand } from './join/clusters-command.ts';
import { joinCommand } from './join/join-command.ts';
import { leaveCommand } from './join/leave-command.ts';
import { meshCommand } from './join/mesh-command.ts';
import { moveCommand } from './move/move-command.ts';
import { operatorCommand } from './operator.ts';
import { probeCommand } from './probe/probe-command.ts';
import { runProbeTask } from './probe/task.ts';
import { proxyCommand } from './proxy.ts';
import { convertCommand } from './convert/convert-command.ts';
import { resealCommand } from './reseal/reseal-command.ts';
import { tapCommand } from './console/tap-command.ts';
import { statusCommand } from './view/status-command.ts';
import { processTerminal } from './terminal.ts';
import type { Terminal } from './terminal.ts';
import { treeCommand } from './view/tree-command.ts';
import { upCommand } from './up.ts';
import { versionCommand } from './version/version-command.ts';

/** One file a command; each imports what it runs only when it runs, so that `--help` is instant. */
const COMMANDS = [
  upCommand,
  operatorCommand,
  proxyCommand,
  dnsCommand,
  installCommand,
  joinCommand,
  leaveCommand,
  meshCommand,
  clustersCommand,
  moveCommand,
  adoptCommand,
  analyzeCommand,
  convertCommand,
  probeCommand,
  resealCommand,
  checkCommand,
  statusCommand,
  getCommand,
  describeCommand,
  treeCommand,
  consoleCommand,
  tapCommand,
  explainCommand,
  versionCommand,
  configCommand,
  completionCommand,
];

/** The whole command tree. Called as kubectl-isthmus it is a kubectl plugin, and says so in its help. */
export function createProgram(terminal: Terminal): Command {
  const asPlugin = process.argv[1]?.endsWith('kubectl-isthmus') ?? false;
  const program = new Command(asPlugin ? 'kubectl isthmus' : 'isthmus')
    .description('Joins Kafka to everything on the far side of a Kubernetes boundary.')
    .version(VERSION)
    // An option of `dns` is one of `dns query`, too, and must be given there.
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(run with --help for what is possible)')
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .exitOverride();
  for (const command of COMMANDS) program.addCommand(inherit(program, command(terminal)));
  return program;
}

function inherit(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(command, child);
  return command;
}

/** Runs one command line and says how it ended. */
export async function runProgram(
  args: readonly string[],
  terminal: Terminal = processTerminal(),
): Promise<number> {
  try {
    const program = createProgram(terminal);
    if (args[0] === COMPLETE) await printCompletions(program, args.slice(1), terminal);
    else if (args[0] === PROBE_TASK) await runProbeTask(args.slice(1));
    else await program.parseAsync(args, { from: 'user' });
    return terminal.exitCode;
  } catch (thrown) {
    const failure = explainFailure(thrown);
    for (const line of failure.lines) terminal.err(`${line}\n`);
    return failure.code;
  }
}
