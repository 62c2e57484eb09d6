/** Clients outside that are told an address within, though nobody said that this is meant. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import { NODE_ANNOTATIONS } from '../../shared/node-annotations.ts';
import type { Fault } from '../faults.ts';
import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { podName } from '../model/names.ts';
import type { Observed } from '../observe.ts';
import { addressesIn, publicAddresses } from './places.ts';

export function internalFaults({ pods }: Pick<Observed, 'pods'>, cluster: BrokerCluster): Fault[] {
  const brokers = nodesOf(cluster)
    .filter(({ node }) => hasRole(node, 'broker'))
    .map(({ pool, node: { id } }) => ({ id, pod: podName(cluster.name, pool.name, id) }));
  return cluster.listeners.flatMap(({ name, exposure }) =>
    exposure?.by === 'hostport'
      ? internalFault(name, toldWithin(pods, brokers, exposure.addressType), ', or use type: loadbalancer')
      : [],
  );
}

/** The brokers of which clients are told an address within, by id; none where that is meant. */
export function toldWithin(
  pods: readonly AnyObject[],
  brokers: readonly { id: number; pod: string }[],
  preferred: string | undefined,
): number[] {
  if (preferred === 'InternalIP') return [];
  const byName = new Map(pods.map(({ metadata }) => [metadata.name, metadata.annotations ?? {}]));
  const within = brokers.filter(({ pod }) => isWithin(byName.get(pod) ?? {}, preferred));
  return within.map(({ id }) => id).toSorted((a, b) => a - b);
}

/** With what else the owner may do, if there is anything. */
export function internalFault(listener: string, brokers: readonly number[], otherwise = '') {
  if (brokers.length === 0) return [];
  const message = `listener "${listener}": the nodes of brokers ${brokers.join(', ')} have no ExternalIP, so clients are told the InternalIP; set preferredAddressType: InternalIP if they reach that${otherwise}`;
  return [{ reason: 'NoPublicAddress', path: [], message } as const];
}

function isWithin(annotations: Readonly<Record<string, string>>, preferred: string | undefined): boolean {
  const told = publicAddresses(annotations, preferred);
  if (told.length === 0) return false;
  const all = addressesIn(annotations[NODE_ANNOTATIONS.addresses]);
  const internal = new Set(all.flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : [])));
  return told.every((address) => internal.has(address));
}
