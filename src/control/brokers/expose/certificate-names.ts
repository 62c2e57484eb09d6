import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { podName } from '../model/names.ts';
import { exposedHost } from './names.ts';
import { publicAddresses } from './places.ts';

/**
 * What clients from outside are told, or begin at: in the certificate of a broker. An address is known when its pod has a place, and is
 * said of it; until then what the certificate has (`held`) stays in it: most pods come back to where they were.
 */
export function exposedNames(
  cluster: BrokerCluster,
  pod: string,
  annotations: Readonly<Record<string, string>>,
  held: readonly string[],
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
    if (exposure.by === 'hostport') {
      const known = publicAddresses(annotations, exposure.addressType);
      return known.length > 0 ? known : held;
    }
    return [broker.node.id, 'bootstrap'].flatMap((id) => exposure.addresses[id] ?? []);
  });
}
