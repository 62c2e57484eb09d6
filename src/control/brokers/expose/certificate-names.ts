import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster, Exposure } from '../model/cluster.ts';
import { podName } from '../model/names.ts';
import { exposedHost } from './names.ts';
import { publicAddresses } from './places.ts';

/**
 * What clients are told, or begin at, besides the names of Services: in the certificate of a broker. An address is known when its pod has a place, and is
 * said of it; until then what the certificate has (`held`) stays in it: most pods come back to where they were.
 */
export function exposedNames(
  cluster: BrokerCluster,
  pod: string,
  annotations: Readonly<Record<string, string>>,
  held: readonly string[],
): string[] {
  const broker = nodesOf(cluster).find(
    ({ pool, node }) => hasRole(node, 'broker') && podName(cluster.name, pool.name, node.id) === pod,
  );
  if (!broker) return [];
  return cluster.listeners.flatMap(({ tls, alternativeNames, exposure }) => {
    if (!tls) return [];
    return [...alternativeNames, ...(exposure ? namesOf(exposure, broker.node.id, annotations, held) : [])];
  });
}

function namesOf(
  exposure: Exposure,
  broker: number,
  annotations: Readonly<Record<string, string>>,
  held: readonly string[],
): readonly string[] {
  const { hostPattern } = exposure;
  if (hostPattern !== undefined)
    return [exposedHost(hostPattern, broker), exposedHost(hostPattern, 'bootstrap')];
  if (exposure.by === 'hostport') {
    const known = publicAddresses(annotations, exposure.addressType);
    return known.length > 0 ? known : held;
  }
  return [broker, 'bootstrap'].flatMap((id) => exposure.addresses[id] ?? []);
}
