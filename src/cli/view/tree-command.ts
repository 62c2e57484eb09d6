import { Command } from 'commander';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';
import { connectionOptions, namespaceOf, namespaceOptions, withClient } from '../kube/connect.ts';
import type { ConnectionFlags, NamespaceFlags } from '../kube/connect.ts';
import { outputOption, renderData } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';

interface TreeFlags extends ConnectionFlags, NamespaceFlags {
  output: OutputFormat;
}

/** `isthmus tree KIND/NAME`: what a resource leads to and what was made for it, each with its state. */
export function treeCommand(terminal: Terminal): Command {
  const command = new Command('tree')
    .description('show what hangs together with a resource, and how each of it is')
    .argument('<kind>', 'KIND/NAME, as in virtualkafkacluster/orders, kafkaproxy/edge or kafka/main')
    .argument('[name]', 'its name, if it is not given there')
    .addOption(outputOption());
  return connectionOptions(namespaceOptions(command)).action(
    async (word: string, second: string | undefined, flags: TreeFlags) => {
      const { parseNamed } = await import('../kube/target.ts');
      const { findObject } = await import('../kube/find.ts');
      const { treeOf } = await import('../../view/tree.ts');
      const { treeText } = await import('./tree-text.ts');
      const { kind, name } = parseNamed(word, second);
      const tree = await withClient(flags, async (client) => {
        const namespace = namespaceOf(flags, client) ?? client.namespace;
        const root = await findObject(client, kind, { namespace, name });
        return treeOf(root, { objects: await readForest(client, namespace) });
      });
      if (flags.output === 'table') terminal.out(treeText(tree, terminal.colors ?? false));
      else terminal.out(renderData(tree, flags.output));
    },
  );
}

const BUILT_IN = [
  { group: 'apps', kind: 'Deployment', versions: ['v1'] },
  { group: '', kind: 'Pod', versions: ['v1'] },
  { group: '', kind: 'Service', versions: ['v1'] },
  { group: '', kind: 'PersistentVolumeClaim', versions: ['v1'] },
  { group: 'policy', kind: 'PodDisruptionBudget', versions: ['v1'] },
  { group: 'networking.k8s.io', kind: 'NetworkPolicy', versions: ['v1'] },
];
/** Of these only the names are anybody's business. */
const NAMES_ONLY = [
  { group: '', kind: 'Secret', versions: ['v1'] },
  { group: '', kind: 'ConfigMap', versions: ['v1'] },
];

/** Everything in a namespace that a tree may have. A kind that may not be read is left out. */
async function readForest(client: Client, namespace: string): Promise<AnyObject[]> {
  const { listOf, settle } = await import('../kube/read.ts');
  const { KINDS } = await import('../../resources/registry.ts');
  const kinds = [...KINDS.filter(({ scope }) => scope === 'Namespaced'), ...BUILT_IN];
  const reads = await Promise.all([
    ...kinds.map((kind) => settle(listOf(client, kind, { namespace }))),
    ...NAMES_ONLY.map((kind) => settle(listOf(client, kind, { namespace, metadataOnly: true }))),
  ]);
  return reads.flatMap((read) => ('value' in read ? read.value : []));
}
