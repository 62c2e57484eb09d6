/** Decides all that has to exist for one Kafka cluster, and what to say about it. Pure: no clock, no network, no cluster. */
import { canonicalJson } from '../../kube/json.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import type { Plan } from '../kernel/plan.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';
import type { Action, AnchorWith } from './act.ts';
import { anchorOf } from './anchor.ts';
import { certificatesOf } from './certificates/authorities.ts';
import type { Certificates } from './certificates/authorities.ts';
import type { CertificateEnds } from './certificates/metrics.ts';
import { policiesOf } from './certificates/policy.ts';
import type { AuthorityPolicies } from './certificates/seen.ts';
import { charterBefore } from './charter-before.ts';
import { propertiesOf } from './config/properties.ts';
import { HOST_PORTS, portsOfNode } from './expose/ports.ts';
import { toldListeners } from './expose/told.ts';
import type { ToldListener } from './expose/told.ts';
import type { Fault } from './faults.ts';
import { fromKafka } from './front/kafka.ts';
import type { Reading } from './front/kafka.ts';
import { loggingSource } from './front/logging.ts';
import type { BrokerSettings } from './front/settings.ts';
import type { MoveWish } from './look/move.ts';
import type { WantedNodes } from './look/roll-input.ts';
import { withoutData } from './model/charter.ts';
import type { Charter } from './model/charter.ts';
import { nodesOf } from './model/cluster.ts';
import type { BrokerCluster } from './model/cluster.ts';
import { VERSION_ANNOTATION, podName } from './model/names.ts';
import { newsOf } from './news.ts';
import type { News } from './news.ts';
import type { Observed } from './observe.ts';
import { podsIn } from './objects/pod-sets.ts';
import type { OperatorPods } from './objects/services.ts';
import { abandonedClaims, manualPatches, manualUids } from './requests.ts';
import { cordons } from './roll/versions.ts';
import { isPaused, statusesOf } from './status.ts';
import { storageBefore } from './storage-before.ts';
import { podSetsOf, targetsOf } from './target.ts';

export interface KafkaSettings extends BrokerSettings {
  /** The namespace of this installation, by which others know who has a Kafka. */
  holder: string;
  operator: OperatorPods | undefined;
  /** The DNS server that clients outside use, for probes: an address, and a port if it is another than 53. */
  probeResolver?: string | undefined;
  /** Networks of loopback, link-local and metadata addresses that are probed all the same. */
  probeNetworks?: readonly string[] | undefined;
}

export interface KafkaPlan extends Plan<Action> {
  /** When its certificates end, for metrics. */
  certificateEnds: CertificateEnds;
  /** What clients outside are told; undefined where that stays as it was. */
  told: readonly ToldListener[] | undefined;
  /** The names that are to be written down; undefined where nothing is. */
  names: Charter['names'] | undefined;
}

const NOTHING: KafkaPlan = {
  persist: [],
  targets: [],
  actions: [],
  statuses: [],
  lookAgainInMs: undefined,
  certificateEnds: new Map(),
  told: undefined,
  names: undefined,
};
const UNKNOWN_MS = 5000;
/** While something is under way that no watch tells of, and when all is well. */
const SOON_MS = 2000;
const IDLE_MS = 60_000;
/** Until what was written down is seen, as a rule. An API server that keeps only a part of it must not be asked without a pause. */
const WRITTEN_MS = 100;
/** What was made a moment ago is to be written down now. */
const AT_ONCE_MS = 1;

export function planKafka(observed: Observed, settings: KafkaSettings, learned: Learned<never>): KafkaPlan {
  const { kafka, undiscovered } = observed;
  if (undiscovered) return { ...NOTHING, lookAgainInMs: UNKNOWN_MS };
  if (!observed.isManaged) return NOTHING;
  if (!kafka || observed.unreadable.length > 0) return refusedPlan(observed, unreadableFaults(observed));
  const foreign = [...holderFaults(observed, settings), ...foreignFaults(observed, learned)];
  if (foreign.length > 0) return refusedPlan(observed, foreign);
  const { charter, problem } = charterBefore(observed);
  if (problem !== undefined)
    return refusedPlan(observed, [{ reason: 'ChangeNotPossible', path: [], message: problem }]);
  const reading = fromKafka(
    {
      kafka,
      pools: observed.pools,
      charter,
      storage: storageBefore(observed),
      names: { ...observed.names, now: observed.now },
      running: observed.pods.flatMap(({ metadata }) => metadata.annotations?.[VERSION_ANNOTATION] ?? []),
      metadataLevel: observed.acted?.facts?.metadataLevel,
      externalLogging: observed.externalLogging,
      podSetVersion: observed.podSetVersion,
      ports: {
        services: observed.services,
        others: observed.otherHostPorts,
        used: new Set([...observed.pods, ...observed.podSets.flatMap(podsIn)].flatMap(portsOfNode)),
        range: HOST_PORTS,
      },
    },
    settings,
  );
  if (!reading.cluster) return refusedPlan(observed, reading.faults);
  return clusterPlan(observed, { ...reading, cluster: reading.cluster }, settings, learned);
}

/** What runs goes on as it is. */
function refusedPlan(observed: Observed, faults: readonly Fault[]): KafkaPlan {
  const { kafka } = observed;
  // Nothing tells when a ConfigMap comes that has no label of ours.
  const lookAgainInMs = kafka && loggingSource(kafka) ? IDLE_MS : undefined;
  return { ...NOTHING, statuses: statusesOf(observed, undefined, faults), lookAgainInMs };
}

const unreadableFaults = ({ unreadable }: Observed): Fault[] =>
  unreadable.map(({ object: { kind, metadata }, problem }) => ({
    reason: 'Invalid',
    path: [],
    message: `${kind} "${metadata.name}": ${problem}`,
  }));

/** Names that are listed in one message. */
const MAX_NAMES = 10;
const listed = (names: readonly string[]) =>
  names.length > MAX_NAMES
    ? `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`
    : names.join(', ');

/** What belongs to somebody else: nothing is written beside it. */
function foreignFaults({ kafka, anchor, foreign }: Observed, { taken }: Learned<never>): Fault[] {
  const version = anchor ? undefined : kafka?.status?.['operatorLastSuccessfulVersion'];
  const who = [
    ...(typeof version === 'string' ? [`its status is that of a Strimzi operator (${version})`] : []),
    ...(foreign.length > 0 ? [`another operator has made ${listed(foreign)}`] : []),
  ];
  const advice = 'let that operator go on, or make a Kafka of another name';
  if (who.length > 0)
    return [{ reason: 'RunByAnother', path: [], message: `${who.join(', and ')}; ${advice}` }];
  if (taken.size === 0) return [];
  const message = `somebody else has made ${listed([...taken])}; remove them, or choose another name`;
  return [{ reason: 'NameTaken', path: ['metadata', 'name'], message }];
}

/** Two installations would each restart nodes, make keys and empty brokers; the one that wrote the anchor goes on. */
function holderFaults({ name, namespace, anchor }: Observed, { holder }: KafkaSettings): Fault[] {
  const other = anchor?.spec.holder;
  if (other === undefined || other === holder || other === LOCAL) return [];
  const patch = `kubectl patch kafkaanchor ${name} -n ${namespace} --type merge -p '{"spec":{"holder":"${holder}"}}'`;
  const message = `the operator in namespace "${other}" runs this Kafka; to have it run from "${holder}", stop that one and then: ${patch}`;
  return [{ reason: 'RunByAnother', path: [], message }];
}

type Accepted = Reading & { cluster: BrokerCluster };

function clusterPlan(
  observed: Observed,
  { cluster, charter, finalize, reservations, faults }: Accepted,
  settings: KafkaSettings,
  learned: Learned<never>,
): KafkaPlan {
  const { anchor, acted } = observed;
  const kafka = observed.kafka!;
  const { policies, faults: policyFaults } = policiesOf(kafka, settings.certificateTimes);
  const certificates = certificatesIn(observed, cluster, policies, settings);
  const anchorWith: AnchorWith = (inFlight, emptied) =>
    anchorOf(kafka, { ...withoutData(charter, emptied), inFlight }, settings.holder, anchor);
  const document = anchorWith(charter.inFlight);
  const isWritten = anchor !== undefined && canonicalJson(anchor.spec) === canonicalJson(document['spec']);
  const sets = podSetsOf(observed, cluster, charter, certificates);
  const paused = isPaused(kafka);
  const wanted: WantedNodes = {
    cluster,
    charter,
    pods: new Map(sets.flatMap(podsIn).map((pod) => [pod.metadata.name, pod])),
    properties: propertiesByPod(cluster),
    policy: policies.cluster,
    refused: acted?.refused ?? new Map(),
    move: moveWishOf(kafka, charter, cluster.metadataVersion),
    finalize,
    paused,
    manualUids: manualUids(observed.podSets),
    claims: observed.claims,
  };
  const running = { cluster, charter, certificates, acted, learned };
  // What was just written has another version, so nothing more can be written down before it is seen.
  const look: Action[] = isWritten && observed.pods.length > 0 ? [{ do: 'look', wanted, anchorWith }] : [];
  const plan: KafkaPlan = {
    ...NOTHING,
    actions: look,
    statuses: statusesOf(observed, running, [...faults, ...policyFaults]),
    lookAgainInMs: paused || isSettled(observed) ? IDLE_MS : SOON_MS,
    certificateEnds: certificates.ends,
    told: toldListeners(observed, cluster),
  };
  if (paused) return plan;
  const { operator } = settings;
  return {
    ...plan,
    names: charter.names,
    documents: isWritten ? [] : [{ cluster: LOCAL, object: document }],
    targets: targetsOf(observed, { cluster, charter, certificates, sets, reservations, operator }),
    actions: [
      ...mintsOf(cluster, certificates),
      ...(isWritten ? requestActions(observed, charter) : newsOf(anchor, charter).map(toTell)),
      ...look,
    ],
    ...(!isWritten && { lookAgainInMs: WRITTEN_MS }),
    ...(certificates.isAdvancing && { lookAgainInMs: AT_ONCE_MS }),
  };
}

function certificatesIn(
  { secrets, users, pods, acted, now }: Observed,
  cluster: BrokerCluster,
  policies: AuthorityPolicies,
  { clusterDomain }: KafkaSettings,
): Certificates {
  const seen = { cluster, clusterDomain, policies, secrets, users, pods, now: new Date(now) };
  return certificatesOf(seen, acted?.minted ?? []);
}

const toTell = (news: News): Action => ({ do: 'tell', ...news });

/** What people asked for, beside restarts. */
function requestActions(observed: Observed, charter: Charter): Action[] {
  const claims = abandonedClaims(observed, charter);
  return [
    ...manualPatches(observed.podSets, observed.pods).map((patch): Action => ({ do: 'patch', ...patch })),
    ...(claims.length > 0 ? [{ do: 'delete claims' as const, claims }] : []),
  ];
}

const mintsOf = ({ name }: BrokerCluster, { requests }: Certificates): Action[] =>
  requests.length > 0 ? [{ do: 'mint', cluster: name, requests }] : [];

const REBALANCE_ANNOTATION = 'isthmus.dev/rebalance';
const THROTTLE_ANNOTATION = 'isthmus.dev/move-bytes-per-second';
/** A tenth of what a small machine's network has. */
const MOVE_BYTES_PER_SECOND = 50_000_000;
const MOVES_AT_ONCE = 20;

function moveWishOf(
  { metadata: { annotations } }: Kafka,
  { nodes }: Charter,
  metadataVersion: string,
): MoveWish {
  // One that was found by its disk, and that no pool has, may have been anything.
  const leaving = nodes.flatMap(({ id, leaving: goes, roles }) =>
    goes && (roles.includes('broker') || roles.length === 0) ? [id] : [],
  );
  const rebalance = annotations[REBALANCE_ANNOTATION] === 'on-scale';
  const rate = Number(annotations[THROTTLE_ANNOTATION] ?? MOVE_BYTES_PER_SECOND);
  return {
    leaving,
    cordons: cordons(metadataVersion),
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

function isSettled({ acted, pods }: Observed): boolean {
  const isMoving = acted?.moved !== undefined && !acted.moved.done;
  const isReloading = (acted?.reloads.size ?? 0) > 0;
  return acted?.decision?.do === 'done' && pods.length > 0 && !isMoving && !isReloading;
}
