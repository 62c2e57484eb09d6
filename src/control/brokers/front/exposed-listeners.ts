/** The listeners of a Kafka, with what those that are exposed were given: ports of nodes, addresses of load balancers. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { LOCAL } from '../../kernel/plan.ts';
import { balancerAddresses } from '../expose/load-balancers.ts';
import { addressKey, portKey } from '../expose/names.ts';
import { givenTo, hostPortsOf } from '../expose/ports.ts';
import type { HostPorts, SeenPorts } from '../expose/ports.ts';
import type { Fault } from '../faults.ts';
import type { Charter, CharterNode } from '../model/charter.ts';
import type { Listener, LoadBalancerExposure } from '../model/cluster.ts';
import { listenersOf } from './listeners.ts';
import type { ReadListener } from './listeners.ts';

/** A listener whose port of the nodes is kept for it. */
export interface Reservation {
  name: string;
  port: number;
  hostPort: number | undefined;
  /** The number that other clusters are to keep: the same, or the one that it is going to be. */
  elsewhere: number | undefined;
  /** Whether the number that its Service was given is somebody else's, and goes back. */
  isReturned: boolean;
}

export interface ExposedListeners extends Pick<Charter, 'hostPorts' | 'addresses'> {
  /** Those that can be had now: one that waits for a port of the nodes comes when it has one. */
  listeners: Listener[];
  reservations: Reservation[];
  /** What is wrong with what is written. */
  faults: Fault[];
  /** What is still to come, or was not to be foreseen: no reason to refuse the others. */
  portFaults: Fault[];
}

/** What is seen of ports, here and elsewhere. */
export interface PortSight extends Omit<SeenPorts, 'cluster' | 'recorded' | 'given' | 'isKeptElsewhere'> {
  /** Services of this cluster. */
  services: readonly AnyObject[];
  /** By name: those in other Kubernetes clusters. */
  servicesElsewhere?: ReadonlyMap<string, readonly AnyObject[]>;
}

export function exposedListeners(
  { kafka, charter, ports }: { kafka: Kafka; charter: Charter; ports: PortSight },
  nodes: readonly CharterNode[],
): ExposedListeners {
  const { listeners: read, faults } = listenersOf(kafka);
  const wishes = read.flatMap(({ name, wish }) => (wish?.by === 'hostport' ? [{ name, wish }] : []));
  const brokers = nodes.filter(({ roles }) => roles.includes('broker'));
  const balanced = read.filter(({ wish }) => wish?.by === 'loadbalancer').map(({ name }) => ({ name, brokers })); // prettier-ignore
  const addresses = balancerAddresses(balanced, kafka.metadata.name, ports.services, charter.addresses);
  const away = new Set(brokers.map(({ target }) => target).filter((target) => target !== LOCAL));
  const { name: cluster } = kafka.metadata;
  const given = hostPortsOf(wishes, {
    ...ports,
    cluster: kafka.metadata,
    recorded: charter.hostPorts,
    given: givenTo(cluster, ports.services),
    isKeptElsewhere: (listener, port) =>
      [...away].every(
        (place) => givenTo(cluster, ports.servicesElsewhere?.get(place) ?? [])(listener) === port,
      ),
  });
  const portOf = ({ name, port, wish }: ReadListener) => {
    if (wish?.by !== 'hostport') return port;
    return given.waiting.includes(name) ? undefined : given.hostPorts.get(portKey(name, wish));
  };
  return {
    listeners: read.flatMap((one): Listener[] => {
      const { wish, ...listener } = one;
      const port = portOf(one);
      if (!wish) return [{ ...listener, exposure: undefined }];
      if (port === undefined) return [];
      if (wish.by === 'hostport') return [{ ...listener, exposure: { ...wish, port } }];
      const ofListener = addressesOf(addresses, listener.name, brokers);
      return [{ ...listener, exposure: { ...wish, port, addresses: ofListener } }];
    }),
    addresses,
    hostPorts: Object.fromEntries(given.hostPorts),
    reservations: read.flatMap((one) =>
      one.wish?.by === 'hostport' && one.wish.strategy === 'reserve'
        ? [{ name: one.name, port: one.port, hostPort: portOf(one), elsewhere: portOf(one) ?? given.proposed.get(one.name), isReturned: given.returned.includes(one.name) }] // prettier-ignore
        : [],
    ),
    faults,
    portFaults: portFaults(given),
  };
}

/** Those of one listener, by node id and `bootstrap`. */
function addressesOf(
  all: Charter['addresses'],
  listener: string,
  brokers: readonly CharterNode[],
): LoadBalancerExposure['addresses'] {
  const ids = ['bootstrap' as const, ...brokers.map(({ id }) => id)];
  return Object.fromEntries(ids.map((id) => [id, all[addressKey(listener, id)] ?? []]));
}

const PATH = ['spec', 'kafka', 'listeners'];

const portFaults = ({ waiting, shared }: HostPorts): Fault[] => [
  ...waiting.map((listener): Fault => ({
    reason: 'HostPortPending',
    path: PATH,
    message: `listener "${listener}" has no port of the nodes yet; if it stays so, all of them are taken, or no cluster has one free that all others have`,
  })),
  ...shared.map(({ name, port }): Fault => ({
    reason: 'HostPortShared',
    path: PATH,
    message: `listener "${name}": others have port ${port} of the nodes, too, so their pods and these brokers cannot share a node, and clients may be led astray; rename the listener in one of the clusters to give it another port`,
  })),
];
