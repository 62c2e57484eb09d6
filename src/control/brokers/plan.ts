/** Decides all that has to exist for one Kafka cluster, and what to say about it. Pure: no clock, no network, no cluster. */
import { canonicalJson } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Plan } from '../kernel/plan.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';
import type { Action, AnchorWith } from './act.ts';
import { anchorOf } from './anchor.ts';
import { certificatesOf } from './certificates/authorities.ts';
import type { Certificates } from './certificates/authorities.ts';
import { issuerFaults } from './certificates/issuer.ts';
import type { CertificateEnds } from './certificates/metrics.ts';
import { policiesOf } from './certificates/policy.ts';
import type { AuthorityPolicies } from './certificates/seen.ts';
import { charterBefore } from './charter-before.ts';
import { propertiesByPod } from './config/properties.ts';
import { toldListeners } from './expose/told.ts';
import type { ToldListener } from './expose/told.ts';
import type { Fault } from './faults.ts';
import type { Reading } from './front/kafka.ts';
import { loggingSource } from './front/logging.ts';
import type { BrokerSettings } from './front/settings.ts';
import type { WantedNodes } from './look/roll-input.ts';
import { dynamicQuorumOf, withChange, withoutData } from './model/charter.ts';
import type { Charter } from './model/charter.ts';
import type { BrokerCluster } from './model/cluster.ts';
import { moveWishFaults, moveWishOf } from './move-wish.ts';
import { newsOf } from './news.ts';
import type { News } from './news.ts';
import type { Observed } from './observe.ts';
import { issuedCertificates } from './objects/issued.ts';
import { podsIn } from './objects/pod-sets.ts';
import type { OperatorPods } from './objects/services.ts';
import { readingOf } from './reading.ts';
import { NO_EXPORTS, foreignFaults, holderFaults, unreadableFaults } from './refusals.ts';
import { hasRemains } from './departures.ts';
import { abandonedClaims, manualPatches, manualUids } from './requests.ts';
import { isPaused, statusesOf } from './status.ts';
import { centralTarget, podSetsOf } from './target.ts';
import { isAdopting, loanKey, loansFor, withBorrowed } from './stretch/adoption.ts';
import type { Loan } from './stretch/adoption.ts';
import { exportsServices } from './stretch/network.ts';
import { networksOf } from './stretch/pod-networks.ts';
import { placeOf } from './stretch/sight.ts';
import {
  farewellOf,
  firstSightFaults,
  holdActions,
  lostFaults,
  targetFaultsOf,
  unknownPods,
  unseenTargets,
  wishesOf,
} from './stretch/plan-stretch.ts';
import type { TargetWishes } from './stretch/plan-stretch.ts';
import { targetStatuses, targetsOf } from './stretch/target-status.ts';
import type { TargetStatus } from './stretch/target-status.ts';

export interface KafkaSettings extends BrokerSettings {
  /** The namespace of this installation, by which others know who has a Kafka. */
  holder: string;
  operator: OperatorPods | undefined;
  /** The id of the cluster that the operator runs in, among those that are joined. */
  centralId?: string | undefined;
  /** Whether brokers get NetworkPolicies; they do if left out. */
  networkPolicies?: boolean | undefined;
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
  /** The Kubernetes clusters that it is in, for metrics; none while nothing is known of them. */
  places: readonly TargetStatus[];
  /** What is wanted in other Kubernetes clusters; one that is not named stays as it is. */
  wishes: TargetWishes;
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
  wishes: new Map(),
  places: [],
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
  if (observed.isLeaving) return farewellPlan(observed, settings);
  if (!observed.isManaged) return NOTHING;
  if (!kafka || observed.unreadable.length > 0) return refusedPlan(observed, unreadableFaults(observed));
  const foreign = [...holderFaults(observed, settings), ...foreignFaults(observed, learned)];
  if (foreign.length > 0) return refusedPlan(observed, foreign);
  const unsure = [
    ...firstSightFaults(observed, settings.centralId),
    ...issuerFaults(kafka, observed.issuedVersion !== undefined),
  ];
  if (unsure.length > 0) return refusedPlan(observed, unsure);
  const { charter, problem } = charterBefore(observed, settings.centralId);
  if (problem !== undefined)
    return refusedPlan(observed, [{ reason: 'ChangeNotPossible', path: [], message: problem }]);
  const lost = lostFaults(observed, charter, settings.holder);
  if (lost.length > 0) return refusedPlan(observed, lost);
  const reading = readingOf(observed, kafka, charter, settings);
  if (!reading.cluster) return refusedPlan(observed, reading.faults);
  if (exportsServices(reading.cluster) && observed.exportVersion === undefined)
    return refusedPlan(observed, [NO_EXPORTS]);
  return clusterPlan(observed, { ...reading, cluster: reading.cluster }, settings, learned);
}

/** The rest goes with the Kafka. */
function farewellPlan(observed: Observed, { holder }: KafkaSettings): KafkaPlan {
  const { wishes, actions, faults } = farewellOf(observed, holder);
  const statuses = faults.length > 0 ? statusesOf(observed, undefined, faults) : [];
  return { ...NOTHING, wishes, actions, statuses, lookAgainInMs: SOON_MS };
}

/** What runs goes on as it is. */
function refusedPlan(observed: Observed, faults: readonly Fault[]): KafkaPlan {
  const { kafka } = observed;
  // Nothing tells when a ConfigMap comes that has no label of ours.
  const lookAgainInMs = kafka && loggingSource(kafka) ? IDLE_MS : undefined;
  return { ...NOTHING, statuses: statusesOf(observed, undefined, faults), lookAgainInMs };
}

type Accepted = Reading & { cluster: BrokerCluster };

function clusterPlan(
  observed: Observed,
  { cluster, charter, finalize, asksFirst = false, reservations, faults }: Accepted,
  settings: KafkaSettings,
  learned: Learned<never>,
): KafkaPlan {
  const { anchor, acted } = observed;
  const kafka = observed.kafka!;
  const { policies, faults: policyFaults } = policiesOf(kafka, settings.certificateTimes);
  const loans = loansFor(observed, charter);
  const borrowed = acted?.borrowed ?? new Map();
  const missing = loans.filter((loan) => !borrowed.has(loanKey(loan)));
  const secrets = withBorrowed(observed.secrets, loans, borrowed);
  const certificates = certificatesIn({ ...observed, secrets }, { cluster, charter }, policies, settings);
  const anchorWith: AnchorWith = ({ inFlight, emptied, change }) =>
    anchorOf(
      kafka,
      withChange({ ...withoutData(charter, emptied), inFlight }, change),
      settings.holder,
      anchor,
    );
  const document = anchorWith({ inFlight: charter.inFlight, change: dynamicQuorumOf(charter)?.change });
  const isWritten = anchor !== undefined && canonicalJson(anchor.spec) === canonicalJson(document['spec']);
  if (missing.length > 0 && !isPaused(kafka))
    return borrowingPlan(observed, missing, isWritten ? [] : [document]);
  const sets = podSetsOf(observed, cluster, charter, certificates);
  const paused = isPaused(kafka) || asksFirst;
  const { networksBeside, faults: networkFaults } = networksOf(observed, charter);
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
    unreachable: unseenTargets(observed, charter),
  };
  const running = { cluster, charter, certificates, acted, learned };
  // What was just written has another version, so nothing more can be written down before it is seen.
  const look: Action[] =
    (isWritten || asksFirst) && observed.pods.length > 0 ? [{ do: 'look', wanted, anchorWith }] : [];
  const plan: KafkaPlan = {
    ...NOTHING,
    actions: look,
    statuses: [
      ...statusesOf(observed, running, [
        ...faults,
        ...policyFaults,
        ...moveWishFaults(kafka),
        ...networkFaults,
        ...targetFaultsOf(observed, charter),
      ]),
      ...targetStatuses(observed, charter),
    ],
    places: targetsOf(observed, charter),
    lookAgainInMs:
      isPaused(kafka) || (!asksFirst && isSettled(observed, charter))
        ? idleMs(certificates, observed)
        : SOON_MS,
    certificateEnds: certificates.ends,
    told: toldListeners(observed, cluster),
  };
  if (paused) return plan;
  const { operator, networkPolicies = true } = settings;
  const made = {
    issued: issuedCertificates(kafka, cluster, policies, observed.issuedVersion),
    cluster,
    charter,
    certificates,
    sets,
    reservations,
    operator,
    networkPolicies,
    networksBeside,
  };
  return {
    ...plan,
    names: charter.names,
    documents: isWritten ? [] : [{ cluster: LOCAL, object: document }],
    targets: [centralTarget(observed, made)],
    wishes: isWritten ? wishesOf(observed, made, settings.holder) : new Map(),
    actions: [
      ...holdActions(kafka, charter),
      ...mintsOf(cluster, certificates),
      ...(isWritten ? requestActions(observed, charter) : newsOf(anchor, charter).map(toTell)),
      ...look,
    ],
    ...(!isWritten && { lookAgainInMs: WRITTEN_MS }),
    ...(certificates.isAdvancing && { lookAgainInMs: AT_ONCE_MS }),
  };
}

/** Nothing else is decided before it is known what nodes elsewhere trust and present. */
function borrowingPlan(
  observed: Observed,
  loans: readonly Loan[],
  documents: readonly AnyObject[],
): KafkaPlan {
  const names = [...new Set(loans.map(({ cluster }) => cluster))].join(', ');
  const message = `certificates that nodes have are read from ${names}`;
  return {
    ...NOTHING,
    documents: documents.map((object) => ({ cluster: LOCAL, object })),
    actions: [{ do: 'borrow', loans }],
    statuses: statusesOf(observed, undefined, [{ reason: 'CertificatesPending', path: [], message }]),
    lookAgainInMs: documents.length > 0 ? WRITTEN_MS : SOON_MS,
  };
}

function certificatesIn(
  observed: Observed,
  { cluster, charter }: Pick<Accepted, 'cluster' | 'charter'>,
  policies: AuthorityPolicies,
  { clusterDomain }: KafkaSettings,
): Certificates {
  const { secrets, users, acted, now } = observed;
  const pods = [...observed.pods, ...unknownPods(observed, charter)];
  const keepsClients = isAdopting(observed.kafka!, charter.clusterId);
  const seen = { cluster, clusterDomain, policies, secrets, users, pods, keepsClients, now: new Date(now) };
  return certificatesOf(seen, acted?.minted ?? []);
}

const toTell = (news: News): Action => ({ do: 'tell', ...news });

/** What people asked for, beside restarts. */
function requestActions(observed: Observed, charter: Charter): Action[] {
  const claims = abandonedClaims(observed, charter);
  return [
    ...manualPatches(observed.podSets, observed.pods).map((patch): Action => ({
      do: 'patch',
      cluster: placeOf(observed.targets, patch.object),
      ...patch,
    })),
    ...[...Map.groupBy(claims, (claim) => placeOf(observed.targets, claim))].map(
      ([cluster, own]): Action => ({ do: 'delete claims', cluster, claims: own }),
    ),
  ];
}

const mintsOf = ({ name }: BrokerCluster, { requests }: Certificates): Action[] =>
  requests.length > 0 ? [{ do: 'mint', cluster: name, requests }] : [];

/** Certificates that live for minutes cannot wait for the usual look. */
const idleMs = ({ nextAt }: Certificates, { now }: Observed): number =>
  nextAt ? Math.min(IDLE_MS, nextAt.getTime() - now) : IDLE_MS;

function isSettled(observed: Observed, charter: Charter): boolean {
  const { acted, pods } = observed;
  const isMoving = acted?.moved !== undefined && !acted.moved.done;
  const isReloading = (acted?.reloads.size ?? 0) > 0;
  const isVoting = acted?.voters?.under !== undefined;
  const isRetiring = charter.nodes.some(({ retiring }) => retiring);
  const isBusy = isMoving || isReloading || isVoting || isRetiring || hasRemains(observed, charter);
  return acted?.decision?.do === 'done' && pods.length > 0 && !isBusy;
}
