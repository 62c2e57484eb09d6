/** The configuration of Apache Kafka that does what a `redpanda.yaml` says. Pure; throws where the file cannot be meant. */
import { createHash } from 'node:crypto';

interface Address {
  address: string;
  port: number;
}

interface Named extends Address {
  name: string;
  authentication_method?: string;
}

interface ListenerTls {
  name: string;
  enabled: boolean;
  cert_file: string;
  key_file: string;
  require_client_auth: boolean;
  truststore_file?: string;
}

/** As much of the file as the stand-in reads; all of it has to be there. */
export interface NodeFile {
  redpanda: {
    data_directory: string;
    node_id: number;
    empty_seed_starts_cluster?: boolean;
    seed_servers: { host: Address }[];
    rpc_server: Address;
    advertised_rpc_api: Address;
    kafka_api: Named[];
    advertised_kafka_api: Named[];
    kafka_api_tls: ListenerTls[];
    admin: Named[];
    developer_mode: boolean;
  };
}

/** Settings of the cluster, and what Kafka calls them. */
const CLUSTER_SETTINGS: Record<string, string> = {
  auto_create_topics_enabled: 'auto.create.topics.enable',
  default_topic_partitions: 'num.partitions',
  default_topic_replications: 'default.replication.factor',
  group_topic_partitions: 'offsets.topic.num.partitions',
};

export interface KafkaFiles {
  properties: Map<string, string>;
  /** Files to be made of others, by path: Kafka has key and certificate in one. */
  pem: Map<string, string[]>;
}

const idOf = (name: string) => name.toUpperCase().replaceAll('-', '_');
const RPC = 'RPC';
const CONTROLLER = 'CONTROLLER';

function check(holds: boolean, problem: string): void {
  if (!holds) throw new Error(`redpanda.yaml: ${problem}`);
}

export function propertiesOf(file: NodeFile, bootstrap: object, podIP: string): KafkaFiles {
  const { redpanda: node } = file;
  check(node.seed_servers.length > 0, 'there are no seed_servers');
  check(
    node.empty_seed_starts_cluster === false,
    'a broker with an empty disk would found a cluster of its own',
  );
  const own = node.advertised_rpc_api;
  const isOwn = ({ host }: { host: Address }) => host.address === own.address && host.port === own.port;
  check(
    node.seed_servers.findIndex(isOwn) === node.node_id,
    'the broker is not at its place among the seed_servers',
  );
  const replicas = Math.min(3, node.seed_servers.length);
  const pem = new Map<string, string[]>();
  const properties = new Map<string, string>([
    ['node.id', String(node.node_id)],
    ['process.roles', isVoter(node) ? 'broker,controller' : 'broker'],
    ['controller.quorum.voters', votersOf(node).map(({ host }, id) => `${id}@${host.address}:${host.port + 1}`).join()], // prettier-ignore
    ...listenerProperties(node, podIP),
    ['log.dirs', `${node.data_directory}/kafka`],
    ['offsets.topic.replication.factor', String(replicas)],
    ['default.replication.factor', String(replicas)],
    // A majority, as with Redpanda.
    ['min.insync.replicas', String(Math.floor(replicas / 2) + 1)],
    ['group.initial.rebalance.delay.ms', '0'],
    ...tlsProperties(node.kafka_api_tls, pem),
    ...clusterProperties(bootstrap),
  ]);
  return { properties, pem };
}

/** Kafka's controllers. One alone whose address changes is not found again by the brokers that it does not count among its voters. */
const votersOf = ({ seed_servers: seeds }: NodeFile['redpanda']) => seeds.slice(0, seeds.length < 3 ? 1 : 3);

const isVoter = (node: NodeFile['redpanda']) => node.node_id < votersOf(node).length;

interface KafkaListener {
  id: string;
  bound: string;
  told: string;
  protocol: 'PLAINTEXT' | 'SSL';
}

function listenersOf(node: NodeFile['redpanda'], podIP: string): KafkaListener[] {
  const here = ({ address, port }: Address) => `${address === '0.0.0.0' ? podIP : address}:${port}`;
  const { address, port } = node.advertised_rpc_api;
  const between: KafkaListener = { id: RPC, bound: here(node.rpc_server), told: `${address}:${port}`, protocol: 'PLAINTEXT' }; // prettier-ignore
  const forClients = node.kafka_api.map((api): KafkaListener => {
    const told = node.advertised_kafka_api.find(({ name }) => name === api.name);
    check(told !== undefined, `the listener ${api.name} has no advertised_kafka_api`);
    check(api.authentication_method === undefined, 'the stand-in knows no authentication_method');
    const isTls = node.kafka_api_tls.some(({ name, enabled }) => enabled && name === api.name);
    return { id: idOf(api.name), bound: here(api), told: `${told!.address}:${told!.port}`, protocol: isTls ? 'SSL' : 'PLAINTEXT' }; // prettier-ignore
  });
  return [between, ...forClients];
}

function listenerProperties(node: NodeFile['redpanda'], podIP: string): [string, string][] {
  const listeners = listenersOf(node, podIP);
  const control = isVoter(node) ? [`${CONTROLLER}://${podIP}:${node.rpc_server.port + 1}`] : [];
  const protocols = listeners.map(({ id, protocol }) => `${id}:${protocol}`);
  return [
    ['controller.listener.names', CONTROLLER],
    ['listeners', [...listeners.map(({ id, bound }) => `${id}://${bound}`), ...control].join()],
    ['advertised.listeners', listeners.map(({ id, told }) => `${id}://${told}`).join()],
    ['listener.security.protocol.map', [...protocols, `${CONTROLLER}:PLAINTEXT`].join()],
    ['inter.broker.listener.name', RPC],
  ];
}

function tlsProperties(listeners: readonly ListenerTls[], pem: Map<string, string[]>): [string, string][] {
  return listeners.flatMap(({ name, cert_file, key_file, require_client_auth, truststore_file }) => {
    const store = `/tmp/${name}.pem`;
    pem.set(store, [key_file, cert_file]);
    const prefix = `listener.name.${idOf(name).toLowerCase()}.ssl`;
    check(!require_client_auth || truststore_file !== undefined, `${name} asks for certificates of clients without an authority`); // prettier-ignore
    return [
      [`${prefix}.keystore.type`, 'PEM'],
      [`${prefix}.keystore.location`, store],
      ...(require_client_auth
        ? ([
            [`${prefix}.client.auth`, 'required'],
            [`${prefix}.truststore.type`, 'PEM'],
            [`${prefix}.truststore.location`, truststore_file ?? ''],
          ] as [string, string][])
        : []),
    ] as [string, string][];
  });
}

function clusterProperties(bootstrap: object): [string, string][] {
  return Object.entries(bootstrap).map(([name, value]) => {
    const key = CLUSTER_SETTINGS[name];
    if (key === undefined) throw new Error(`.bootstrap.yaml: the stand-in knows no ${name}`);
    return [key, String(value)];
  });
}

/** The same for all brokers of a cluster, as Kafka writes them. */
export function clusterIdOf({ redpanda }: NodeFile): string {
  const name = redpanda.seed_servers[0]!.host.address;
  return createHash('sha256').update(name).digest().subarray(0, 16).toString('base64url').replace(/^-/, 'A');
}
