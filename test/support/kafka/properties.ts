/** The configuration of the testbed's brokers, with every kind of listener: data in, properties out. */
import type { Properties } from '../../../src/store/embedded/kafka-storage.ts';

export type Protocol = 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';

/** A listener; each is bound to 127.0.0.1. */
export interface Listener {
  name: string;
  protocol: Protocol;
  /** What clients are told to connect to, e.g. a proxy's address. By default, where it is bound. */
  advertised?: ((brokerId: number, port: number) => string) | undefined;
  properties?: Properties;
}

/** TLS listeners are advertised by a name: clients in Node refuse an address as server name. */
const byName = (_brokerId: number, port: number) => `localhost:${port}`;

const SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
const PLAIN =
  'org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="bob-secret" user_admin="admin-secret";';

const SASL: Properties = {
  'sasl.enabled.mechanisms': 'SCRAM-SHA-256,SCRAM-SHA-512,PLAIN',
  'scram-sha-256.sasl.jaas.config': SCRAM,
  'scram-sha-512.sasl.jaas.config': SCRAM,
  'plain.sasl.jaas.config': PLAIN,
};

/** The listeners that every testbed broker has. */
export const LISTENERS = [
  { name: 'PLAINTEXT', protocol: 'PLAINTEXT' },
  { name: 'SSL', protocol: 'SSL', advertised: byName },
  { name: 'MTLS', protocol: 'SSL', advertised: byName, properties: { 'ssl.client.auth': 'required' } },
  { name: 'SASL_PLAINTEXT', protocol: 'SASL_PLAINTEXT', properties: SASL },
  { name: 'SASL_SSL', protocol: 'SASL_SSL', advertised: byName, properties: SASL },
] as const satisfies readonly Listener[];

export interface BrokerPlace {
  id: number;
  controllerPort: number;
  /** By listener name. */
  ports: Readonly<Record<string, number>>;
}

function listenerProperties(broker: BrokerPlace, listeners: readonly Listener[]): Properties {
  const port = (name: string) => broker.ports[name] ?? 0;
  const address = ({ name, advertised = (_id, at) => `127.0.0.1:${at}` }: Listener) =>
    `${name}://${advertised(broker.id, port(name))}`;
  const own = listeners.flatMap(({ name, properties = {} }) =>
    Object.entries(properties).map(
      ([key, value]) => [`listener.name.${name.toLowerCase()}.${key}`, value] as const,
    ),
  );
  const bound = listeners.map(({ name }) => `${name}://127.0.0.1:${port(name)}`);
  const protocols = listeners.map(({ name, protocol }) => `${name}:${protocol}`);
  return {
    listeners: [...bound, `CONTROLLER://127.0.0.1:${broker.controllerPort}`].join(','),
    'advertised.listeners': listeners.map(address).join(','),
    'listener.security.protocol.map': [...protocols, 'CONTROLLER:PLAINTEXT'].join(','),
    'inter.broker.listener.name': 'PLAINTEXT',
    ...Object.fromEntries(own),
  };
}

/** Internal topics with one partition, no waiting for more members of a group, small buffers: a test's scale. */
function smallScale(brokers: number): Properties {
  const internal = ['offsets.topic', 'transaction.state.log', 'share.coordinator.state.topic'];
  const minIsr = Math.max(1, brokers - 1);
  return {
    ...Object.fromEntries(internal.map((topic) => [`${topic}.num.partitions`, 1])),
    ...Object.fromEntries(internal.map((topic) => [`${topic}.replication.factor`, brokers])),
    'transaction.state.log.min.isr': minIsr,
    'share.coordinator.state.topic.min.isr': minIsr,
    'default.replication.factor': brokers,
    'min.insync.replicas': minIsr,
    'group.initial.rebalance.delay.ms': 0,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'background.threads': 2,
    'log.cleaner.dedupe.buffer.size': 16_777_216,
  };
}

/** Whoever comes through a listener without authentication may do everything; the others what ACLs let them, if there are any. */
const AUTHORIZER: Properties = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS;User:admin',
  'allow.everyone.if.no.acl.found': true,
};

/** Voters are found in the log and not in the properties, which only say where to ask. */
export function dynamicQuorumProperties(all: readonly BrokerPlace[]): Properties {
  return {
    'controller.quorum.voters': '',
    'controller.quorum.bootstrap.servers': all
      .map(({ controllerPort }) => `127.0.0.1:${controllerPort}`)
      .join(','),
  };
}

/** Everything of a broker's configuration but its directory. `extra` has the last word. */
export function brokerProperties(
  broker: BrokerPlace,
  all: readonly BrokerPlace[],
  listeners: readonly Listener[],
  tls: { caFile: string; keystoreFile: string },
  extra: Properties,
): Properties {
  return {
    'process.roles': 'broker,controller',
    'controller.quorum.voters': all
      .map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`)
      .join(','),
    'controller.listener.names': 'CONTROLLER',
    'broker.rack': `r${broker.id}`,
    ...listenerProperties(broker, listeners),
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': tls.keystoreFile,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': tls.caFile,
    ...smallScale(all.length),
    ...AUTHORIZER,
    ...extra,
  };
}
