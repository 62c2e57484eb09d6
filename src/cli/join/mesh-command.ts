import { Command } from 'commander';
import { VERSION } from '../../ops/version.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { parseClusterId, parseCount, parseImage, parseNamespace } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { outputOption, renderData } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';

export interface MeshFlags {
  kubeconfig?: string;
  namespace: string;
  image?: string;
  replicas: number;
  undo?: boolean;
  dryRun?: boolean;
  output: OutputFormat;
}

/** A cluster of the mesh: how it is reached from here, and what all of them call it. */
export interface MeshMember {
  context: string;
  name: string;
}

/** `isthmus mesh`: a DNS server in each of some clusters, each of which knows what all the others export. */
export function meshCommand(terminal: Terminal): Command {
  return new Command('mesh')
    .description(
      'let some clusters find each other’s exported services: a DNS server in each, joined with all others',
    )
    .argument(
      '<context[=name]...>',
      'the clusters, by context; what they are called, where that is another name',
    )
    .option('--kubeconfig <file>', 'how to reach them (default: $KUBECONFIG, then ~/.kube/config)')
    .option(
      '-n, --namespace <name>',
      'Isthmus’ own namespace in all of them',
      parseNamespace,
      'isthmus-system',
    )
    .option(
      '--image <reference>',
      'what the DNS servers run (default: that of an operator there)',
      parseImage,
    )
    .option('--replicas <n>', 'how many pods answer in each cluster', parseCount, 2)
    .option('--undo', 'take all of it back, in the clusters that are named: DNS servers, delegations, joins')
    .option('--dry-run', 'say what would be done, and do nothing')
    .addOption(outputOption())
    .action(async (contexts: string[], flags: MeshFlags) => {
      const run = flags.undo
        ? (await import('./mesh-undo.ts')).undoMesh
        : (await import('./mesh.ts')).runMesh;
      const { changesText } = await import('./changes.ts');
      const { hasErrors, reportData, reportText } = await import('../check/report.ts');
      const members = membersOf(contexts);
      const isText = flags.output === 'table';
      const { changes, checks } = await run(
        members,
        { ...flags, defaultImage: `isthmus:${VERSION}` },
        {
          onPlan: (planned) =>
            isText && terminal.out(changesText(planned.filter(({ change }) => change !== 'keep'))),
          say: (text) => terminal.err(`${text}\n`),
        },
      );
      if (hasErrors(checks)) terminal.exitCode = EXIT.problems;
      const names = members.map(({ name }) => name);
      if (flags.output !== 'table')
        terminal.out(renderData({ clusters: names, changes, ...reportData(checks) }, flags.output));
      else if (checks.length > 0) terminal.out(`\n${reportText(checks, terminal.colors ?? false)}`);
    });
}

function membersOf(words: readonly string[]): MeshMember[] {
  const members = words.map((word) => {
    const at = word.lastIndexOf('=');
    const context = at < 0 ? word : word.slice(0, at);
    return { context, name: parseClusterId(word.slice(at + 1)) };
  });
  const isTwice = new Set(members.map(({ name }) => name)).size < members.length;
  if (members.length < 2 || isTwice)
    throw new IsthmusError('USAGE', 'name at least two clusters by their contexts, each of another name');
  return members;
}
