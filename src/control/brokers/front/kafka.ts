/** From a Kafka and its node pools to the cluster that is to run, or what keeps it from being one. Pure. */
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import { stretchOf } from '../../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { userConfigOf } from '../config/user-config.ts';
import type { Fault } from '../faults.ts';
import type { Charter, CharterNode } from '../model/charter.ts';
import { hasRun } from '../model/charter.ts';
import type { BrokerCluster, Rack, Volume } from '../model/cluster.ts';
import { assignIds } from '../model/ids.ts';
import { MANAGED_ANNOTATION } from '../model/names.ts';
import { upgradeStep } from '../roll/upgrade.ts';
import { DEFAULT_KAFKA_VERSION, imageOf } from '../roll/versions.ts';
import { listenersOf } from './listeners.ts';
import { jvmOf, poolOf, templatesOf, wishOf } from './node-pool.ts';
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
  /** The versions that its pods run. */
  running: readonly string[];
  /** The level of `metadata.version`, if Kafka could be asked. */
  metadataLevel: number | undefined;
  /** As an API server names it, e.g. `core.strimzi.io/v1`. */
  podSetVersion: string;
}

type Release = Pick<BrokerCluster, 'version' | 'metadataVersion' | 'image'> & Pick<Reading, 'finalize'>;

export interface Reading {
  /** Undefined where something is refused: what runs goes on as it is. */
  cluster: BrokerCluster | undefined;
  /** What is to be written down before the cluster is made. */
  charter: Charter;
  /** The level of `metadata.version` to go to once nothing else is to be done. */
  finalize: { level: number; downgrade: boolean } | undefined;
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
  const { release, faults: releaseFaults } = releaseOf(written, settings);
  const { finalize, ...run } = release;
  const faults = [
    ...releaseFaults,
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
  if (refused) return { cluster: undefined, charter, finalize: undefined, faults };
  const cluster: BrokerCluster = {
    namespace: kafka.metadata.namespace,
    name: kafka.metadata.name,
    uid: kafka.metadata.uid ?? '',
    apiVersions: { kafka: kafka.apiVersion, podSet: written.podSetVersion },
    clusterId: charter.clusterId,
    ...run,
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
  return { cluster, charter: { ...charter, nodes }, finalize, faults };
}

const WARNS: ReadonlySet<Fault['reason']> = new Set(['ConfigIgnored', 'Layout']);

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
  // Of nodes that were found by their disks nobody knows what they were.
  if (!hasRun(charter) || charter.nodes.some(({ roles }) => roles.length === 0)) return [];
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

/** What nodes are to run now, on the way to the version that is asked for. */
function releaseOf(
  { kafka: { spec }, running, metadataLevel }: Written,
  { images }: BrokerSettings,
): { release: Release; faults: Fault[] } {
  const { version = DEFAULT_KAFKA_VERSION, image, metadataVersion } = spec.kafka;
  const step = upgradeStep({ running, wanted: version, metadataLevel, wantedMetadata: metadataVersion });
  if (step.do === 'refused') {
    const fault: Fault = { reason: 'VersionNotPossible', path: step.field.split('.'), message: step.why };
    return { release: { version, metadataVersion: '', image: '', finalize: undefined }, faults: [fault] };
  }
  const { version: now, metadataVersion: level, finalize } = step;
  // An image of the user's own is of the version that they name.
  const chosen = image !== undefined && now === version ? image : imageOf(now, images);
  return { release: { version: now, metadataVersion: level, image: chosen, finalize }, faults: [] };
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

function pullSecretsOf({ spec }: Kafka): { name: string }[] {
  const { pod } = templatesOf(spec.kafka.template);
  const secrets = pod?.['imagePullSecrets'];
  return Array.isArray(secrets) ? (secrets as { name: string }[]) : [];
}
