import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { IsthmusError } from '../ops/errors.ts';
import { parseNamespace } from './arguments.ts';
import { connectLocal } from './dns-cluster.ts';
import { EXIT } from './exit.ts';
import type { Terminal } from './terminal.ts';

interface UndelegateFlags {
  config: string;
  namespace: string;
}

/** A DNS server that still runs restores the delegation within seconds. */
const RESTORED_MS = 3000;

/** `isthmus dns undelegate`: removes the delegation from the cluster's own DNS by hand. */
export function dnsUndelegateCommand(terminal: Terminal): Command {
  return new Command('undelegate')
    .description(
      "remove the delegated zones from the cluster's own DNS, after the DNS server has been removed",
    )
    .option('-n, --namespace <name>', 'where the DNS server runs, or ran', parseNamespace, 'isthmus-system')
    .action(async (_flags: object, command: Command) => {
      const { config, namespace } = command.optsWithGlobals<UndelegateFlags>();
      const { loadDnsCommandConfig, zoneTexts } = await import('./dns-config.ts');
      const { dns, kubernetes } = loadDnsCommandConfig(config, process.env);
      if (!kubernetes) throw new IsthmusError('USAGE', `${config} names no cluster`);
      const { isDelegated, othersDelegating, removeDelegations } =
        await import('../control/discover/delegation/undelegate.ts');
      const { optionsOf } = await import('../control/discover/delegation/settings.ts');
      const { DNS_NAME } = await import('../control/discover/install.ts');
      const { userErrorOf } = await import('../kube/http/errors.ts');
      const options = optionsOf(kubernetes.delegation ?? false);
      const service = { namespace, name: options.service ?? DNS_NAME };
      const given = { service, zones: zoneTexts(dns.zones), options };
      await using local = await connectLocal(kubernetes, 'dns undelegate');
      const removals = await removeDelegations(local.cluster, given).catch((error: unknown) => {
        throw userErrorOf(error);
      });
      for (const { platform, object, problem } of removals)
        terminal.out(`${object || platform}: ${problem ?? 'removed'}\n`);
      if (removals.length === 0) {
        const others = await othersDelegating(local.cluster, given);
        const more = others.map((owner) => `; to remove what ${owner} delegates: -n ${owner.split('/')[0]}`);
        terminal.out(`nothing is delegated from ${namespace}${more.join('')}\n`);
      }
      if (removals.some(({ problem }) => problem !== undefined)) terminal.exitCode = EXIT.problems;
      else if (removals.length > 0) {
        await delay(RESTORED_MS);
        if (!(await isDelegated(local.cluster, given))) return;
        terminal.err(
          'A DNS server that still runs has restored it: set `delegation: false`, or remove the server first.\n',
        );
        terminal.exitCode = EXIT.problems;
      }
    });
}
