import type { Command } from 'commander';
import type { Client } from '../../kube/http/client.ts';
import { parseNamespace } from '../arguments.ts';

/** The flags by which a cluster is found, spelled as kubectl's. */
export interface ConnectionFlags {
  kubeconfig?: string;
  context?: string;
}

/** And those that say where in it to look. */
export interface NamespaceFlags {
  namespace?: string;
  allNamespaces?: boolean;
}

export function connectionOptions(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'how to reach the cluster (default: $KUBECONFIG, then ~/.kube/config, then the pod’s own account)',
    )
    .option('--context <name>', 'the kubeconfig context to use');
}

export function namespaceOptions(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'where to look (default: the context’s namespace)', parseNamespace)
    .option('-A, --all-namespaces', 'look everywhere');
}

/** The namespace that flags mean: undefined for all. */
export function namespaceOf(
  { namespace, allNamespaces }: NamespaceFlags,
  client: Client,
): string | undefined {
  return allNamespaces ? undefined : (namespace ?? client.namespace);
}

/** Runs a command's work with a client, and ends its connections. What the API server refuses is an error for people. */
export async function withClient<T>(
  flags: ConnectionFlags,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { createClient } = await import('../../kube/http/client.ts');
  const { ApiError, userErrorOf } = await import('../../kube/http/errors.ts');
  const { loadConnection } = await import('../../kube/http/kubeconfig.ts');
  const client = createClient(loadConnection({ file: flags.kubeconfig, context: flags.context }));
  try {
    return await work(client);
  } catch (error) {
    throw error instanceof ApiError ? userErrorOf(error) : error;
  } finally {
    await client.close();
  }
}
