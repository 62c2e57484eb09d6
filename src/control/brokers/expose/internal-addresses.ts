/** Clients outside that are told an address within, though nobody said that this is meant. Pure. */
import { NODE_ANNOTATIONS } from '../../shared/node-annotations.ts';
import type { Fault } from '../faults.ts';
import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { podName } from '../model/names.ts';
import type { Observed } from '../observe.ts';
import { addressesIn, publicAddresses } from './places.ts';

export function internalFaults({ pods }: Pick<Observed, 'pods'>, cluster: BrokerCluster): Fault[] {
  const byName = new Map(pods.map(({ metadata }) => [metadata.name, metadata.annotations ?? {}]));
  const brokers = nodesOf(cluster).filter(({ node }) => hasRole(node, 'broker'));
  return cluster.listeners.flatMap(({ name, exposure }): Fault[] => {
    if (exposure?.by !== 'hostport' || exposure.addressType === 'InternalIP') return [];
    const within = brokers.filter(({ pool, node }) => {
      const annotations = byName.get(podName(cluster.name, pool.name, node.id)) ?? {};
      return isWithin(annotations, exposure.addressType);
    });
    const ids = within.map(({ node }) => node.id).toSorted((a, b) => a - b);
    if (ids.length === 0) return [];
    const message = `listener "${name}": the nodes of brokers ${ids.join(', ')} have no ExternalIP, so clients are told the InternalIP; set preferredAddressType: InternalIP if they reach that, or use type: loadbalancer`;
    return [{ reason: 'NoPublicAddress', path: [], message }];
  });
}

function isWithin(annotations: Readonly<Record<string, string>>, preferred: string | undefined): boolean {
  const told = publicAddresses(annotations, preferred);
  if (told.length === 0) return false;
  const all = addressesIn(annotations[NODE_ANNOTATIONS.addresses]);
  const internal = new Set(all.flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : [])));
  return told.every((address) => internal.has(address));
}
