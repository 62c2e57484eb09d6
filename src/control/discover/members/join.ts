/** Connects to the clusters that the settings and the Secrets name. */
import type { Cache } from '../../../kube/cache/cache.ts';
import { createCluster } from '../../../kube/cluster.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import { createClusters } from '../../../kube/clusters.ts';
import type { Clusters, Secret } from '../../../kube/clusters.ts';
import { loadConnection } from '../../../kube/http/kubeconfig.ts';
import type { Log } from '../../../ops/log.ts';
import { openWatches } from '../../kernel/watches.ts';
import { clusterOf, roadsOf } from '../../targets/joined-secret.ts';
import { JOIN_WATCHES } from '../../targets/watches.ts';
import type { ReachModes } from './cluster-set.ts';
import { REACH_ANNOTATION } from '../names.ts';
import { isReachMode } from './nodes.ts';
import type { DiscoverSettings } from '../settings.ts';

export interface JoinedClusters {
  local: Cluster;
  clusters: Clusters;
  /** How they are reached from here. */
  reachModes: ReachModes;
  /** The namespace of this program in the local cluster. */
  namespace: string;
  /** Resolves when all Secrets have been read. */
  joined: Promise<unknown>;
  /** The Secret of a joined cluster. */
  objectOf: (cluster: string) => Secret | undefined;
}

/** Connects to the local cluster and to those that it has been joined with. `clusters.stop()` disconnects. */
export function joinClusters(settings: DiscoverSettings, log: Log): JoinedClusters {
  const connection = loadConnection({ file: settings.kubeconfig, context: settings.context });
  const local = createCluster({ name: settings.clusterId, connection, log });
  const clusters = createClusters({ log });
  clusters.add(local);
  for (const { id, kubeconfig, context } of settings.clusters)
    clusters.add(createCluster({ name: id, connection: loadConnection({ file: kubeconfig, context }), log }));
  const namespace = process.env['POD_NAMESPACE'] ?? connection.namespace;
  const { secretsNamespace = namespace } = settings;
  if (secretsNamespace === null)
    return {
      local,
      clusters,
      reachModes: reachModesOf(settings),
      namespace,
      joined: Promise.resolve(),
      objectOf: () => undefined,
    };
  const watched = openWatches(JOIN_WATCHES, { cluster: local, namespaces: [secretsNamespace], log });
  const secrets = watched.caches().get('secrets') as unknown as Cache<Secret>;
  clusters.follow(secrets, { nameOf: idOf });
  return {
    local,
    clusters,
    reachModes: reachModesOf(settings, secrets),
    namespace: secretsNamespace,
    joined: secrets.synced,
    objectOf: (cluster) => secrets.find('cluster', cluster)[0],
  };
}

/** The mode in the cluster's entry of the configuration, else on its Secret, else the one for all clusters. */
function reachModesOf(settings: DiscoverSettings, secrets?: Cache<Secret>): ReachModes {
  return {
    of(cluster) {
      const annotation = secrets?.find('cluster', cluster)[0]?.metadata.annotations?.[REACH_ANNOTATION];
      const { reach } = settings.clusters.find(({ id }) => id === cluster) ?? {};
      return reach ?? (isReachMode(annotation) ? annotation : settings.reach);
    },
    subscribe: (notify) =>
      secrets?.subscribe(notify, { keysOf: (secret) => [idOf(secret) ?? []].flat() }) ?? (() => {}),
  };
}

/** A cluster that was joined for something else is none of ours. */
function idOf(secret: Secret): string | undefined {
  return roadsOf(secret).includes('discover') ? clusterOf(secret) : undefined;
}
