import { Command } from 'commander';
import { parseNamespace } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { connectionOptions, withClient } from '../kube/connect.ts';
import type { ConnectionFlags } from '../kube/connect.ts';
import { outputOption, render } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';

interface ClustersFlags extends ConnectionFlags {
  namespace: string;
  output: OutputFormat;
}

/** `isthmus clusters`: those that this one is joined with, and how they are. */
export function clustersCommand(terminal: Terminal): Command {
  const command = new Command('clusters')
    .description('list the clusters that this one is joined with; exit code 1 if one cannot be used')
    .option('-n, --namespace <name>', 'Isthmus’ own namespace', parseNamespace, 'isthmus-system')
    .addOption(outputOption());
  return connectionOptions(command).action(async ({ output, namespace, ...flags }: ClustersFlags) => {
    const { listClusters } = await import('./clusters.ts');
    const rows = await withClient(flags, (client) => listClusters(client, namespace));
    if (rows.some(({ reachable }) => !reachable)) terminal.exitCode = EXIT.problems;
    const look = terminal.columns === undefined ? {} : { columns: terminal.columns };
    const columns = {
      name: ({ name }: (typeof rows)[number]) => name,
      server: ({ server }: (typeof rows)[number]) => server ?? '-',
      reachable: ({ reachable, seenBy }: (typeof rows)[number]) =>
        `${reachable ? 'yes' : 'no'} (${seenBy === 'operator' ? 'operator' : 'from here'})`,
      version: ({ version }: (typeof rows)[number]) => version ?? '-',
      roads: ({ roads }: (typeof rows)[number]) => roads.join() || '-',
      expires: ({ credentialExpires }: (typeof rows)[number]) => credentialExpires ?? 'never',
      warnings: ({ warnings }: (typeof rows)[number]) => warnings.map(({ reason }) => reason).join() || '-',
    };
    if (rows.length === 0 && output === 'table') terminal.out('no clusters are joined\n');
    else terminal.out(render(rows, columns, output, look));
    if (output !== 'table') return;
    for (const { name, problem, warnings } of rows) {
      if (problem !== undefined) terminal.out(`\n${name}: ${problem}\n`);
      for (const { reason, message } of warnings) terminal.out(`\n${name}: ${message} [${reason}]\n`);
    }
  });
}
