import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster, Exposure } from '../model/cluster.ts';
import { podName } from '../model/names.ts';
import { exposedHost } from './names.ts';
import { publicAddresses } from './places.ts';

/** What clients are told, or begin at, besides the names of Services: in the certificate of a broker. An address is known when its pod has a place. */
export function exposedNames(
  cluster: BrokerCluster,
  pod: string,
  annotations: Readonly<Record<string, string>>,
): string[] {
  const broker = nodesOf(cluster).find(
    ({ pool, node }) => hasRole(pool, 'broker') && podName(cluster.name, pool.name, node.id) === pod,
  );
  if (!broker) return [];
  return cluster.listeners.flatMap(({ tls, alternativeNames, exposure }) => {
    if (!tls) return [];
    return [...alternativeNames, ...(exposure ? namesOf(exposure, broker.node.id, annotations) : [])];
  });
}

function namesOf(
  exposure: Exposure,
  broker: number,
  annotations: Readonly<Record<string, string>>,
): string[] {
  const { hostPattern } = exposure;
  if (hostPattern !== undefined)
    return [exposedHost(hostPattern, broker), exposedHost(hostPattern, 'bootstrap')];
  if (exposure.by === 'hostport') return publicAddresses(annotations, exposure.addressType);
  return [broker, 'bootstrap'].flatMap((id) => exposure.addresses[id] ?? []);
}
