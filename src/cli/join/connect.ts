/** The two clusters that a join is between. */
import type { Command } from 'commander';
import type { Client } from '../../kube/http/client.ts';
import type { Connection } from '../../kube/http/connection.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { connectionOptions } from '../kube/connect.ts';
import type { ConnectionFlags } from '../kube/connect.ts';

/** How the cluster is found that is joined or leaves, and the one that knows it. */
export interface TwoClusterFlags extends ConnectionFlags {
  centralKubeconfig?: string;
  centralContext?: string;
}

export interface Connected {
  client: Client;
  connection: Connection;
}

/** Here, `--context` is the other cluster; the one that knows it is that of the current context. */
export function centralOptions(command: Command): Command {
  return connectionOptions(command)
    .option('--central-kubeconfig <file>', 'how to reach the cluster that joins (default: as the other)')
    .option('--central-context <name>', 'its context (default: the current one)');
}

/** Connects to one cluster for as long as the work takes. What its API server refuses is an error for people. */
export async function withCluster<T>(
  { kubeconfig, context }: ConnectionFlags,
  work: (connected: Connected) => Promise<T>,
): Promise<T> {
  const { createClient } = await import('../../kube/http/client.ts');
  const { ApiError, userErrorOf } = await import('../../kube/http/errors.ts');
  const { loadConnection } = await import('../../kube/http/kubeconfig.ts');
  const connection = loadConnection({ file: kubeconfig, context });
  const client = createClient(connection);
  try {
    return await work({ client, connection });
  } catch (error) {
    throw error instanceof ApiError ? userErrorOf(error) : error;
  } finally {
    await client.close();
  }
}

/** The flags of the cluster that joins. */
export const centralFlags = (flags: TwoClusterFlags): ConnectionFlags => {
  const kubeconfig = flags.centralKubeconfig ?? flags.kubeconfig;
  return {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(flags.centralContext !== undefined && { context: flags.centralContext }),
  };
};

const NAMESPACE = { group: '', version: 'v1', kind: 'Namespace' };

/** What tells one cluster from all others, wherever it is reached. */
export async function clusterUid(client: Client): Promise<string> {
  const found = await client.get(NAMESPACE, { name: 'kube-system' });
  if (!found?.metadata.uid) throw new IsthmusError('CLUSTER_REFUSED', 'it has no namespace kube-system');
  return found.metadata.uid;
}

export async function hasNamespace(client: Client, name: string): Promise<boolean> {
  return (await client.get(NAMESPACE, { name })) !== undefined;
}
