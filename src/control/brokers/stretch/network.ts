/** How nodes in different Kubernetes clusters find each other, by the network that joins those. Pure. */
import type { BrokerCluster, NetworkKind, Pool } from '../model/cluster.ts';
import { bootstrapServiceName, headlessServiceName, nodeHost, podName } from '../model/names.ts';

/** What is different from one network to another; names are the same in all of them. */
interface Network {
  /** Whether Services are made known to the other clusters by a ServiceExport. */
  exports: boolean;
}

/**
 * `submariner` and `mcs` answer for exported Services, and so does `isthmus`, our own DNS. With `cilium` the clusters' own DNS servers ask
 * each other, as the proposal has it, and nothing is exported.
 */
const NETWORKS: Readonly<Record<NetworkKind, Network>> = {
  submariner: { exports: true },
  mcs: { exports: true },
  cilium: { exports: false },
  isthmus: { exports: true },
};

export const NETWORK_KINDS = Object.keys(NETWORKS) as readonly NetworkKind[];

export const isNetworkKind = (text: string): text is NetworkKind => Object.hasOwn(NETWORKS, text);

/** Whether Services have to be exported for the nodes to find each other. */
export const exportsServices = ({ network }: Pick<BrokerCluster, 'network'>): boolean =>
  network !== undefined && NETWORKS[network].exports;

/** The domain of all Services of the clusters that are joined (KEP-1645). */
const CLUSTER_SET = 'svc.clusterset.local';

type Named = Pick<BrokerCluster, 'name' | 'namespace' | 'network'>;

/** The name that all other nodes know a node by. */
export function hostOfNode(
  cluster: Named,
  { name: pool, networkId }: Pick<Pool, 'name' | 'networkId'>,
  id: number,
): string {
  const pod = podName(cluster.name, pool, id);
  if (cluster.network === undefined) return nodeHost(cluster.name, cluster.namespace, pod);
  return `${pod}.${networkId}.${headlessServiceName(cluster.name)}.${cluster.namespace}.${CLUSTER_SET}`;
}

/** Where clients in any of the clusters begin; undefined where nothing is exported. */
export const clusterSetBootstrap = (cluster: Named): string | undefined =>
  exportsServices(cluster)
    ? `${bootstrapServiceName(cluster.name)}.${cluster.namespace}.${CLUSTER_SET}`
    : undefined;

/** The names that a node has beyond its own Kubernetes cluster, for its certificate; none where the Kafka is not stretched. */
export function clusterSetNames(
  cluster: Named,
  pool: Pick<Pool, 'name' | 'networkId'>,
  id: number,
): string[] {
  if (cluster.network === undefined) return [];
  const services = [bootstrapServiceName(cluster.name), headlessServiceName(cluster.name)];
  return [
    ...services.map((service) => `${service}.${cluster.namespace}.${CLUSTER_SET}`),
    hostOfNode(cluster, pool, id),
  ];
}
