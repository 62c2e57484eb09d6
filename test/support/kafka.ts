/**
 * A real Apache Kafka cluster on loopback: one or three KRaft brokers, each with plaintext, TLS, mutual TLS, SASL and
 * SASL over TLS listeners, and ACLs. TLS listeners are advertised as `localhost`, the others as 127.0.0.1.
 *
 *     await using kafka = await startKafka();
 *     await kafka.tool('kafka-topics', ['--bootstrap-server', kafka.bootstrap.plaintext, '--list']);
 */
import { mkdir, rm } from 'node:fs/promises';
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { join } from 'node:path';
import { Admin } from '@platformatic/kafka';
import { connectKafka } from '../../src/kafka/client.ts';
import { PATIENT_PLATFORMATIC } from './clients/platformatic.ts';
import { ensureKafka } from './install/kafka.ts';
import { brokerReady, launchBroker, prepareBroker } from '../../src/store/embedded/kafka-broker.ts';
import type { BrokerSpec } from '../../src/store/embedded/kafka-broker.ts';
import type { KafkaHome } from '../../src/store/embedded/kafka-java.ts';
import { LISTENERS, brokerProperties, dynamicQuorumProperties } from './kafka/properties.ts';
import type { BrokerPlace, Listener } from './kafka/properties.ts';
import { ALICE, BOB, writeTls } from './kafka/security.ts';
import type { Security, Tls } from './kafka/security.ts';
import { kafkaUuid } from '../../src/store/embedded/kafka-storage.ts';
import type { Properties } from '../../src/store/embedded/kafka-storage.ts';
import { kafkaTool } from './kafka/tools.ts';
import type { KafkaTool, ToolOptions } from './kafka/tools.ts';
import { reservePorts } from '../../src/store/embedded/ports.ts';
import type { Ports } from '../../src/store/embedded/ports.ts';
import { residentMegabytes, waitFor } from '../../src/store/embedded/process.ts';
import type { Finished, Server } from '../../src/store/embedded/process.ts';
import { workspace } from './workspace.ts';

export interface KafkaOptions {
  brokers?: 1 | 3;
  /** Listeners beside the usual ones, e.g. one that advertises a proxy. */
  listeners?: readonly Listener[];
  /** Server properties that override the testbed's. */
  properties?: Properties;
  /** The first broker begins as the only voter of the metadata quorum, and others can be added (KIP-853). No SCRAM users. */
  dynamicQuorum?: boolean;
  heapMb?: number;
}

export interface TopicOptions {
  partitions?: number;
  replicas?: number;
  configs?: Record<string, string>;
}

export interface KafkaCluster extends AsyncDisposable {
  readonly brokerIds: readonly number[];
  readonly bootstrap: Readonly<Record<'plaintext' | 'ssl' | 'mtls' | 'saslPlaintext' | 'saslSsl', string>>;
  /** What a client needs for the listener of that name. */
  readonly security: Readonly<Record<'plaintext' | 'ssl' | 'mtls' | 'saslPlaintext' | 'saslSsl', Security>>;
  readonly tls: Tls;
  /** Where each broker listens as a controller, without TLS. */
  readonly controllers: readonly string[];
  /** Logs, configuration and keys. */
  readonly directory: string;
  /** Where a listener is bound, on each broker in the order of their ids: `host:port`. */
  addresses(listener: string): string[];
  /** Creates a topic, replicated to every broker unless told otherwise; ends when clients can use it. */
  createTopic(topic: string, options?: TopicOptions): Promise<void>;
  tool(name: KafkaTool, args: readonly string[], options?: ToolOptions): Promise<Finished>;
  stopBroker(id: number, signal?: NodeJS.Signals): Promise<void>;
  /** Starts a stopped broker again, on the same ports and data. */
  startBroker(id: number): Promise<void>;
  /** Has a broker stand still (SIGSTOP), or go on. */
  signal(id: number, signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Resident memory of each broker, in MB. */
  memory(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

const ATTEMPTS = 3;

// Where `localhost` has two addresses, Node leaves the first for the second, at which nobody listens, after half a second.
setDefaultAutoSelectFamilyAttemptTimeout(30_000);

function places(count: number, listeners: readonly Listener[], { numbers }: Ports): BrokerPlace[] {
  const free = numbers.values();
  const next = () => free.next().value ?? 0;
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    controllerPort: next(),
    ports: Object.fromEntries(listeners.map(({ name }) => [name, next()])),
  }));
}

/** Brokers that take connections are not yet a cluster: each has to know of all the others. */
async function allJoined(brokers: readonly string[]): Promise<void> {
  for (const broker of brokers) {
    const admin = new Admin({ clientId: 'testbed', bootstrapBrokers: [broker], retries: 0 });
    try {
      await waitFor(`${brokers.length} Kafka brokers at ${broker}`, async () => {
        const cluster = await admin.metadata({ topics: [], forceUpdate: true }).catch(() => undefined);
        return cluster?.brokers.size === brokers.length;
      });
    } finally {
      await admin.close();
    }
  }
}

async function createTopic(brokers: string[], topic: string, options: TopicOptions = {}): Promise<void> {
  const { partitions = 1, replicas = brokers.length, configs = {} } = options;
  const admin = new Admin({ ...PATIENT_PLATFORMATIC, clientId: 'testbed', bootstrapBrokers: brokers });
  try {
    const settings = Object.entries(configs).map(([name, value]) => ({ name, value }));
    await admin.createTopics({ topics: [topic], partitions, replicas, configs: settings });
  } finally {
    await admin.close();
  }
  await Promise.all(brokers.map((broker, index) => knowsTopic(broker, index + 1, topic, partitions)));
}

/** The controller has the topic first. Each broker hears of it later, and leads its share of it later still. */
async function knowsTopic(broker: string, id: number, name: string, count: number): Promise<void> {
  const [host = '', port] = broker.split(':');
  const patience = { connectTimeoutMs: 60_000, requestTimeoutMs: 60_000 };
  const client = await connectKafka({ host, port: Number(port), ...patience });
  try {
    await waitFor(`topic ${name} at broker ${id}`, async () => {
      const { topics } = await client.metadata([name]);
      const known = (topics[0]?.partitions ?? []).filter(({ leaderId }) => leaderId >= 0);
      if (known.length !== count) return false;
      const partitions = known
        .filter(({ leaderId }) => leaderId === id)
        .map(({ partitionIndex }) => ({ partitionIndex, timestamp: -1n, currentLeaderEpoch: -1 }));
      if (partitions.length === 0) return true;
      const offsets = await client.request('ListOffsets', { replicaId: -1, topics: [{ name, partitions }] });
      return offsets.topics[0]?.partitions.every(({ errorCode }) => errorCode === 0);
    });
  } finally {
    client.close();
  }
}

function securityOf(tls: Tls): KafkaCluster['security'] {
  const ca = tls.caFile;
  return {
    plaintext: {},
    ssl: { ca },
    mtls: { ca, client: tls.clientFiles },
    saslPlaintext: { sasl: BOB },
    saslSsl: { ca, sasl: ALICE },
  };
}

interface Prepared {
  kafka: KafkaHome;
  directory: string;
  tls: Tls;
  places: BrokerPlace[];
  specs: Map<number, BrokerSpec>;
  servers: Map<number, Server>;
}

/** Only Kafka's own tool writes the first set of voters. */
async function formatDynamic({ id, clusterId, directory }: BrokerSpec): Promise<void> {
  const voters = id === 1 ? '--standalone' : '--no-initial-controllers';
  const file = join(directory, 'server.properties');
  const done = await kafkaTool('kafka-storage', ['format', '-t', clusterId, '-c', file, voters]);
  if (done.code !== 0) throw new Error(`kafka-storage format: ${done.stderr}`);
}

async function prepare(kafka: KafkaHome, options: KafkaOptions, ports: Ports): Promise<Prepared> {
  const listeners = [...LISTENERS, ...(options.listeners ?? [])];
  const directory = workspace('kafka');
  const tls = await writeTls(join(directory, 'tls'));
  const all = places(options.brokers ?? 1, listeners, ports);
  const clusterId = kafkaUuid();
  const { dynamicQuorum = false } = options;
  const extra = { ...(dynamicQuorum && dynamicQuorumProperties(all)), ...options.properties };
  const specs = new Map<number, BrokerSpec>();
  for (const place of all) {
    const spec: BrokerSpec = {
      id: place.id,
      clusterId,
      directory: join(directory, `broker-${place.id}`),
      properties: brokerProperties(place, all, listeners, tls, extra),
      port: place.ports['PLAINTEXT'] ?? 0,
      heapMb: options.heapMb ?? 256,
    };
    await mkdir(spec.directory);
    await prepareBroker(kafka, spec, { keepData: dynamicQuorum });
    if (dynamicQuorum) await formatDynamic(spec);
    specs.set(place.id, spec);
  }
  return { kafka, directory, tls, places: all, specs, servers: new Map() };
}

function clusterOf(prepared: Prepared, ports: Ports): KafkaCluster {
  const { kafka, directory, tls, specs, servers } = prepared;
  const addresses = (listener: string) =>
    prepared.places.map(({ ports }) => {
      const port = ports[listener];
      if (port === undefined) throw new Error(`the testbed's Kafka has no listener ${listener}`);
      return `127.0.0.1:${port}`;
    });
  const byName = (listener: string) => addresses(listener).join(',').replaceAll('127.0.0.1', 'localhost');
  const stop = async () => {
    await Promise.all([...servers.values()].map((server) => server.stop('SIGKILL')));
    for (const spec of specs.values())
      await rm(join(spec.directory, 'data'), { recursive: true, force: true });
    await ports.release();
  };
  return {
    brokerIds: [...specs.keys()],
    bootstrap: {
      plaintext: addresses('PLAINTEXT').join(','),
      ssl: byName('SSL'),
      mtls: byName('MTLS'),
      saslPlaintext: addresses('SASL_PLAINTEXT').join(','),
      saslSsl: byName('SASL_SSL'),
    },
    security: securityOf(tls),
    tls,
    controllers: prepared.places.map(({ controllerPort }) => `127.0.0.1:${controllerPort}`),
    directory,
    addresses,
    createTopic: (topic, options) => createTopic(addresses('PLAINTEXT'), topic, options),
    tool: kafkaTool,
    stopBroker: async (id, signal = 'SIGTERM') => servers.get(id)?.stop(signal, 60_000),
    async startBroker(id) {
      const spec = specs.get(id);
      if (spec === undefined) throw new Error(`the testbed's Kafka has no broker ${id}`);
      const server = launchBroker(kafka, spec);
      servers.set(id, server);
      await brokerReady(spec, server);
    },
    signal(id, signal) {
      const server = servers.get(id);
      if (server?.running) process.kill(server.pid, signal);
    },
    async memory() {
      const running = [...servers.values()].filter((server) => server.running);
      const sizes = running.map(async ({ name, pid }) => [name, await residentMegabytes(pid)] as const);
      return Object.fromEntries(await Promise.all(sizes));
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Starts a cluster and waits until all its brokers are in it. */
export async function startKafka(options: KafkaOptions = {}): Promise<KafkaCluster> {
  const kafka = await ensureKafka();
  const portsPerBroker = 1 + LISTENERS.length + (options.listeners?.length ?? 0);
  for (let attempt = 1; ; attempt++) {
    const ports = await reservePorts((options.brokers ?? 1) * portsPerBroker);
    const cluster = clusterOf(await prepare(kafka, options, ports), ports);
    try {
      await Promise.all(cluster.brokerIds.map((id) => cluster.startBroker(id)));
      await allJoined(cluster.addresses('PLAINTEXT'));
      return cluster;
    } catch (error) {
      await cluster.stop();
      // Between the choice of a port and its use a stranger may have taken it.
      if (attempt === ATTEMPTS || !/address already in use/i.test(String(error))) throw error;
    }
  }
}
