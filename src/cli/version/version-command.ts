import { Command } from 'commander';
import { VERSION } from '../../ops/version.ts';
import { parseNamespace } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { connectionOptions, withClient } from '../kube/connect.ts';
import type { ConnectionFlags } from '../kube/connect.ts';
import { outputOption, render, renderData } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import type { ImageRow } from './versions.ts';

interface VersionFlags extends ConnectionFlags {
  checkImage?: boolean;
  namespace?: string;
  output: OutputFormat;
}

const COLUMNS = {
  namespace: ({ namespace }: ImageRow) => namespace,
  name: ({ kind, name }: ImageRow) => `${kind}/${name}`,
  image: ({ image }: ImageRow) => image,
  version: ({ version }: ImageRow) => version,
  supported: ({ supported }: ImageRow) => supported,
};

/** `isthmus version`: of this command, and of what runs in a cluster. */
export function versionCommand(terminal: Terminal): Command {
  const command = new Command('version')
    .description(
      'print the version; with --check-image also those in a cluster; exit code 1 if two do not go together',
    )
    .option('--check-image', 'compare with the images of Isthmus that run in the cluster')
    .option('-n, --namespace <name>', 'look only there (default: in all)', parseNamespace)
    .addOption(outputOption());
  return connectionOptions(command).action(async (flags: VersionFlags) => {
    const { checkImage = false, output } = flags;
    if (checkImage) return checkImages(terminal, flags);
    terminal.out(output === 'table' ? `${VERSION}\n` : renderData({ version: VERSION }, output));
  });
}

async function checkImages(terminal: Terminal, { namespace, output, ...flags }: VersionFlags): Promise<void> {
  const { readWorkloads } = await import('./read-workloads.ts');
  const { imageRows } = await import('./versions.ts');
  const seen = await withClient(flags, (client) => readWorkloads(client, namespace));
  const rows = imageRows(seen, VERSION);
  if (rows.some(({ supported }) => supported === 'no')) terminal.exitCode = EXIT.problems;
  if (output !== 'table') return terminal.out(renderData({ version: VERSION, images: rows }, output));
  terminal.out(`this command: ${VERSION}\n`);
  if (rows.length === 0) return terminal.err('nothing of Isthmus runs there\n');
  const look = terminal.columns === undefined ? {} : { columns: terminal.columns };
  terminal.out(`\n${render(rows, COLUMNS, 'table', look)}`);
  for (const { namespace: where, kind, name, why } of rows)
    if (why !== undefined) terminal.err(`${kind} ${where}/${name}: ${why}\n`);
}
