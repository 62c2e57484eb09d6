/** Which nodes elsewhere a pool's own cluster is to measure the way to. Pure. */
import { PEERS_A_CLUSTER, PEERS_ANNOTATION } from '../../shared/peers.ts';
import { hasRole } from '../model/cluster.ts';
import type { BrokerCluster, Pool } from '../model/cluster.ts';
import { CONTROL_PLANE_PORT, REPLICATION_PORT } from '../model/names.ts';
import { hostOfNode } from './network.ts';

export function peersAnnotation(cluster: BrokerCluster, pool: Pool): Record<string, string> {
  if (cluster.network === undefined) return {};
  const away = cluster.pools.filter(({ target }) => target !== pool.target);
  const addresses = away.flatMap((one) =>
    one.nodes.map((node) => {
      const port = hasRole(node, 'broker') ? REPLICATION_PORT : CONTROL_PLANE_PORT;
      return [one.networkId ?? one.target, `${hostOfNode(cluster, one, node.id)}:${port}`] as const;
    }),
  );
  const peers = [...Map.groupBy(addresses, ([name]) => name)].map(
    ([name, all]) => [name, all.map(([, address]) => address).slice(0, PEERS_A_CLUSTER)] as const,
  );
  return peers.length === 0 ? {} : { [PEERS_ANNOTATION]: JSON.stringify(Object.fromEntries(peers)) };
}
