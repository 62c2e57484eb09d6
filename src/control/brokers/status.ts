/** What is said about a Kafka and its node pools. Pure. */
import { isIPv6 } from 'node:net';
import type { AnyObject } from '../../kube/object.ts';
import type { PlannedCondition } from '../../kube/write/conditions.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import { VERSION } from '../../ops/version.ts';
import { MAX_MESSAGE } from '../kernel/faults.ts';
import type { PlannedStatus } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';
import type { Acted } from './act.ts';
import type { Certificates } from './certificates/authorities.ts';
import { conditionsOf } from './faults.ts';
import type { Fault } from './faults.ts';
import type { Charter } from './model/charter.ts';
import { hasRole, nodesOf } from './model/cluster.ts';
import type { BrokerCluster, Exposure, Listener } from './model/cluster.ts';
import { placesOf } from './expose/endpoints.ts';
import { exposureFaults, placementFaults } from './expose/faults.ts';
import { exposedHost } from './expose/names.ts';
import { bootstrapServiceName, podName, podSelector, POOL_LABEL } from './model/names.ts';
import { distanceWarnings, nodeWarnings, unsetFactorsIn } from './moves/layout-warnings.ts';
import type { Observed } from './observe.ts';
import { OUTSIDE_CONDITIONS } from './probe/conditions.ts';
import { podFacts, runningVersions } from './roll/pod-facts.ts';
import { metadataVersionAt, oldestOf } from './roll/versions.ts';
import { clusterSetBootstrap } from './stretch/network.ts';
import { unseenTargets } from './stretch/plan-stretch.ts';
import { targetsOf } from './stretch/target-status.ts';
import { skewWarnings } from './stretch/version-skew.ts';

export const isPodReady = (pod: AnyObject): boolean => podFacts(pod).ready;

const PAUSE_ANNOTATION = 'strimzi.io/pause-reconciliation';

/** Whether its owner wants nothing done for now. */
export const isPaused = ({ metadata }: Kafka): boolean => metadata.annotations[PAUSE_ANNOTATION] === 'true';

/** A cluster that is as its owner wants it, or becomes so. */
export interface Running {
  cluster: BrokerCluster;
  charter: Charter;
  certificates: Certificates;
  acted: Acted | undefined;
  learned: Learned<never>;
}

export function statusesOf(
  observed: Observed,
  running: Running | undefined,
  faults: readonly Fault[],
): PlannedStatus[] {
  const { kafka, namespace, name, pools } = observed;
  const all = [...faults, ...(running ? runningFaults(observed, running) : [])];
  const status = {
    ...(running && clusterStatus(observed, running)),
    ...generationOf(kafka?.metadata),
    // Without a generation: Strimzi's CRDs would drop it, and the status would be written for ever.
    conditions: [
      ...conditionsOf(all, ['Accepted', 'Ready'], undefined),
      ...(running ? warningConditions(observed, running) : []),
      ...outsideConditionsIn(observed.anchor),
    ],
  };
  const ofKafka = { kind: 'Kafka', namespace, name, status, keepsRest: true };
  if (!running) return [ofKafka, ...refusedPools(observed, all)];
  return [
    ofKafka,
    ...pools.map(({ metadata, status }) => ({
      kind: 'KafkaNodePool',
      namespace,
      name: metadata.name,
      status: {
        ...poolStatus(running.cluster, metadata.name),
        ...generationOf(metadata),
        // What was wrong with it before is over.
        ...(hasConditions(status) && { conditions: [] }),
      },
      keepsRest: true,
    })),
  ];
}

const hasConditions = (status: { conditions?: readonly unknown[] } | undefined) =>
  (status?.conditions ?? []).length > 0;

/** Pools that something is wrong with say so themselves, too. */
function refusedPools({ namespace, pools }: Observed, faults: readonly Fault[]): PlannedStatus[] {
  return pools.flatMap(({ metadata: { name, ...metadata } }) => {
    const own = faults.filter(({ pool }) => pool === name);
    if (own.length === 0) return [];
    const conditions = conditionsOf(own, ['Accepted', 'Ready'], undefined);
    const status = { conditions, ...generationOf(metadata) };
    return [{ kind: 'KafkaNodePool', namespace, name, status, keepsRest: true }];
  });
}

/** What works, and would not survive much; as Strimzi has it, a condition that is there only where there is something to say. */
function warningConditions(observed: Observed, { cluster, charter, acted }: Running): PlannedCondition[] {
  const staying = charter.nodes.filter(({ leaving }) => !leaving);
  const controllers = cluster.pools.filter((pool) => hasRole(pool, 'controller'));
  const forgetful = controllers.filter(
    ({ volumes }) => !volumes.some((one) => one.metadata && one.persistent),
  );
  const layout = {
    controllers: staying.filter(({ roles }) => roles.includes('controller')).length,
    forgetful: nodesOf({ pools: forgetful }).length,
    brokers: staying.filter(({ roles }) => roles.includes('broker')).length,
    minIsr: Number(cluster.config['min.insync.replicas'] ?? 1),
    replicas: Number(cluster.config['default.replication.factor'] ?? 1),
    unsetFactors: unsetFactorsIn(cluster.config),
    places: cluster.network === undefined ? [] : placesIn(staying, charter),
  };
  const targets = targetsOf(observed, charter);
  const distances = targets.flatMap(({ name: from, latencies = [] }) =>
    latencies.map(({ name: to, p99Ms }) => ({ from, to, p99Ms })),
  );
  const warnings = [
    ...nodeWarnings(layout),
    ...(acted?.layout ?? []),
    ...distanceWarnings(distances),
    ...skewWarnings(targets, VERSION),
  ];
  const [first] = warnings;
  if (!first) return [];
  const message = warnings
    .map((one) => one.message)
    .join(' ')
    .slice(0, MAX_MESSAGE);
  return [{ type: 'Warning', status: 'True', reason: first.reason, message }];
}

/** How many nodes there are in each Kubernetes cluster, as the network calls it. */
function placesIn(nodes: Charter['nodes'], { targets }: Charter) {
  return [...Map.groupBy(nodes, ({ target }) => target)].map(([target, own]) => ({
    name: targets[target]?.networkId ?? target,
    controllers: own.filter(({ roles }) => roles.includes('controller')).length,
    brokers: own.filter(({ roles }) => roles.includes('broker')).length,
  }));
}

/** What the probe has found out, which readiness does not wait for. */
const outsideConditionsIn = (anchor: KafkaAnchor | undefined): PlannedCondition[] =>
  (anchor?.status?.conditions ?? [])
    .filter(({ type }) => OUTSIDE_CONDITIONS.includes(type))
    .map(({ type, status, reason = type, message = '' }) => ({ type, status, reason, message }));

const generationOf = ({ generation }: { generation?: number } = {}) =>
  generation === undefined ? {} : { observedGeneration: generation };

function clusterStatus(observed: Observed, { cluster, certificates, acted }: Running): object {
  const { namespace, name } = observed;
  const trusted = certificates.trusted.map(({ pem }) => pem).join('');
  // The first is each Kubernetes cluster's own; the other leads to brokers of all of them.
  const hosts = [`${bootstrapServiceName(name)}.${namespace}.svc`, clusterSetBootstrap(cluster) ?? []].flat();
  const listenerStatus = ({ name: listener, port, tls, exposure }: Listener) => {
    const addresses = exposure
      ? outsideAddresses(observed, cluster, exposure)
      : hosts.map((one) => ({ host: one, port }));
    return {
      name: listener,
      addresses,
      bootstrapServers: addresses.map(hostAndPort).join(','),
      ...(tls && { certificates: [trusted] }),
    };
  };
  return {
    clusterId: cluster.clusterId,
    ...versionsIn(observed, acted),
    listeners: cluster.listeners.map(listenerStatus),
    kafkaNodePools: cluster.pools.map(({ name: pool }) => ({ name: pool })),
  };
}

/** What runs, not what is wanted; where nobody can tell, what was said before stays. */
function versionsIn({ pods }: Observed, acted: Acted | undefined): object {
  const kafkaVersion = oldestOf(runningVersions(pods));
  const level = acted?.facts?.metadataLevel;
  const inForce = level === undefined ? undefined : metadataVersionAt(level);
  return {
    ...(kafkaVersion !== undefined && { kafkaVersion }),
    ...(inForce && { kafkaMetadataVersion: inForce.name }),
  };
}

function poolStatus({ clusterId, name, pools }: BrokerCluster, pool: string): object {
  const found = pools.find((one) => one.name === pool);
  const selector = { ...podSelector(name), [POOL_LABEL]: pool };
  return {
    clusterId,
    nodeIds: found?.nodes.map(({ id }) => id) ?? [],
    roles: found?.roles ?? [],
    replicas: found?.nodes.length ?? 0,
    labelSelector: Object.entries(selector)
      .map(([key, value]) => `${key}=${value}`)
      .join(),
  };
}

const hostAndPort = ({ host, port }: { host: string; port: number }) =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;

/** Where clients begin from outside. */
function outsideAddresses(observed: Observed, cluster: BrokerCluster, exposure: Exposure) {
  const { hostPattern, port, isWithdrawn } = exposure;
  if (isWithdrawn) return [];
  if (hostPattern !== undefined) return [{ host: exposedHost(hostPattern, 'bootstrap'), port }];
  const { brokers, bootstrap } = placesOf(observed, cluster, exposure);
  const hosts = bootstrap ?? brokers.flatMap(({ addresses }) => addresses);
  return [...new Set(hosts)].map((host) => ({ host, port }));
}

function runningFaults(observed: Observed, running: Running): Fault[] {
  return [
    ...deniedFaults(running),
    ...certificateFaults(running),
    ...reloadFaults(observed, running),
    ...placementFaults(observed, running.cluster),
    ...podFaults(observed, running),
    ...exposureFaults(observed, running.cluster),
    ...rollFaults(observed, running),
    ...moveFaults(running),
    ...[running.acted?.voters?.under ?? []].flat().map((message): Fault => ({ reason: 'VotersChanging', path: [], message })), // prettier-ignore
    ...orphanFaults(running),
    ...retiringFaults(running),
  ];
}

const deniedFaults = ({ learned }: Running): Fault[] =>
  [...learned.denied].map(([object, why]) => ({ reason: 'Denied', path: [], message: `${object}: ${why}` }));

function certificateFaults({ certificates, cluster }: Running): Fault[] {
  const { steps, annotations, warnings, unverified } = certificates;
  const blocked = Object.entries(steps).flatMap(([authority, step]): Fault[] =>
    step.do === 'blocked'
      ? [{ reason: 'CertificateAuthority', path: [], message: `${authority}: ${step.why}` }]
      : [],
  );
  const broken = unverified.map((problem): Fault => {
    const message = `${problem}; ca.crt of the cluster CA has to have all that is above the CA, up to its root`;
    return { reason: 'CertificateChain', path: [], message };
  });
  const isMissing = nodesOf(cluster).some(
    ({ pool, node }) => !annotations.has(podName(cluster.name, pool.name, node.id)),
  );
  const ending = warnings.map((message): Fault => ({ reason: 'CertificatesEnding', path: [], message }));
  if (blocked.length > 0 || !isMissing) return [...blocked, ...broken, ...ending];
  return [{ reason: 'CertificatesPending', path: [], message: 'certificates of nodes are being made' }];
}

/** Reloads take minutes, because kubelets do. */
const RELOAD_PATIENCE_MS = 600_000;

function reloadFaults({ now, pods }: Observed, { acted }: Running): Fault[] {
  return pods.flatMap(({ metadata: { name, uid = '' } }): Fault[] => {
    const { problem, since = now } = acted?.reloads.get(uid) ?? {};
    if (problem === undefined || now - since < RELOAD_PATIENCE_MS) return [];
    const message = `${name} cannot be seen to have loaded its new certificates: ${problem}; if that lasts, delete the pod`;
    return [{ reason: 'CertificatesEnding', path: [], message }];
  });
}

function podFaults(observed: Observed, { cluster, charter }: Running): Fault[] {
  const { pods } = observed;
  const unseen = unseenTargets(observed, charter);
  const live = new Map(pods.map((pod) => [pod.metadata.name, podFacts(pod)]));
  return nodesOf(cluster).flatMap(({ pool, node }): Fault[] => {
    const name = podName(cluster.name, pool.name, node.id);
    const pod = live.get(name);
    if (pod?.ready || unseen.has(pool.target)) return [];
    const said = pod?.lastExit?.message || pod?.unplaced || '';
    if (said.startsWith('DiskLost')) return [{ reason: 'DiskLost', path: [], message: `${name}: ${said}` }];
    const why = !pod ? 'has no pod' : (pod.stuck ?? 'is not ready');
    return [
      { reason: 'PodsNotReady', path: [], message: `${name} ${why}${said === '' ? '' : ` (${said})`}` },
    ];
  });
}

function rollFaults(observed: Observed, { acted, charter }: Running): Fault[] {
  const { kafka } = observed;
  if (kafka && isPaused(kafka))
    return [{ reason: 'Paused', path: [], message: `nothing is changed: ${PAUSE_ANNOTATION} is true` }];
  const decision = acted?.decision;
  // Of a cluster that cannot be seen something else tells.
  if (decision?.do === 'blocked' && acted?.toRestart === 0 && unseenTargets(observed, charter).size > 0)
    return [];
  if (decision?.do === 'blocked') return [{ reason: 'RollBlocked', path: [], message: decision.why }];
  if (decision?.do === 'restart')
    return [{ reason: 'Rolling', path: [], message: `node ${decision.node} is restarted: ${decision.why}` }];
  if (decision?.do === 'wait') return [{ reason: 'Rolling', path: [], message: decision.why }];
  if (decision?.do === 'reconfigure')
    return [
      { reason: 'Rolling', path: [], message: `node ${decision.node} is given settings while it runs` },
    ];
  return [];
}

function moveFaults({ acted }: Running): Fault[] {
  const moved = acted?.moved;
  if (!moved) return [];
  const { noPlace, toDrain, underWay, open } = moved;
  if (noPlace) {
    const names = noPlace.first.map(({ topic, partition }) => `${topic}-${partition}`).join(', ');
    const message = `${noPlace.count} partitions have more replicas than brokers would be left (${names}); lower their replication factor, or keep the brokers`;
    return [{ reason: 'ScaleDownPrevented', path: [], message }];
  }
  const stillOpen = open.map(({ id, problem }): Fault => {
    const message = `broker ${id} is to go and cannot be kept from being given partitions: ${problem}`;
    return { reason: 'Draining', path: [], message };
  });
  if (toDrain === 0) return stillOpen;
  const message = `${toDrain} partitions are still on brokers that are to go, ${underWay} are under way`;
  return [{ reason: 'Draining', path: [], message }, ...stillOpen];
}

/** What their pools ask for waits until they are empty. */
function retiringFaults({ charter }: Running): Fault[] {
  const ids = charter.nodes.flatMap(({ id, retiring }) => (retiring ? [id] : []));
  if (ids.length === 0) return [];
  const message = `nodes ${ids.join(', ')} are to be no brokers any more, and are until they are empty`;
  return [{ reason: 'Draining', path: [], message }];
}

/** Nodes whose pool was deleted run on until they are empty. */
function orphanFaults({ cluster, charter }: Running): Fault[] {
  const orphans = charter.nodes.filter(({ pool }) => !cluster.pools.some(({ name }) => name === pool));
  return [...Map.groupBy(orphans, ({ pool }) => pool)].map(([pool, nodes]): Fault => {
    const names = nodes.map(({ id }) => podName(cluster.name, pool, id)).join(', ');
    const message = `KafkaNodePool "${pool}" was deleted: ${names} run on as they are until they are empty`;
    return { reason: 'Draining', path: [], message };
  });
}
