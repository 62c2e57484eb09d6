/** Decides all that has to exist for one proxy, and what to say about it. Pure: no clock, no network, no cluster. */
import type { AnyObject } from '../../kube/object.ts';
import { referenceOf } from '../../kube/write/apply-decision.ts';
import { grantWishes } from '../../resources/common/allowed-infrastructure.ts';
import type { KafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { LabelSet, Plan, Target } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';
import type { ConfigRejections } from './config/checks.ts';
import type { PlannedConfig } from './config/planned-config.ts';
import { evaluate } from './evaluate/evaluate.ts';
import type { Evaluation } from './evaluate/evaluate.ts';
import type { ClusterIngress, EvaluatedCluster } from './evaluate/cluster.ts';
import type { HostGrant } from './evaluate/host-grants.ts';
import { kubernetesPlatform } from './evaluate/kubernetes.ts';
import { isRefusal, preventsService } from './faults.ts';
import type { Fault } from './faults.ts';
import { CLUSTER_LABEL, INGRESS_LABEL, SHARED, blockOwner, ownerLabels } from './names.ts';
import { clusterService, dnsEndpoint, routes, sharedService, tlsRoutes } from './objects/ingress.ts';
import type { ServedIngress } from './objects/ingress.ts';
import {
  configSecret,
  deployment,
  managementSecret,
  networkPolicy,
  podDisruptionBudget,
  podMonitor,
  serviceAccount,
} from './objects/workload.ts';
import type { Observed, PlanSettings, ServedKinds } from './observed.ts';
import { pollIntervalMs } from './pods/poll-interval.ts';
import { portBlocksOf } from './ports/blocks.ts';
import { nextFreeAt } from './ports/ports.ts';
import type { Allocation, Block } from './ports/ports.ts';
import { statusesOf } from './status.ts';
import { dependsOnUndiscovered } from './undiscovered.ts';

/** Has pods load a configuration, and asks what they serve. */
export interface LoadConfig {
  configVersion: string;
  /** Of the KafkaProxy: a change of it is a reason to ask more often. */
  generation: number | undefined;
}

export interface ProxyPlan extends Plan<LoadConfig> {
  config: PlannedConfig;
}

/** How soon to look again at what somebody else has to change, where no watch tells of it. */
const TAKEN_MS = 30_000;
const UNKNOWN_MS = 5000;
/** How soon to ask pods again: at first where they are about to load something or stumble, and where all is well. */
const PENDING_MS = 1000;
const PROBLEM_MS = 5000;
const ASK_MS = 60_000;

export function planProxy(
  observed: Observed,
  settings: PlanSettings,
  learned: Learned<ConfigRejections>,
): ProxyPlan {
  const { snapshot, namespace, name } = observed;
  const proxy = snapshot.proxies.find(({ metadata }) => metadata.name === name);
  const platform = kubernetesPlatform(observed, settings, learned);
  const filterModules = (settings.filterModules ?? []).map((module) => ({ name: module }));
  const evaluation = evaluate(
    { ...observed, snapshot: { ...snapshot, filterModules }, proxy },
    platform,
    learned,
  );
  const { config, allocated } = evaluation;
  const portBlocks = portBlocksOf(allocated.allocation);
  const hostNames = hostNamesOf(evaluation, observed);
  const known = { observed, evaluation, portBlocks, hostNames, learned, version: settings.version };
  const { statuses, pending } = statusesOf(known);
  const nothing = { config, persist: [], targets: [], actions: [], lookAgainInMs: UNKNOWN_MS };
  // Nobody can tell what should exist, so all that does stays as it is.
  if (dependsOnUndiscovered(observed)) return { ...nothing, statuses: [] };
  if (observed.unreadable.some(({ object }) => object.kind === 'KafkaProxy'))
    return { ...nothing, statuses: statuses.filter(({ kind }) => kind === 'KafkaProxy') };
  const persisted = (field: 'portBlocks' | 'hostNames', value: unknown) => {
    return { kind: 'KafkaProxy', namespace, name, field, seen: proxy?.status?.[field], value };
  };
  return {
    config,
    persist: proxy
      ? [persisted('portBlocks', portBlocks), ...(hostNames ? [persisted('hostNames', hostNames)] : [])]
      : [],
    targets: [targetOf(evaluation, observed, settings, learned)],
    actions: [{ configVersion: config.hash, generation: proxy?.metadata.generation }],
    statuses,
    lookAgainInMs: lookAgainInMs(observed, evaluation, learned, pending),
  };
}

/** The host names as they are kept; undefined where there are none, and were none. What cannot be read keeps its own. */
function hostNamesOf({ proxy, hostNames }: Evaluation, { unreadable }: Observed): HostGrant[] | undefined {
  const before = proxy?.status?.hostNames;
  const isUnreadable = (cluster: string) =>
    unreadable.some(
      ({ object: { kind, metadata } }) => kind === 'VirtualKafkaCluster' && metadata.name === cluster,
    );
  const kept = before?.filter(({ virtualCluster }) => isUnreadable(virtualCluster)) ?? [];
  const all = [...hostNames, ...kept];
  return all.length > 0 || before ? all : undefined;
}

function targetOf(
  evaluation: Evaluation,
  observed: Observed,
  settings: PlanSettings,
  { taken }: Learned<ConfigRejections>,
): Target {
  const { proxy } = evaluation;
  const wanted = proxy ? objectsOf(proxy, evaluation, observed, settings) : [];
  return {
    cluster: LOCAL,
    labels: ownerLabels(observed.name),
    namespaces: [observed.namespace],
    objects: wanted.filter((object) => !taken.has(referenceOf(object))),
    prune: true,
    keeps: proxy ? keptLabels(evaluation, observed) : [],
  };
}

/** Whether objects may be missing for a fault, or be as they were before. */
const leavesOut = (fault: Fault) =>
  fault.held || preventsService(fault) || ['AddressPending', 'RouteNotAccepted'].includes(fault.reason);

/**
 * Labels of what stays whether it is wanted now or not: all that leads to a virtual cluster about which something is wrong, or
 * which cannot be read, at an ingress that is still there. What is as it should be loses the rest.
 */
function keptLabels({ ingresses, clusters }: Evaluation, { unreadable }: Observed): LabelSet[] {
  const ofKind = (kind: string) =>
    unreadable.flatMap(({ object }) => (object.kind === kind ? [object.metadata.name] : []));
  const broken = ingresses.filter(({ faults }) => faults.some(preventsService));
  const shared = [...ofKind('KafkaProxyIngress'), ...broken.map(({ ingress }) => ingress.metadata.name)];
  const present = [...ofKind('KafkaProxyIngress'), ...ingresses.map(({ ingress }) => ingress.metadata.name)];
  const ofClusters = clusters.flatMap(({ cluster, faults, ingresses: own }) =>
    own.flatMap((one) => {
      const isLacking = [...faults, ...one.faults].some(leavesOut);
      const stays = present.includes(one.name) && isLacking && !one.faults.some(isRefusal);
      return stays ? [{ [CLUSTER_LABEL]: cluster.metadata.name, [INGRESS_LABEL]: one.name }] : [];
    }),
  );
  const ofUnreadable = ofKind('VirtualKafkaCluster').flatMap((cluster) =>
    present.map((ingress) => ({ [CLUSTER_LABEL]: cluster, [INGRESS_LABEL]: ingress })),
  );
  const ofShared = shared.map((ingress) => ({ [CLUSTER_LABEL]: undefined, [INGRESS_LABEL]: ingress }));
  return [...ofClusters, ...ofUnreadable, ...ofShared];
}

function lookAgainInMs(
  { live, now, podsSince }: Observed,
  evaluation: Evaluation,
  { taken }: Learned<ConfigRejections>,
  pending: boolean,
): number | undefined {
  const unchangedMs = now - podsSince;
  const freeAt = nextFreeAt(evaluation.allocated.allocation);
  const times = [
    ...(pending ? [pollIntervalMs(unchangedMs, PENDING_MS)] : []),
    ...live.pods.map(({ problems }) => (problems ? pollIntervalMs(unchangedMs, PROBLEM_MS) : ASK_MS)),
    ...(taken.size > 0 || isHostTaken(evaluation) ? [TAKEN_MS] : []),
    // That there are none would wake nobody.
    ...(live.kinds.undiscovered.has('namePolicies') ? [UNKNOWN_MS] : []),
    ...(evaluation.changesAt === undefined ? [] : [evaluation.changesAt - now]),
    ...(freeAt === undefined ? [] : [freeAt - now]),
  ];
  return times.length > 0 ? Math.max(0, Math.min(...times)) : undefined;
}

/** Perhaps by another proxy, about which nobody tells this one. */
function isHostTaken({ clusters }: Evaluation): boolean {
  const faults = clusters.flatMap(({ ingresses }) => ingresses.flatMap((one) => one.faults));
  return faults.some(({ reason }) => reason === 'HostNameTaken' || reason === 'HostNameLimitReached');
}

function objectsOf(
  proxy: KafkaProxy,
  { ingresses, clusters, allocated, config }: Evaluation,
  { live, managementAccess }: Observed,
  { image, version, operator }: PlanSettings,
): AnyObject[] {
  const { held } = allocated.allocation;
  const shared = ingresses.flatMap(({ ingress, model, faults }) => {
    const block = held[blockOwner(SHARED, ingress.metadata.name)];
    const works = block && model && model.by !== 'clusterIP' && !faults.some(preventsService);
    return works ? [sharedService(proxy, ingress, block.start)] : [];
  });
  return [
    serviceAccount(proxy),
    configSecret(proxy, config.text),
    managementSecret(proxy, managementAccess),
    deployment(proxy, image, version),
    podDisruptionBudget(proxy),
    ...(proxy.spec.management.podMonitor && live.kinds.podMonitor ? [podMonitor(proxy)] : []),
    networkPolicy(proxy, servedBlocks(config, held), operator),
    ...shared,
    ...clusters.flatMap((cluster) => ingressObjects(proxy, cluster, live.kinds)),
  ];
}

/** The blocks of the virtual clusters that are served, and of the ingresses they share. */
function servedBlocks({ parts }: PlannedConfig, held: Allocation['held']): Block[] {
  return Object.entries(held).flatMap(([owner, block]) => {
    const cluster = owner.slice(0, owner.indexOf('/'));
    return cluster === SHARED || parts.has(cluster) ? [block] : [];
  });
}

/**
 * What leads clients to a virtual cluster, also while it cannot be served: they carry the host names that its certificates have to
 * name, OpenShift issues certificates for Services that exist, and an address that clients know should outlive a mistake.
 */
function ingressObjects(
  proxy: KafkaProxy,
  { cluster, target, ingresses }: EvaluatedCluster,
  kinds: ServedKinds,
): AnyObject[] {
  // Without node ids, as of a target that was last good and whose ingresses go by server names, what there is stays as it is.
  if (!target || target.nodeIdRanges.length === 0) return [];
  return ingresses.flatMap((one, index) => {
    const { ingress, faults } = one;
    if (!ingress || faults.some(isRefusal)) return [];
    const wanted = cluster.spec.ingresses[index]!.infrastructure;
    const { granted: wishes } = grantWishes(wanted, ingress.spec.allowedInfrastructure);
    return objectsOfIngress({ proxy, cluster: cluster.metadata.name, ingress, wishes, target }, one, kinds);
  });
}

function objectsOfIngress(
  served: ServedIngress,
  { model, address, points }: ClusterIngress,
  kinds: ServedKinds,
): AnyObject[] {
  // Routes come before there is an address: they are what it comes from.
  if (model?.by === 'route') return routes(served, model.labels);
  if (!address) return [];
  if (address.by === 'port') return [clusterService(served, address)];
  const records = kinds.dnsEndpoint && points.length > 0 ? [dnsEndpoint(served, address, points)] : [];
  if (model?.by !== 'gateway' || kinds.tlsRoute === undefined) return records;
  return [...tlsRoutes(served, model.parent, model.domain, kinds.tlsRoute), ...records];
}
