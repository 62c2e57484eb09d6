import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import { parseNamespace } from './arguments.ts';
import { connectLocal } from './dns-cluster.ts';
import { EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';

interface UnimportFlags {
  config: string;
  namespace: string;
}

/** A DNS server that still runs imports anew within seconds. */
const RESTORED_MS = 3000;

/** `isthmus dns unimport`: removes by hand what the DNS server has imported. */
export function dnsUnimportCommand(terminal: Terminal): Command {
  return new Command('unimport')
    .description(
      'remove the services that were imported from other clusters, after the DNS server has been removed',
    )
    .option('-n, --namespace <name>', 'where the DNS server runs, or ran', parseNamespace, 'isthmus-system')
    .action(async (_flags: object, command: Command) => {
      const { config, namespace } = command.optsWithGlobals<UnimportFlags>();
      const { loadDnsCommandConfig } = await import('./dns-config.ts');
      const { kubernetes } = loadDnsCommandConfig(config, process.env);
      if (!kubernetes) throw new IsthmusError('USAGE', `${config} names no cluster`);
      const { removeImports } = await import('../control/discover/imports/removal.ts');
      await using local = await connectLocal(kubernetes, 'dns unimport');
      const remove = () => removeImports(() => local.cluster.client, namespace);
      const { deleted, errors } = await remove();
      for (const object of deleted) terminal.out(`${object}: removed\n`);
      for (const { object, error } of errors) terminal.err(`${object}: ${messageOf(error)}\n`);
      if (deleted.length + errors.length === 0) terminal.out(`nothing was imported from ${namespace}\n`);
      if (errors.length > 0) terminal.exitCode = EXIT.problems;
      if (errors.length > 0 || deleted.length === 0) return;
      await delay(RESTORED_MS);
      if ((await remove()).deleted.length === 0) return;
      terminal.err(
        'A DNS server that still runs has imported them again: set `import: false`, or remove the server first.\n',
      );
      terminal.exitCode = EXIT.problems;
    });
}
