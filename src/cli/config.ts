import { Command, Option } from 'commander';
import type { AnyObject } from '../kube/object.ts';
import { IsthmusError } from '../ops/errors.ts';
import { EXIT } from './exit.ts';
import { connectionOptions, withClient } from './kube/connect.ts';
import type { ConnectionFlags } from './kube/connect.ts';
import { parseNamespace } from './arguments.ts';
import { renderData } from './output.ts';
import type { Terminal } from './terminal.ts';

interface RenderFlags extends ConnectionFlags {
  filename?: string;
  namespace?: string;
  output: 'yaml' | 'json';
  clusterDomain: string;
}

/** `isthmus config`: configurations of proxies. */
export function configCommand(terminal: Terminal): Command {
  return new Command('config')
    .description('show configurations that the operator makes')
    .addCommand(renderCommand(terminal));
}

/** `isthmus config render`: what a proxy would be given, without what is secret in it. */
function renderCommand(terminal: Terminal): Command {
  const command = new Command('render')
    .description(
      'print what the operator would give to a proxy, for files or for what is in a cluster; secrets are left out',
    )
    .argument('[proxy]', 'the name of the KafkaProxy; needed where there are several')
    .option('-f, --filename <path>', 'a folder with YAML files, or a file, instead of a cluster')
    .option(
      '-n, --namespace <name>',
      'its namespace (default: the context’s; of files, default)',
      parseNamespace,
    )
    .option('--cluster-domain <name>', 'the domain of the cluster’s Services', 'cluster.local')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['yaml', 'json']).default('yaml'));
  return connectionOptions(command).action(async (wanted: string | undefined, flags: RenderFlags) => {
    const { renderProxy } = await import('./render/plan.ts');
    const { objects, namespace } = await read(flags);
    const name = proxyName(objects, namespace, wanted);
    const { clusterDomain } = flags;
    const { document, problems } = renderProxy(
      objects,
      { namespace, name },
      { now: Date.now(), clusterDomain },
    );
    for (const problem of problems) terminal.err(`✖ ${problem}\n`);
    if (problems.length > 0) terminal.exitCode = EXIT.problems;
    terminal.out(renderData(document, flags.output));
  });
}

async function read(flags: RenderFlags): Promise<{ objects: AnyObject[]; namespace: string }> {
  const { objectsOfCluster, objectsOfFolder } = await import('./render/sources.ts');
  const { existsSync } = await import('node:fs');
  const { filename, namespace = 'default' } = flags;
  if (filename === undefined)
    return withClient(flags, async (client) => {
      const where = flags.namespace ?? client.namespace;
      return { objects: await objectsOfCluster(client, where), namespace: where };
    });
  if (!existsSync(filename)) throw new IsthmusError('USAGE', `there is no folder or file ${filename}`);
  return { objects: objectsOfFolder(filename, namespace), namespace };
}

function proxyName(objects: readonly AnyObject[], namespace: string, wanted: string | undefined): string {
  const names = objects
    .filter(({ kind, metadata }) => kind === 'KafkaProxy' && metadata.namespace === namespace)
    .map(({ metadata }) => metadata.name);
  const found = wanted === undefined && names.length === 1 ? names[0] : names.find((name) => name === wanted);
  if (found !== undefined) return found;
  const there = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
  const problem = wanted === undefined ? 'name a KafkaProxy' : `there is no KafkaProxy "${wanted}"`;
  throw new IsthmusError('USAGE', `${problem}; in namespace ${namespace} ${there}`);
}
