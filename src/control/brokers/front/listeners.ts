/** The listeners of a Kafka resource, checked. Pure. */
import { canonicalName } from '../../../pki/alternative-names.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { BALANCER_ANNOTATION, balancerConfigurations, exposureWish } from '../expose/wish.ts';
import type { ExposureWish } from '../expose/wish.ts';
import type { Fault } from '../faults.ts';
import type { Listener } from '../model/cluster.ts';
import { RESERVED_PORTS } from '../model/names.ts';

type Written = NonNullable<Kafka['spec']['kafka']['listeners']>[number];

const PATH = ['spec', 'kafka', 'listeners'] as const;
const SERVED: readonly string[] = ['internal', 'hostport', 'loadbalancer'];
const AUTHENTICATIONS = ['tls', 'scram-sha-512'] as const;

/** A listener, before it is known which port of the nodes it has. */
export interface ReadListener extends Omit<Listener, 'exposure'> {
  wish: ExposureWish | undefined;
}

export function listenersOf(kafka: Kafka): { listeners: ReadListener[]; faults: Fault[] } {
  const written = kafka.spec.kafka.listeners ?? [];
  const none: Fault = {
    reason: 'Invalid',
    path: PATH,
    message: 'there is no listener; add one, e.g. {name: plain, port: 9092, type: internal, tls: false}',
  };
  const listeners = written.map((one) => listenerOf(kafka, one));
  const faults = [
    ...written.flatMap((one, index) => faultsOf(one, index, written)),
    ...written.flatMap((one, index) => exposureFaults(kafka, one, index)),
    ...addressFaults(listeners),
    ...strayFaults(kafka, written),
  ];
  return {
    listeners,
    faults: written.length === 0 ? [none] : faults,
  };
}

function authenticationOf({ authentication }: Written): string | undefined {
  const type = authentication?.['type'];
  return authentication && (typeof type === 'string' ? type : 'without a type');
}

function listenerOf(kafka: Kafka, one: Written): ReadListener {
  const type = authenticationOf(one);
  const wish = exposureWish(kafka, one)?.wish;
  const sources = (wish?.allowedSources ?? []).map((cidr) => ({ ipBlock: { cidr } }));
  const peers = [...(one.networkPolicyPeers ?? []), ...sources];
  return {
    name: one.name,
    port: one.port,
    tls: one.tls,
    authentication: AUTHENTICATIONS.find((known) => known === type) ?? 'none',
    networkPolicyPeers: peers.length > 0 ? peers : one.networkPolicyPeers,
    alternativeNames: namesOf(one),
    wish,
  };
}

const namesOf = ({ configuration }: Written) => configuration?.bootstrap?.alternativeNames ?? [];

function exposureFaults(kafka: Kafka, one: Written, index: number): Fault[] {
  return (exposureWish(kafka, one)?.problems ?? []).map(({ field, message }) => ({
    reason: 'Invalid',
    path: [...PATH, index, 'configuration', field],
    message: `listener "${one.name}": ${message}`,
  }));
}

/** A limit that is meant for another listener by mistake would be none. */
function strayFaults({ metadata }: Kafka, written: readonly Written[]): Fault[] {
  const balanced = new Set(written.flatMap(({ name, type }) => (type === 'loadbalancer' ? [name] : [])));
  const names = Object.keys(balancerConfigurations(metadata.annotations).read);
  return names
    .filter((name) => !balanced.has(name))
    .map((name) => ({
      reason: 'Invalid',
      path: ['metadata', 'annotations', BALANCER_ANNOTATION],
      message: `there is no listener "${name.slice(0, 100)}" of type loadbalancer; take it out, or correct the name`,
    }));
}

/** A pod is told one address of its node. */
function addressFaults(listeners: readonly ReadListener[]): Fault[] {
  const byAddress = listeners.flatMap(({ wish }) =>
    wish?.by === 'hostport' && wish.hostPattern === undefined ? [wish] : [],
  );
  if (new Set(byAddress.map(({ addressType }) => addressType)).size <= 1) return [];
  const message =
    'listeners without a subdomain tell clients the same address; give them one preferredAddressType';
  return [{ reason: 'Invalid', path: PATH, message }];
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
    ...(SERVED.includes(one.type)
      ? []
      : [
          at(
            'NotSupported',
            'type',
            `type ${one.type} is not served by this operator; use type ${SERVED.join(', ')}`,
          ),
        ]),
    ...(type === undefined || AUTHENTICATIONS.some((known) => known === type)
      ? []
      : [at('NotSupported', 'authentication', `authentication ${type} is not supported; use tls or scram-sha-512`)]), // prettier-ignore
    ...namesOf(one)
      .filter((name) => canonicalName(name) === undefined)
      .map((name) => at('Invalid', 'configuration', `alternativeNames has ${name}, which is not a host name or an address`)), // prettier-ignore
    ...(one.configuration?.brokerCertChainAndKey === undefined
      ? []
      : [at('NotSupported', 'configuration', 'brokerCertChainAndKey is not supported: brokers have certificates of the cluster CA, which can be yours; leave it out')]), // prettier-ignore
    ...(type === 'tls' && !one.tls
      ? [at('Invalid', 'tls', 'authentication by certificate needs TLS; set tls: true')]
      : []),
  ];
}
