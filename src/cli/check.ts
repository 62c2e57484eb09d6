import { Argument, Command, Option } from 'commander';
import { stringify } from 'yaml';
import { parseNamespace } from './arguments.ts';
import type { CheckedRoad } from './check/facts.ts';
import { EXIT } from './exit.ts';
import { connectionOptions, withClient } from './kube/connect.ts';
import type { ConnectionFlags } from './kube/connect.ts';
import { outputOption } from './output.ts';
import type { OutputFormat } from './output.ts';
import type { Terminal } from './terminal.ts';

interface CheckFlags extends ConnectionFlags {
  namespace: string;
  pre?: boolean;
  output: OutputFormat;
}

/** Spelled out, because the list of the checks is loaded only when they run. */
const ROADS = ['proxy', 'kafka', 'expose', 'redpanda', 'pod-sets', 'dns'] as const satisfies CheckedRoad[];

/** `isthmus check`: whether an installation is whole, or a cluster ready for one. */
export function checkCommand(terminal: Terminal): Command {
  const command = new Command('check')
    .description('check an installation, and what it needs; exit code 1 if something is wrong')
    .addArgument(new Argument('[road]', 'one road only (default: those that are served)').choices(ROADS))
    .addOption(new Option('--pre', 'check whether this cluster can get an installation'))
    .option('-n, --namespace <name>', 'the operator’s namespace', parseNamespace, 'isthmus-system')
    .addOption(outputOption());
  return connectionOptions(command).action(async (road: CheckedRoad | undefined, flags: CheckFlags) => {
    const { gatherFacts } = await import('./check/gather.ts');
    const { checkAll } = await import('./check/checks.ts');
    const { hasErrors, reportData, reportText } = await import('./check/report.ts');
    const { namespace, pre: isBefore = false, output } = flags;
    const facts = await withClient(flags, (client) => gatherFacts(client, { namespace, road, isBefore }));
    const categories = checkAll(facts, isBefore);
    if ('problem' in facts.server) terminal.exitCode = EXIT.unreachable;
    else if (hasErrors(categories)) terminal.exitCode = EXIT.problems;
    if (output === 'json') terminal.out(`${JSON.stringify(reportData(categories), null, 2)}\n`);
    else if (output === 'yaml') terminal.out(stringify(reportData(categories)));
    else terminal.out(reportText(categories, terminal.colors ?? false));
  });
}
