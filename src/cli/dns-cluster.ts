import type { Cluster } from '../kube/cluster.ts';
import { IsthmusError } from '../ops/errors.ts';
import { createLog } from '../ops/log.ts';

/** Connects to the cluster that a DNS configuration is for, on behalf of a command. Fails if it does not answer. */
export async function connectLocal(
  settings: { clusterId: string; kubeconfig?: string | undefined; context?: string | undefined },
  role: string,
): Promise<AsyncDisposable & { cluster: Cluster }> {
  const { createCluster } = await import('../kube/cluster.ts');
  const { loadConnection } = await import('../kube/http/kubeconfig.ts');
  const connection = loadConnection({ file: settings.kubeconfig, context: settings.context });
  const cluster = createCluster({ name: settings.clusterId, connection, log: createLog('error', { role }) });
  const reachability = await cluster.probe();
  if (reachability.state === 'unreachable') {
    await cluster.stop();
    throw new IsthmusError('CLUSTER_UNREACHABLE', reachability.problem);
  }
  return { cluster, [Symbol.asyncDispose]: () => cluster.stop() };
}
