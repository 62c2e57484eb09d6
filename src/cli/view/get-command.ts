import { Command } from 'commander';
import type { AnyObject } from '../../kube/object.ts';
import { connectionOptions, namespaceOf, namespaceOptions, withClient } from '../kube/connect.ts';
import type { ConnectionFlags, NamespaceFlags } from '../kube/connect.ts';
import { objectOutputOption, render, renderData } from '../output.ts';
import type { ObjectFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';

interface GetFlags extends ConnectionFlags, NamespaceFlags {
  output: ObjectFormat;
  headers: boolean;
  selector?: string;
}

/** `isthmus get KIND`: resources with their state and reason, which kubectl's columns do not put together. */
export function getCommand(terminal: Terminal): Command {
  const command = new Command('get')
    .description('list resources with their state and the reason of it')
    .argument('<kind>', 'a kind, or KIND/NAME')
    .argument('[name]', 'one of them')
    .option('-l, --selector <labels>', 'only those with these labels, as in a=b,c=d')
    .option('--no-headers', 'leave the headings out')
    .addOption(objectOutputOption());
  return connectionOptions(namespaceOptions(command)).action(
    async (word: string, second: string | undefined, flags: GetFlags) => {
      const { parseTarget } = await import('../kube/target.ts');
      const { findObject } = await import('../kube/find.ts');
      const { listOf } = await import('../kube/read.ts');
      const { columnsOf } = await import('./columns.ts');
      const { kind, name } = parseTarget(word, second);
      const { output, selector, headers, allNamespaces = false } = flags;
      const objects = await withClient(flags, async (client) => {
        const namespace = namespaceOf(flags, client);
        return name === undefined
          ? listOf(client, kind, { namespace, labelSelector: selector })
          : [await findObject(client, kind, { namespace: namespace ?? client.namespace, name })];
      });
      if (output === 'name')
        terminal.out(objects.map(({ metadata }) => `${kind.singular}/${metadata.name}\n`).join(''));
      else if (output === 'json' || output === 'yaml')
        terminal.out(renderData(dataOf(objects, name !== undefined), output));
      else if (objects.length === 0) terminal.err(`no ${kind.plural} found\n`);
      else {
        const columns = columnsOf({ kind, allNamespaces, wide: output === 'wide', now: Date.now() });
        terminal.out(render(objects, columns, 'table', { headers, columns: terminal.columns }));
      }
    },
  );
}

/** As kubectl has it: without the book-keeping of field managers. */
function dataOf(objects: readonly AnyObject[], isOne: boolean): object | undefined {
  const items = objects.map(({ metadata, ...rest }) => {
    const kept = { ...metadata };
    delete kept.managedFields;
    return { ...rest, metadata: kept };
  });
  return isOne ? items[0] : { apiVersion: 'v1', kind: 'List', items };
}
