/** From a Kafka and its node pools to the cluster that is to run, or what keeps it from being one. Pure. */
import type { KubeObject } from '../../../kube/object.ts';
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import { stretchOf } from '../../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { NameSight } from '../expose/grants.ts';
import { grantNames } from '../expose/listener-names.ts';
import type { GrantedNames } from '../expose/listener-names.ts';
import { isWarning } from '../faults.ts';
import type { Fault } from '../faults.ts';
import type { Charter, CharterNode } from '../model/charter.ts';
import { hasRun } from '../model/charter.ts';
import type { BrokerCluster, Listener, Volume } from '../model/cluster.ts';
import { assignIds, withBrokers } from '../model/ids.ts';
import { MANAGED_ANNOTATION, STORAGE_ANNOTATION } from '../model/names.ts';
import { chosenQuorum, forgetfulFaults } from '../quorum/chosen.ts';
import { upgradeStep } from '../roll/upgrade.ts';
import { DEFAULT_KAFKA_VERSION, imageOf } from '../roll/versions.ts';
import {
  authorizationFaults,
  authorizationOf,
  configOf,
  keptAuthoritiesOf,
  pullSecretsOf,
  rackFaults,
  rackOf,
} from './broker-fields.ts';
import { exposedListeners } from './exposed-listeners.ts';
import type { PortSight, Reservation } from './exposed-listeners.ts';
import { ignoredFaults } from './ignored.ts';
import { loggingOf } from './logging.ts';
import { metricsOf } from './metrics.ts';
import { nodeFaults, poolFaults, refusal } from './node-faults.ts';
import { poolOf, takenIdFaults, wishOf } from './node-pool.ts';
import { placementOf, stretchedListenerFaults } from './placement.ts';
import type { Joined } from './placement.ts';
import type { BrokerSettings } from './settings.ts';
import { storageChangeFaults, storageOf } from './storage.ts';
import { jvmOf, probeOf, templateFaults, templatesOf } from './templates.ts';

/** Whether a Kafka asks to be run by this operator. */
export function isManaged({ metadata: { annotations = {} } }: Pick<KubeObject, 'metadata'>): boolean {
  return annotations[MANAGED_ANNOTATION] === 'true' || stretchOf({ metadata: { annotations } }) !== undefined;
}

/** All that is written about one cluster. */
export interface Written {
  kafka: Kafka;
  /** In the order of their names. */
  pools: readonly KafkaNodePool[];
  /** What was written down about it; of one that has just come, a new id and nothing else. */
  charter: Charter;
  /** The volumes that each pool was made with; undefined where that cannot be read. */
  storage: ReadonlyMap<string, readonly Volume[] | undefined>;
  /** The versions that its pods run. */
  running: readonly string[];
  /** The level of `metadata.version`, if Kafka could be asked. */
  metadataLevel: number | undefined;
  /** What is in the ConfigMap that it has its logging from; undefined if there is none. */
  externalLogging: string | undefined;
  /** As an API server names it, e.g. `core.strimzi.io/v1`. */
  podSetVersion: string;
  ports: PortSight;
  names: NameSight & { now: number };
  /** The Kubernetes clusters that pools may be in, besides the one of the operator. */
  joined: Joined | undefined;
}

type Release = Pick<BrokerCluster, 'version' | 'metadataVersion' | 'image'> &
  Pick<Reading, 'finalize' | 'asksFirst'>;

export interface Reading {
  /** Undefined where something is refused: what runs goes on as it is. */
  cluster: BrokerCluster | undefined;
  /** What is to be written down before the cluster is made. */
  charter: Charter;
  /** The level of `metadata.version` to go to once nothing else is to be done. */
  finalize: { level: number; downgrade: boolean } | undefined;
  /** Kafka has to be asked something before anything may be changed: the cluster is as it runs. */
  asksFirst?: boolean;
  /** Ports of nodes that are kept by a Service each: those of the listeners, once they are known. */
  reservations: readonly Reservation[];
  faults: Fault[];
}

/** Whether its nodes are controllers whose log goes with their pods. */
const isForgetful = (
  { metadata, spec }: KafkaNodePool,
  storages: ReadonlyMap<string, { volumes: readonly Volume[] }>,
): boolean =>
  (spec.roles ?? []).includes('controller') &&
  (storages.get(metadata.name)?.volumes ?? []).some(
    ({ metadata: hasLog, persistent }) => hasLog && !persistent,
  );

export function fromKafka(written: Written, settings: BrokerSettings): Reading {
  const { kafka, pools, charter } = written;
  const placement = placementOf(written);
  const wishes = pools.map((pool) => wishOf(pool, placement.placeOf(pool)));
  const storages = new Map(pools.map((pool) => [pool.metadata.name, storageOf(pool)]));
  const assigned = assignIds(
    wishes.map(({ wish }) => wish),
    charter.nodes,
  );
  // What has never run has nothing that could be lost, and need not be emptied.
  const asked = hasRun(charter) ? assigned : assigned.filter(({ leaving }) => !leaving);
  const nodes = hasRun(charter) ? withBrokers(asked, charter) : asked;
  const {
    listeners,
    hostPorts,
    addresses,
    reservations,
    portFaults,
    faults: listenerFaults,
  } = exposedListeners(written, nodes);
  const { names, ...granted } = namedListeners(written, nodes, listeners);
  const { network, targets } = placement;
  const {
    quorum,
    ofCluster,
    faults: quorumFaults,
  } = chosenQuorum({ kafka, charter, nodes, network, targets });
  const { config, faults: configFaults } = configOf(kafka);
  const { release, faults: releaseFaults } = releaseOf(written, settings);
  const { logging, faults: loggingFaults } = loggingOf(kafka, written.externalLogging);
  const { metrics, faults: metricsFaults } = metricsOf(kafka, settings.ownImage);
  const { finalize, asksFirst = false, ...run } = release;
  const faults = [
    ...(asksFirst ? [] : releaseFaults),
    ...listenerFaults,
    ...configFaults,
    ...wishes.flatMap((one) => [...one.faults, ...takenIdFaults(one.wish, nodes)]),
    ...pools.flatMap((pool) => storageFaults(pool, written, storages.get(pool.metadata.name)!)),
    ...pools.flatMap((pool) => poolFaults(kafka, pool)),
    ...placement.faults,
    ...stretchedListenerFaults(kafka, placement),
    ...nodeFaults(charter, asked, config),
    ...quorumFaults,
    ...forgetfulFaults(quorum, pools.filter((pool) => isForgetful(pool, storages)).map(({ metadata }) => metadata.name)), // prettier-ignore
    ...rackFaults(kafka),
    ...authorizationFaults(kafka),
    ...templateFaults(kafka, pools),
    ...loggingFaults,
    ...metricsFaults,
    ...ignoredFaults(kafka, pools),
  ];
  const refused = faults.some((fault) => !isWarning(fault));
  if (refused) return { cluster: undefined, charter, finalize: undefined, reservations: [], faults };
  const cluster: BrokerCluster = {
    namespace: kafka.metadata.namespace,
    name: kafka.metadata.name,
    uid: kafka.metadata.uid ?? '',
    apiVersions: { kafka: kafka.apiVersion, podSet: written.podSetVersion },
    clusterId: charter.clusterId,
    ...run,
    imagePullSecrets: pullSecretsOf(kafka),
    pools: pools.map((pool) =>
      poolOf(kafka, pool, placement.placeOf(pool), nodes, storages.get(pool.metadata.name)!.volumes),
    ),
    network,
    quorum: ofCluster,
    listeners: granted.listeners,
    config,
    rack: rackOf(kafka),
    authorization: authorizationOf(kafka),
    keptAuthorities: keptAuthoritiesOf(kafka),
    template: templatesOf(kafka.spec.kafka.template),
    jvm: jvmOf(kafka.spec.kafka['jvmOptions']),
    readiness: probeOf(kafka.spec.kafka['readinessProbe']),
    logging,
    metrics,
  };
  if (asksFirst)
    return { cluster, charter, finalize, asksFirst, reservations: [], faults: [...releaseFaults, ...faults] };
  return {
    cluster,
    charter: {
      ...charter,
      nodes,
      network,
      targets,
      quorum,
      hostPorts,
      addresses,
      names,
    },
    finalize,
    reservations,
    faults: [...faults, ...portFaults, ...granted.faults],
  };
}

/** Those that have the names that they ask for, or need none. */
function namedListeners(
  { kafka, charter, names }: Written,
  nodes: readonly CharterNode[],
  listeners: readonly Listener[],
): GrantedNames {
  const all = (kafka.spec.kafka.listeners ?? []).map(({ name }) => name);
  return grantNames(listeners, {
    ...names,
    kafka: kafka.metadata,
    recorded: charter.names,
    waiting: all.filter((name) => !listeners.some((one) => one.name === name)),
    brokers: nodes.filter(({ roles }) => roles.includes('broker')).length,
  });
}

function storageFaults(
  pool: KafkaNodePool,
  { storage, charter: { nodes } }: Written,
  { volumes, faults }: { volumes: Volume[]; faults: Fault[] },
): Fault[] {
  const { name } = pool.metadata;
  if (faults.length > 0 || !storage.has(name)) return faults;
  const had = storage.get(name);
  if (had) return storageChangeFaults(pool, volumes, had, nodes);
  const message = `KafkaNodePool "${name}": the annotation ${STORAGE_ANNOTATION} of its StrimziPodSet cannot be read, so nobody can tell what volumes it has; remove the annotation if they are as the pool says`;
  return [refusal('ChangeNotPossible', ['spec', 'storage'], message)];
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
  if (step.do === 'ask') {
    const fault: Fault = {
      reason: 'VersionNotPossible',
      path: ['spec', 'kafka', 'version'],
      message: step.why,
    };
    const image = imageOf(step.version, images);
    return {
      release: {
        version: step.version,
        metadataVersion: step.metadataVersion,
        image,
        finalize: undefined,
        asksFirst: true,
      },
      faults: [fault],
    };
  }
  const { version: now, metadataVersion: level, finalize } = step;
  // An image of the user's own is of the version that they name.
  const chosen = image !== undefined && now === version ? image : imageOf(now, images);
  return { release: { version: now, metadataVersion: level, image: chosen, finalize }, faults: [] };
}
