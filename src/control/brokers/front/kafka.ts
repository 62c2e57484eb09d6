/** From a Kafka and its node pools to the cluster that is to run, or what keeps it from being one. Pure. */
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import { stretchOf } from '../../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { LOCAL } from '../../kernel/plan.ts';
import { userConfigOf } from '../config/user-config.ts';
import type { Fault } from '../faults.ts';
import type { Charter, CharterNode } from '../model/charter.ts';
import { hasRun } from '../model/charter.ts';
import type { BrokerCluster, JvmOptions, Pool, Rack, Templates, Volume } from '../model/cluster.ts';
import { assignIds, parseIds } from '../model/ids.ts';
import type { PoolWish } from '../model/ids.ts';
import { MANAGED_ANNOTATION, logDir, volumeName } from '../model/names.ts';
import { listenersOf } from './listeners.ts';
import { newestOf } from './settings.ts';
import type { BrokerSettings } from './settings.ts';
import { storageChangeFaults, storageOf } from './storage.ts';

/** Whether a Kafka asks to be run by this operator. */
export function isManaged(kafka: Pick<Kafka, 'metadata'>): boolean {
  return kafka.metadata.annotations[MANAGED_ANNOTATION] === 'true' || stretchOf(kafka) !== undefined;
}

/** All that is written about one cluster. */
export interface Written {
  kafka: Kafka;
  /** In the order of their names. */
  pools: readonly KafkaNodePool[];
  /** What was written down about it; of one that has just come, a new id and nothing else. */
  charter: Charter;
  /** The volumes that each pool was made with. */
  storage: ReadonlyMap<string, readonly Volume[]>;
}

export interface Reading {
  /** Undefined where something is refused: what runs goes on as it is. */
  cluster: BrokerCluster | undefined;
  /** What is to be written down before the cluster is made. */
  charter: Charter;
  faults: Fault[];
}

export function fromKafka(written: Written, settings: BrokerSettings): Reading {
  const { kafka, pools, charter } = written;
  const wishes = pools.map(wishOf);
  const storages = new Map(pools.map((pool) => [pool.metadata.name, storageOf(pool)]));
  const nodes = assignIds(
    wishes.map(({ wish }) => wish),
    charter.nodes,
  );
  const { listeners, faults: listenerFaults } = listenersOf(kafka);
  const { config, faults: configFaults } = configOf(kafka);
  const version = versionOf(kafka, settings);
  const faults = [
    ...version.faults,
    ...listenerFaults,
    ...configFaults,
    ...wishes.flatMap((one) => one.faults),
    ...pools.flatMap((pool) => storageFaults(pool, written, storages.get(pool.metadata.name)!)),
    ...roleFaults(nodes),
    ...voterFaults(charter, nodes),
    ...replicationFaults(config, nodes),
    ...rackFaults(kafka),
    ...layoutFaults(nodes),
  ];
  const refused = faults.some(({ reason }) => !WARNS.has(reason));
  if (refused) return { cluster: undefined, charter, faults };
  const cluster: BrokerCluster = {
    namespace: kafka.metadata.namespace,
    name: kafka.metadata.name,
    uid: kafka.metadata.uid ?? '',
    clusterId: charter.clusterId,
    ...version.chosen,
    imagePullSecrets: pullSecretsOf(kafka),
    pools: pools.map((pool) => poolOf(pool, nodes, storages.get(pool.metadata.name)!.volumes)),
    listeners,
    config,
    rack: rackOf(kafka),
    authorization: authorizationOf(kafka),
    template: templatesOf(kafka.spec.kafka.template),
    jvm: jvmOf(kafka.spec.kafka['jvmOptions']),
    logging: undefined,
  };
  return { cluster, charter: { ...charter, nodes }, faults };
}

const WARNS: ReadonlySet<Fault['reason']> = new Set(['ConfigIgnored', 'Layout']);

function wishOf(pool: KafkaNodePool): { wish: PoolWish; faults: Fault[] } {
  const { metadata, spec } = pool;
  const ids = (annotation: string) => {
    const text = metadata.annotations[annotation];
    return text === undefined ? [] : parseIds(text);
  };
  const [nextIds, removeIds] = [ids('strimzi.io/next-node-ids'), ids('strimzi.io/remove-node-ids')];
  const unread = [
    ...(nextIds ? [] : ['strimzi.io/next-node-ids']),
    ...(removeIds ? [] : ['strimzi.io/remove-node-ids']),
  ];
  const wish: PoolWish = {
    name: metadata.name,
    target: spec.cluster ?? LOCAL,
    roles: spec.roles ?? [],
    replicas: spec.replicas ?? 0,
    nextIds: nextIds ?? [],
    removeIds: removeIds ?? [],
  };
  const faults = unread.map((annotation): Fault => ({
    reason: 'ConfigIgnored',
    path: ['metadata', 'annotations', annotation],
    message: `KafkaNodePool "${metadata.name}": write ${annotation} as a list of ids and ranges, e.g. [0-2,7]`,
  }));
  return { wish, faults };
}

function storageFaults(
  pool: KafkaNodePool,
  { storage }: Written,
  { volumes, faults }: { volumes: Volume[]; faults: Fault[] },
): Fault[] {
  if (faults.length > 0) return faults;
  return storageChangeFaults(pool, volumes, storage.get(pool.metadata.name) ?? []);
}

const refusal = (
  reason: 'Invalid' | 'ChangeNotPossible' | 'NotSupported',
  path: string[],
  message: string,
): Fault => ({
  reason,
  path,
  message,
});

/** Both roles are needed, and each pool needs one. */
function roleFaults(nodes: readonly CharterNode[]): Fault[] {
  const lacks = (role: 'broker' | 'controller') =>
    nodes.some(({ roles, leaving }) => roles.includes(role) && !leaving)
      ? []
      : [
          refusal(
            'Invalid',
            ['spec'],
            `no node is a ${role}; add a KafkaNodePool with the label strimzi.io/cluster, roles: [${role}] and replicas`,
          ),
        ];
  return [...lacks('broker'), ...lacks('controller')];
}

const votersOf = (nodes: readonly CharterNode[]) =>
  nodes.flatMap(({ id, roles }) => (roles.includes('controller') ? [id] : []));

/**
 * The voters of a cluster are in the configuration of every node, and are the same as long as it lives: with another set of them two
 * leaders could be elected while nodes are restarted one by one.
 */
function voterFaults(charter: Charter, nodes: readonly CharterNode[]): Fault[] {
  if (!hasRun(charter)) return [];
  const [before, after] = [votersOf(charter.nodes), votersOf(nodes)];
  const isSame =
    before.join() === after.join() &&
    !nodes.some(({ roles, leaving }) => leaving && roles.includes('controller'));
  if (isSame) return [];
  const message = `the controllers of a running cluster stay the same: they are nodes ${before.join(', ')}; take back the change of roles or replicas of their pools`;
  return [refusal('ChangeNotPossible', ['spec'], message)];
}

const REPLICATION_KEYS = [
  'default.replication.factor',
  'offsets.topic.replication.factor',
  'transaction.state.log.replication.factor',
  'transaction.state.log.min.isr',
];

function replicationFaults(config: Readonly<Record<string, string>>, nodes: readonly CharterNode[]): Fault[] {
  const brokers = nodes.filter(({ roles, leaving }) => roles.includes('broker') && !leaving).length;
  return REPLICATION_KEYS.flatMap((key) => {
    const value = Number(config[key] ?? 1);
    if (value <= brokers) return [];
    const message = `${key} is ${value}, but there are only ${brokers} brokers; lower it or add brokers`;
    return [refusal('Invalid', ['spec', 'kafka', 'config', key], message)];
  });
}

function layoutFaults(nodes: readonly CharterNode[]): Fault[] {
  const voters = votersOf(nodes).length;
  if (voters % 2 === 1 || voters === 0) return [];
  const message = `${voters} controllers survive the loss of no more nodes than ${voters - 1} do; use an odd number`;
  return [{ reason: 'Layout', path: ['spec'], message }];
}

function versionOf(
  { spec }: Kafka,
  { versions }: BrokerSettings,
): { chosen: Pick<BrokerCluster, 'version' | 'metadataVersion' | 'image'>; faults: Fault[] } {
  const { version = newestOf(versions) ?? '', image, metadataVersion } = spec.kafka;
  const known = versions[version];
  const message = `version ${version} is not supported; use one of ${Object.keys(versions).join(', ')}`;
  return {
    chosen: {
      version,
      metadataVersion: metadataVersion ?? known?.metadataVersion ?? '',
      image: image ?? known?.image ?? '',
    },
    faults: known ? [] : [{ reason: 'UnknownVersion', path: ['spec', 'kafka', 'version'], message }],
  };
}

function configOf({ spec }: Kafka): { config: Record<string, string>; faults: Fault[] } {
  const { config, ignored, broken } = userConfigOf(spec.kafka.config ?? {});
  const path = ['spec', 'kafka', 'config'];
  return {
    config,
    faults: [
      ...ignored.map((key): Fault => ({
        reason: 'ConfigIgnored',
        path: [...path, key],
        message: `${key} is set by the operator; remove it`,
      })),
      ...broken.map((key) =>
        refusal('Invalid', [...path, key], `${key} is not a name and a value on one line; correct it`),
      ),
    ],
  };
}

function rackOf({ spec }: Kafka): Rack | undefined {
  const { rack } = spec.kafka;
  if (!rack) return undefined;
  if (rack.type === 'environment-variable')
    return { by: 'environment-variable', variable: rack.envVarName ?? '' };
  return { by: 'topology-label', label: rack.topologyKey ?? '' };
}

function rackFaults(kafka: Kafka): Fault[] {
  const rack = rackOf(kafka);
  if (!rack) return [];
  const isNamed =
    rack.by === 'topology-label' ? rack.label !== '' : /^[A-Za-z_][A-Za-z0-9_]*$/.test(rack.variable);
  if (isNamed) return [];
  const field = rack.by === 'topology-label' ? 'topologyKey' : 'envVarName';
  return [refusal('Invalid', ['spec', 'kafka', 'rack', field], `rack needs a ${field}`)];
}

function authorizationOf({ spec }: Kafka): BrokerCluster['authorization'] {
  const { authorization } = spec.kafka;
  return authorization && { superUsers: authorization.superUsers ?? [] };
}

/** A template that is not an object has nothing to say. */
function templatesOf(written: Readonly<Record<string, unknown>> | undefined): Templates {
  const entries = Object.entries(written ?? {}).filter(([, one]) => typeof one === 'object' && one !== null);
  return Object.fromEntries(entries) as Templates;
}

function pullSecretsOf({ spec }: Kafka): { name: string }[] {
  const { pod } = templatesOf(spec.kafka.template);
  const secrets = pod?.['imagePullSecrets'];
  return Array.isArray(secrets) ? (secrets as { name: string }[]) : [];
}

/** `-Xms`, `-Xmx`, `-XX` (a map of options) and `javaSystemProperties`, as Strimzi has them. */
function jvmOf(written: unknown): JvmOptions {
  const options = (written ?? {}) as {
    '-Xms'?: string;
    '-Xmx'?: string;
    '-XX'?: Record<string, string | boolean | number>;
    javaSystemProperties?: { name?: string; value?: string }[];
  };
  const xx = Object.entries(options['-XX'] ?? {}).map(([name, value]) => {
    const text = String(value);
    return text === 'true' ? `-XX:+${name}` : text === 'false' ? `-XX:-${name}` : `-XX:${name}=${text}`;
  });
  const properties = (options.javaSystemProperties ?? []).map(
    ({ name = '', value = '' }) => `-D${name}=${value}`,
  );
  return { xms: options['-Xms'], xmx: options['-Xmx'], options: [...xx, ...properties] };
}

function poolOf(pool: KafkaNodePool, nodes: readonly CharterNode[], volumes: readonly Volume[]): Pool {
  const { metadata, spec } = pool;
  const own = nodes.filter((node) => node.pool === metadata.name);
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    target: spec.cluster ?? LOCAL,
    roles: spec.roles ?? [],
    nodes: own.map(({ id, formatted }) => ({
      id,
      // A volume that lives as long as its pod is empty each time, as its owner chose.
      formatting: volumes.flatMap((volume) =>
        volume.persistent && formatted.includes(volumeName(volume)) ? [] : [logDir(volume, id)],
      ),
    })),
    volumes,
    resources: spec.resources,
    jvm: jvmOf(spec.jvmOptions),
    template: templatesOf(spec.template),
  };
}
