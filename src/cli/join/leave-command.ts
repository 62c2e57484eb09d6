import { Command } from 'commander';
import { IsthmusError } from '../../ops/errors.ts';
import { parseClusterId, parseNamespace } from '../arguments.ts';
import { outputOption, renderData } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { centralFlags, centralOptions, withCluster } from './connect.ts';
import type { TwoClusterFlags } from './connect.ts';

export interface LeaveFlags extends TwoClusterFlags {
  namespace: string;
  onlyHere?: boolean;
  force?: boolean;
  dryRun?: boolean;
  output: OutputFormat;
}

/** `isthmus leave`: undoes what `isthmus join` did. */
export function leaveCommand(terminal: Terminal): Command {
  const command = new Command('leave')
    .description('undo a join: delete what it made in both clusters; namespaces, CRDs and data stay')
    .argument('<name>', 'what the other cluster is called here', parseClusterId)
    .option('-n, --namespace <name>', 'Isthmus’ own namespace', parseNamespace, 'isthmus-system')
    .option('--only-here', 'forget a cluster that is gone for good')
    .option('--force', 'though brokers of stretched Kafkas run there')
    .option('--dry-run', 'say what would be done, and do nothing')
    .addOption(outputOption());
  return centralOptions(command).action(async (name: string, flags: LeaveFlags) => {
    const { runLeave } = await import('./leave.ts');
    const { changesText } = await import('./changes.ts');
    const hasContext = flags.context !== undefined || flags.centralContext !== undefined;
    if (!flags.onlyHere && !hasContext && flags.centralKubeconfig === undefined)
      throw new IsthmusError(
        'USAGE',
        `name the cluster with --context, or say --only-here if ${name} is gone`,
      );
    const changes = await withCluster(centralFlags(flags), (central) =>
      flags.onlyHere
        ? runLeave({ ...flags, name }, central.client, undefined)
        : withCluster(flags, (remote) => runLeave({ ...flags, name }, central.client, remote.client)),
    );
    if (flags.output !== 'table') terminal.out(renderData({ cluster: name, changes }, flags.output));
    else terminal.out(changes.length > 0 ? changesText(changes) : `nothing of a cluster ${name} is left\n`);
  });
}
