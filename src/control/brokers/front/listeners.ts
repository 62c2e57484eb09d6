/** The listeners of a Kafka resource, checked. Pure. */
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Fault } from '../faults.ts';
import type { Listener } from '../model/cluster.ts';
import { RESERVED_PORTS } from '../model/names.ts';

type Written = NonNullable<Kafka['spec']['kafka']['listeners']>[number];

const PATH = ['spec', 'kafka', 'listeners'] as const;
const AUTHENTICATIONS = ['tls', 'scram-sha-512'] as const;

export function listenersOf({ spec }: Pick<Kafka, 'spec'>): { listeners: Listener[]; faults: Fault[] } {
  const written = spec.kafka.listeners ?? [];
  const none: Fault = {
    reason: 'Invalid',
    path: PATH,
    message: 'there is no listener; add one, e.g. {name: plain, port: 9092, type: internal, tls: false}',
  };
  const faults = written.flatMap((one, index) => faultsOf(one, index, written));
  return {
    listeners: written.map(listenerOf),
    faults: written.length === 0 ? [none] : faults,
  };
}

function authenticationOf({ authentication }: Written): string | undefined {
  const type = authentication?.['type'];
  return authentication && (typeof type === 'string' ? type : 'without a type');
}

function listenerOf(one: Written): Listener {
  const type = authenticationOf(one);
  return {
    name: one.name,
    port: one.port,
    tls: one.tls,
    authentication: AUTHENTICATIONS.find((known) => known === type) ?? 'none',
    networkPolicyPeers: one.networkPolicyPeers,
  };
}

function faultsOf(one: Written, index: number, all: readonly Written[]): Fault[] {
  const at = (reason: 'Invalid' | 'NotSupported', field: string, message: string): Fault => ({
    reason,
    path: [...PATH, index, field],
    message: `listener "${one.name}": ${message}`,
  });
  const earlier = all.slice(0, index);
  const type = authenticationOf(one);
  const namesake = earlier.some(({ name }) => name === one.name);
  const neighbour = earlier.find(({ port }) => port === one.port);
  return [
    ...(namesake ? [at('Invalid', 'name', 'another listener has this name; choose another')] : []),
    ...(neighbour
      ? [at('Invalid', 'port', `port ${one.port} is that of listener "${neighbour.name}"; choose another`)]
      : []),
    ...(RESERVED_PORTS.includes(one.port)
      ? [at('Invalid', 'port', `port ${one.port} is used between the nodes; choose another`)]
      : []),
    ...(one.type === 'internal'
      ? []
      : [at('NotSupported', 'type', `type ${one.type} is not served by this operator; use type internal`)]),
    ...(type === undefined || AUTHENTICATIONS.some((known) => known === type)
      ? []
      : [at('NotSupported', 'authentication', `authentication ${type} is not supported; use tls or scram-sha-512`)]), // prettier-ignore
    ...(type === 'tls' && !one.tls
      ? [at('Invalid', 'tls', 'authentication by certificate needs TLS; set tls: true')]
      : []),
  ];
}
