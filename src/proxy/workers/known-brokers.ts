import { BoundedMap } from '../../ops/bounded-map.ts';
import { MAX_BROKERS, sameAddress } from '../cluster/topology.ts';
import { targetKey } from '../config/canonical.ts';
import type { Address, ProxyConfig } from '../config/model.ts';

/** Where brokers are, as any worker has learned, by the `targetKey` of their cluster. */
export interface KnownBrokers {
  learn(cluster: string, nodes: [number, Address][]): void;
  forget(cluster: string, node: number, address: Address): void;
  find(cluster: string, node: number): Address | undefined;
  /** Ids of the brokers of a cluster. */
  nodes(cluster: string): number[];
  all(): [cluster: string, nodes: [number, Address][]][];
  /** Forgets clusters that the configuration does not have, or has with another target. */
  retain(config: ProxyConfig): void;
}

export function createKnownBrokers(): KnownBrokers {
  const clusters = new Map<string, Map<number, Address>>();
  return {
    learn(cluster, nodes) {
      const known = clusters.get(cluster) ?? new BoundedMap<number, Address>(MAX_BROKERS);
      clusters.set(cluster, known);
      for (const [node, address] of nodes) known.set(node, address);
    },
    forget(cluster, node, address) {
      const known = clusters.get(cluster);
      if (sameAddress(known?.get(node), address)) known?.delete(node);
    },
    find: (cluster, node) => clusters.get(cluster)?.get(node),
    nodes: (cluster) => [...(clusters.get(cluster)?.keys() ?? [])],
    all: () => [...clusters].map(([cluster, nodes]) => [cluster, [...nodes]]),
    retain({ virtualClusters }) {
      const keys = new Set(virtualClusters.map(targetKey));
      for (const key of clusters.keys()) if (!keys.has(key)) clusters.delete(key);
    },
  };
}
