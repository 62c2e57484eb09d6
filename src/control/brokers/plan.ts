/** Decides all that has to exist for one Kafka cluster, and what to say about it. Pure: no clock, no network, no cluster. */
import { canonicalJson } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import type { Plan } from '../kernel/plan.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';
import type { Action } from './act.ts';
import { adopt, anchorOf, charterOf } from './anchor.ts';
import { certificatesOf } from './certificates/authorities.ts';
import type { Certificates } from './certificates/authorities.ts';
import { policiesOf } from './certificates/policy.ts';
import { propertiesOf } from './config/properties.ts';
import type { Fault } from './faults.ts';
import { fromKafka, isManaged } from './front/kafka.ts';
import type { Reading } from './front/kafka.ts';
import type { BrokerSettings } from './front/settings.ts';
import type { MoveWish } from './look/move.ts';
import type { WantedNodes } from './look/roll-input.ts';
import type { Charter } from './model/charter.ts';
import { nodesOf } from './model/cluster.ts';
import type { BrokerCluster, Volume } from './model/cluster.ts';
import {
  VERSION_ANNOTATION,
  STORAGE_ANNOTATION,
  VOLUMES_ANNOTATION,
  podName,
  podSetName,
} from './model/names.ts';
import type { Observed } from './observe.ts';
import type { OperatorPods } from './objects/services.ts';
import { isPodReady, statusesOf } from './status.ts';
import { podSetsOf, podsIn, targetOf } from './target.ts';

export interface KafkaSettings extends BrokerSettings {
  /** Who writes anchors. */
  holder: string;
  operator: OperatorPods | undefined;
}

export type KafkaPlan = Plan<Action>;

const NOTHING: KafkaPlan = { persist: [], targets: [], actions: [], statuses: [], lookAgainInMs: undefined };
const UNKNOWN_MS = 5000;
/** While something is under way that no watch tells of, and when all is well. */
const SOON_MS = 2000;
const IDLE_MS = 60_000;
/** What was made a moment ago is to be written down now. */
const AT_ONCE_MS = 1;

const PAUSE_ANNOTATION = 'strimzi.io/pause-reconciliation';

export function planKafka(observed: Observed, settings: KafkaSettings, learned: Learned<never>): KafkaPlan {
  const { kafka, undiscovered } = observed;
  if (undiscovered) return { ...NOTHING, lookAgainInMs: UNKNOWN_MS };
  if (!kafka || !isManaged(kafka) || kafka.metadata.deletionTimestamp !== undefined) return NOTHING;
  if (observed.unreadable.length > 0) return refusedPlan(observed, unreadableFaults(observed));
  const adoption = observed.anchor ? undefined : adopt(observed.claims, observed.newClusterId);
  if (adoption?.problem !== undefined)
    return refusedPlan(observed, [{ reason: 'ChangeNotPossible', path: [], message: adoption.problem }]);
  const charter = observed.anchor ? charterOf(observed.anchor) : adoption!.charter;
  const before = withoutDrained(withFormatted(charter, observed.pods), observed.acted);
  const reading = fromKafka(
    {
      kafka,
      pools: observed.pools,
      charter: before,
      storage: storageOf(observed),
      running: observed.pods.flatMap(({ metadata }) => metadata.annotations?.[VERSION_ANNOTATION] ?? []),
      metadataLevel: observed.acted?.facts?.metadataLevel,
      podSetVersion: observed.podSetVersion,
    },
    settings,
  );
  if (!reading.cluster) return refusedPlan(observed, reading.faults);
  return clusterPlan(observed, { ...reading, cluster: reading.cluster }, settings, learned);
}

/** What runs goes on as it is. */
function refusedPlan(observed: Observed, faults: readonly Fault[]): KafkaPlan {
  return { ...NOTHING, statuses: statusesOf(observed, undefined, faults) };
}

const unreadableFaults = ({ unreadable }: Observed): Fault[] =>
  unreadable.map(({ object: { kind, metadata }, problem }) => ({
    reason: 'Invalid',
    path: [],
    message: `${kind} "${metadata.name}": ${problem}`,
  }));

/** A node that is ready has formatted the volumes that its pod was made with. */
function withFormatted(charter: Charter, pods: readonly AnyObject[]): Charter {
  const volumesOf = new Map(
    pods
      .filter(isPodReady)
      .map(({ metadata }) => [metadata.name, metadata.annotations?.[VOLUMES_ANNOTATION] ?? '']),
  );
  const nodes = charter.nodes.map((node) => {
    const [, volumes = ''] = [...volumesOf].find(([pod]) => pod.endsWith(`-${node.pool}-${node.id}`)) ?? [];
    const formatted = new Set([...node.formatted, ...volumes.split(',').filter((name) => name !== '')]);
    return formatted.size === node.formatted.length
      ? node
      : { ...node, formatted: [...formatted].toSorted() };
  });
  return { ...charter, nodes };
}

/** Nodes that are to go, and are empty, are gone from now on: their pods go, and their ids are free. */
function withoutDrained(charter: Charter, acted: Observed['acted']): Charter {
  const drained = new Set(acted?.moved?.drained);
  return { ...charter, nodes: charter.nodes.filter(({ id, leaving }) => !leaving || !drained.has(id)) };
}

/** The volumes that pools were made with, as their pod sets say. */
function storageOf({ podSets, pools, name }: Observed): Map<string, readonly Volume[]> {
  return new Map(
    pools.flatMap((pool) => {
      const set = podSets.find(({ metadata }) => metadata.name === podSetName(name, pool.metadata.name));
      const text = set?.metadata.annotations?.[STORAGE_ANNOTATION];
      return text === undefined ? [] : [[pool.metadata.name, JSON.parse(text) as Volume[]] as const];
    }),
  );
}

type Accepted = Reading & { cluster: BrokerCluster };

function clusterPlan(
  observed: Observed,
  { cluster, charter, finalize, faults }: Accepted,
  settings: KafkaSettings,
  learned: Learned<never>,
): KafkaPlan {
  const { kafka, anchor, acted, now } = observed;
  const { policies, faults: policyFaults } = policiesOf(kafka!);
  const certificates = certificatesOf(
    {
      cluster,
      clusterDomain: settings.clusterDomain,
      policies,
      secrets: observed.secrets,
      pods: new Map(observed.pods.map(({ metadata }) => [metadata.name, metadata.annotations ?? {}])),
      now: new Date(now),
    },
    acted?.minted ?? [],
  );
  const document = anchorOf(kafka!, charter, settings.holder, anchor);
  const isWritten = anchor !== undefined && canonicalJson(anchor.spec) === canonicalJson(document['spec']);
  const sets = podSetsOf(cluster, charter, certificates, observed.pods);
  const wanted: WantedNodes = {
    cluster,
    charter,
    pods: new Map(sets.flatMap(podsIn).map((pod) => [pod.metadata.name, pod])),
    properties: propertiesByPod(cluster),
    renewalMs: policies.cluster.renewalMs,
    refused: acted?.refused ?? new Map(),
    move: moveWishOf(kafka!, charter),
    finalize,
    paused: kafka!.metadata.annotations[PAUSE_ANNOTATION] === 'true',
  };
  const { requests } = certificates;
  const status = statusesOf(observed, { cluster, certificates, acted, learned }, [
    ...faults,
    ...policyFaults,
  ]);
  const anchorWith = (inFlight: Charter['inFlight']) =>
    anchorOf(kafka!, { ...charter, inFlight }, settings.holder, anchor);
  return {
    documents: isWritten ? [] : [{ cluster: LOCAL, object: document }],
    persist: [],
    targets: wanted.paused
      ? []
      : [targetOf({ cluster, charter, certificates, sets, pods: observed.pods }, settings.operator, learned)],
    actions: [
      ...(requests.length > 0 ? [{ do: 'mint' as const, cluster: cluster.name, requests }] : []),
      // What was just written has another version, so nothing more can be written down before it is seen.
      ...(isWritten && observed.pods.length > 0 ? [{ do: 'look' as const, wanted, anchorWith }] : []),
    ],
    statuses: status,
    lookAgainInMs: lookAgainInMs(observed, certificates),
  };
}

const REBALANCE_ANNOTATION = 'isthmus.dev/rebalance';
const THROTTLE_ANNOTATION = 'isthmus.dev/move-bytes-per-second';
/** A tenth of what a small machine's network has. */
const MOVE_BYTES_PER_SECOND = 50_000_000;
const MOVES_AT_ONCE = 20;

function moveWishOf({ metadata: { annotations } }: Kafka, { nodes }: Charter): MoveWish | undefined {
  const leaving = nodes.flatMap(({ id, leaving: goes, roles }) =>
    goes && roles.includes('broker') ? [id] : [],
  );
  const rebalance = annotations[REBALANCE_ANNOTATION] === 'on-scale';
  if (leaving.length === 0 && !rebalance) return undefined;
  const rate = Number(annotations[THROTTLE_ANNOTATION] ?? MOVE_BYTES_PER_SECOND);
  return {
    leaving,
    rebalance,
    bytesPerSecond: Number.isFinite(rate) && rate > 0 ? rate : undefined,
    maxInFlight: MOVES_AT_ONCE,
  };
}

function propertiesByPod(cluster: BrokerCluster): Map<string, Record<string, string>> {
  return new Map(
    nodesOf(cluster).map(({ pool, node }) => [
      podName(cluster.name, pool.name, node.id),
      Object.fromEntries(propertiesOf(cluster, pool, node)),
    ]),
  );
}

function lookAgainInMs({ acted, pods }: Observed, { requests, steps }: Certificates): number {
  if (requests.length > 0 || (acted?.minted.length ?? 0) > 0 || steps['cluster-ca'].do === 'publish')
    return AT_ONCE_MS;
  const isMoving = acted?.moved !== undefined && !acted.moved.done;
  const isSettled = acted?.decision?.do === 'done' && pods.length > 0 && !isMoving;
  return isSettled ? IDLE_MS : SOON_MS;
}
