import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { podName } from '../model/names.ts';
import { exposedHost } from './names.ts';
import { publicAddresses } from './places.ts';

/** What clients from outside are told, or begin at: in the certificate of a broker. An address is known when its pod has a place. */
export function exposedNames(
  cluster: BrokerCluster,
  pod: string,
  annotations: Readonly<Record<string, string>>,
): string[] {
  const broker = nodesOf(cluster).find(
    ({ pool, node }) => hasRole(pool, 'broker') && podName(cluster.name, pool.name, node.id) === pod,
  );
  if (!broker) return [];
  return cluster.listeners.flatMap(({ tls, exposure }) => {
    if (!tls || !exposure) return [];
    const { hostPattern } = exposure;
    if (hostPattern !== undefined)
      return [exposedHost(hostPattern, broker.node.id), exposedHost(hostPattern, 'bootstrap')];
    if (exposure.by === 'hostport') return publicAddresses(annotations, exposure.addressType);
    return [broker.node.id, 'bootstrap'].flatMap((id) => exposure.addresses[id] ?? []);
  });
}
