/** Where the brokers of a cluster are, and the DNS records that say so. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import { hasLabelSet } from '../../kernel/targets.ts';
import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster, Exposure, HostPortExposure, Listener } from '../model/cluster.ts';
import { ownerLabels, podName } from '../model/names.ts';
import { dnsEndpoint } from '../objects/exposed.ts';
import type { Observed } from '../observe.ts';
import { podFacts } from '../roll/pod-facts.ts';
import { withKept } from './kept-records.ts';
import { dnsEndpointName, exposedHost } from './names.ts';
import { placedAmong } from './places.ts';
import { recordsOf } from './records.ts';
import type { Endpoint, PlacedBroker } from './records.ts';

/** Where clients of a listener are led to. */
export interface Places {
  /** By id; those whose pods run nowhere, or whose load balancer has no address, are not among them. */
  brokers: PlacedBroker[];
  /** Where they begin; undefined for any of the brokers. */
  bootstrap: readonly string[] | undefined;
}

export function placesOf(
  observed: Pick<Observed, 'pods'>,
  cluster: BrokerCluster,
  exposure: Exposure,
): Places {
  if (exposure.by === 'hostport')
    return { brokers: placedBrokers(observed, cluster, exposure), bootstrap: undefined };
  const brokers = nodesOf(cluster).flatMap(({ node }): PlacedBroker[] => {
    const { id } = node;
    const addresses = exposure.addresses[id] ?? [];
    const isThere = hasRole(node, 'broker') && addresses.length > 0;
    return isThere ? [{ id, addresses, told: addresses[0], ready: true }] : [];
  });
  return {
    brokers: brokers.toSorted((a, b) => a.id - b.id),
    bootstrap: exposure.addresses['bootstrap'] ?? [],
  };
}

/** The records of a listener that has names; none of one that has not. */
export function recordsFor(
  observed: Pick<Observed, 'pods' | 'dnsEndpoints'>,
  cluster: BrokerCluster,
  { name, exposure }: Pick<Listener, 'name' | 'exposure'>,
): Endpoint[] {
  if (exposure?.hostPattern === undefined || exposure.isWithdrawn) return [];
  const { hostPattern } = exposure;
  const { brokers, bootstrap } = placesOf(observed, cluster, exposure);
  const published = observed.dnsEndpoints?.find(
    ({ metadata }) => metadata.name === dnsEndpointName(cluster.name, name),
  );
  const hosts = ['bootstrap' as const, ...brokerIds(cluster)].map((id) => exposedHost(hostPattern, id));
  return withKept(recordsOf(hostPattern, brokers, bootstrap), hosts, published);
}

export const brokerIds = (cluster: BrokerCluster): number[] =>
  nodesOf(cluster)
    .flatMap(({ node }) => (hasRole(node, 'broker') ? [node.id] : []))
    .toSorted((a, b) => a - b);

/** Brokers whose pods run on a node, by id. */
export function placedBrokers(
  { pods }: Pick<Observed, 'pods'>,
  cluster: BrokerCluster,
  { addressType }: Pick<HostPortExposure, 'addressType'>,
): PlacedBroker[] {
  const brokers = nodesOf(cluster).flatMap(({ pool, node }) =>
    hasRole(node, 'broker') ? [{ id: node.id, pod: podName(cluster.name, pool.name, node.id) }] : [],
  );
  return placedAmong(pods, brokers, addressType, (pod) => podFacts(pod).ready);
}

/** Of every listener that has names; those of a listener that went are emptied. None where nobody takes them. */
export function dnsEndpointsOf(
  observed: Pick<Observed, 'pods' | 'dnsEndpoints'>,
  cluster: BrokerCluster,
): AnyObject[] {
  const { dnsEndpoints } = observed;
  if (!dnsEndpoints) return [];
  const wanted = cluster.listeners
    .filter(({ exposure }) => exposure?.hostPattern !== undefined)
    .map((listener) =>
      dnsEndpoint(
        cluster,
        dnsEndpointName(cluster.name, listener.name),
        recordsFor(observed, cluster, listener),
      ),
    );
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const former = dnsEndpoints.filter(
    (one) => !names.has(one.metadata.name) && hasLabelSet(one, ownerLabels(cluster.name)),
  );
  return [...wanted, ...former.map(({ metadata }) => dnsEndpoint(cluster, metadata.name, []))];
}
