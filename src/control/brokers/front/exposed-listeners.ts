/** The listeners of a Kafka, with what those that are exposed were given: ports of nodes, addresses of load balancers. Pure. */
import { balancerAddresses } from '../expose/load-balancers.ts';
import { addressKey, portKey } from '../expose/names.ts';
import { hostPortsOf } from '../expose/ports.ts';
import type { Fault } from '../faults.ts';
import type { Charter, CharterNode } from '../model/charter.ts';
import type { Listener, LoadBalancerExposure } from '../model/cluster.ts';
import type { Written } from './kafka.ts';
import { listenersOf } from './listeners.ts';
import type { ReadListener } from './listeners.ts';

/** A listener whose port of the nodes is kept for it. */
export interface Reservation {
  name: string;
  port: number;
  hostPort: number | undefined;
}

export interface ExposedListeners extends Pick<Charter, 'hostPorts' | 'addresses'> {
  listeners: Listener[];
  reservations: Reservation[];
  faults: Fault[];
  /** What is still to come: no reason to refuse the others. */
  portFaults: Fault[];
}

/** The listeners that can be had now: one that waits for a port of the nodes comes when it has one. */
export function exposedListeners(
  { kafka, charter, ports }: Pick<Written, 'kafka' | 'charter' | 'ports'>,
  nodes: readonly CharterNode[],
): ExposedListeners {
  const { listeners: read, faults } = listenersOf(kafka);
  const wishes = read.flatMap(({ name, wish }) => (wish?.by === 'hostport' ? [{ name, wish }] : []));
  const brokers = nodes.filter(({ roles }) => roles.includes('broker'));
  const balanced = read.filter(({ wish }) => wish?.by === 'loadbalancer').map(({ name }) => ({ name, brokers })); // prettier-ignore
  const addresses = balancerAddresses(balanced, kafka.metadata.name, ports.services, charter.addresses);
  const { hostPorts, waiting } = hostPortsOf(wishes, {
    cluster: kafka.metadata,
    recorded: charter.hostPorts,
    ...ports,
  });
  const portOf = ({ name, port, wish }: ReadListener) =>
    wish?.by === 'hostport' ? hostPorts.get(portKey(name, wish)) : port;
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
    hostPorts: Object.fromEntries(hostPorts),
    reservations: read.flatMap((one) =>
      one.wish?.by === 'hostport' && one.wish.strategy === 'reserve'
        ? [{ name: one.name, port: one.port, hostPort: portOf(one) }]
        : [],
    ),
    faults,
    portFaults: waiting.map(pendingFault),
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

const pendingFault = (listener: string): Fault => ({
  reason: 'HostPortPending',
  path: ['spec', 'kafka', 'listeners'],
  message: `listener "${listener}" has no port of the nodes yet; if it stays so, all of them are taken`,
});
