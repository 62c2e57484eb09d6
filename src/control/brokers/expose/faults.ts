/** What keeps exposed brokers from being reached, as far as that can be told from within. Pure. */
import type { Fault } from '../faults.ts';
import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster, HostPortExposure, LoadBalancerExposure } from '../model/cluster.ts';
import type { Observed } from '../observe.ts';
import { podFacts } from '../roll/pod-facts.ts';
import { placedBrokers } from './endpoints.ts';
import { internalFaults } from './internal-addresses.ts';

export function exposureFaults(observed: Observed, cluster: BrokerCluster): Fault[] {
  const exposed = cluster.listeners.flatMap(({ name, exposure }) => (exposure ? [{ name, exposure }] : []));
  const isNamed = exposed.some(({ exposure }) => exposure.hostPattern !== undefined);
  return [
    ...(isNamed && !observed.dnsEndpoints ? [UNPUBLISHED] : []),
    ...internalFaults(observed, cluster),
    ...exposed.flatMap(({ name, exposure }) =>
      exposure.by === 'hostport'
        ? nodeFaults(observed, cluster, name, exposure)
        : balancerFaults(cluster, name, exposure),
    ),
  ];
}

/** What schedulers say where each node that would do has a pod with this port. */
const PORTS_TAKEN = /free ports/;

/** One port for all brokers is one broker a node: those that are too many find none. */
export function placementFaults({ pods }: Pick<Observed, 'pods'>, cluster: BrokerCluster): Fault[] {
  const ports = cluster.listeners.flatMap(({ exposure }) => (exposure?.by === 'hostport' ? [exposure.port] : [])); // prettier-ignore
  if (ports.length === 0) return [];
  return pods.flatMap((pod): Fault[] => {
    const { unplaced } = podFacts(pod);
    if (unplaced === undefined || !PORTS_TAKEN.test(unplaced)) return [];
    const message = `${pod.metadata.name} finds no node where port ${ports.join(' and ')} is free: each exposed broker needs a node of its own; add nodes, or have fewer brokers (${unplaced})`;
    return [{ reason: 'TooFewNodes', path: [], message }];
  });
}

export const UNPUBLISHED = {
  reason: 'NoDNSEndpoints',
  path: [],
  message:
    'the names of brokers are published by DNSEndpoints, and this cluster does not have the kind; install external-dns and its CRD, or `isthmus install --crds external-dns`',
} as const satisfies Fault;

const nodeFaults = (
  observed: Observed,
  cluster: BrokerCluster,
  listener: string,
  exposure: HostPortExposure,
): Fault[] =>
  placedBrokers(observed, cluster, exposure)
    .filter(({ addresses }) => addresses.length === 0)
    .map(({ id }) => addressFault(listener, id));

export const addressFault = (listener: string, id: number) =>
  ({
    reason: 'NoNodeAddress',
    path: [],
    message: `listener "${listener}": the node that broker ${id} runs on has no address that is known; see its status.addresses, and whether the pod-set controller runs`,
  }) as const satisfies Fault;

function balancerFaults(
  cluster: BrokerCluster,
  listener: string,
  { addresses }: LoadBalancerExposure,
): Fault[] {
  const ids = nodesOf(cluster).flatMap(({ node }) => (hasRole(node, 'broker') ? [node.id] : []));
  const without = ['bootstrap', ...ids].filter((id) => (addresses[id] ?? []).length === 0);
  if (without.length === 0) return [];
  const message = `listener "${listener}": the load balancers of ${without.join(', ')} have no address yet; if that lasts, see the events of their Services, and whether this cluster has load balancers at all`;
  return [{ reason: 'LoadBalancerPending', path: [], message }];
}
