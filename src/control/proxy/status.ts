/** What to say about a proxy and everything that belongs to it: conditions a person can act on. */
import type { PlannedCondition } from '../../kube/write/conditions.ts';
import { selectorOf } from '../../kube/object.ts';
import type { PortBlock } from './ports/blocks.ts';
import { MAX_MESSAGE, conditionsOf, degraded, isRefusal, preventsService } from './faults.ts';
import type { ConditionType, Fault } from './faults.ts';
import { servedCluster } from './evaluate/cluster.ts';
import type { ClusterIngress, EvaluatedCluster } from './evaluate/cluster.ts';
import type { Evaluation } from './evaluate/evaluate.ts';
import type { HostGrant } from './evaluate/host-grants.ts';
import { undeclaredFault } from './evaluate/undeclared-nodes.ts';
import { NO_READY_POD, ingressConditions, ingressStatus, ingressesWithFaults } from './ingress-status.ts';
import { mandatoryFilters, unprotectedFilters } from './mandatory-filters.ts';
import { MANAGEMENT_PORT, PROTECTED_LABEL, objectLabels, podLabels } from './names.ts';
import { isIngressObject } from './evaluate/object-faults.ts';
import { workloadLabels } from './objects/workload.ts';
import type { Observed } from './observed.ts';
import type { PodProblem } from './pods/pod-client.ts';
import { overruledLabels } from './evaluate/wishes.ts';
import type { PlannedStatus } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';

interface Known {
  observed: Observed;
  evaluation: Evaluation;
  portBlocks: PortBlock[];
  hostNames: HostGrant[] | undefined;
  learned: Pick<Learned<unknown>, 'taken' | 'denied'>;
  /** Of what the pods run, as far as it is known. */
  version: string | undefined;
}

export interface Statuses {
  statuses: PlannedStatus[];
  /** Whether pods are about to load a configuration, so that this is to be said again soon. */
  pending: boolean;
}

export function statusesOf(known: Known): Statuses {
  const { observed, evaluation } = known;
  const { live } = observed;
  const isNewest = live.pods.some(({ ready }) => ready) && lagging(known).length === 0;
  const { proxy } = evaluation;
  const statuses: PlannedStatus[] = [
    ...evaluation.clusters.map((cluster) => clusterStatus(cluster, known, isNewest)),
    ...ingressesWithFaults(evaluation, live.pods).map(ingressStatus),
    ...observed.unreadable.map((one) => unreadableStatus(one, evaluation)),
    ...(proxy ? [proxyStatus(proxy.metadata.generation, known)] : []),
  ];
  return { statuses, pending: proxy !== undefined && live.pods.length > 0 && !isNewest };
}

/** Pods that take traffic and serve something else than the newest configuration. */
function lagging({ observed, evaluation: { config } }: Pick<Known, 'observed' | 'evaluation'>) {
  return observed.live.pods.filter(({ ready, configVersion }) => ready && configVersion !== config.hash);
}

/** As much as the CRDs allow: with more the API server would refuse the whole status. */
const MAX_INGRESSES = 256;
const MAX_PODS = 1000;
const MAX_POINTS = 16;

function clusterStatus(evaluated: EvaluatedCluster, known: Known, isNewest: boolean): PlannedStatus {
  const { cluster, filters, ingresses } = evaluated;
  const { name, generation } = cluster.metadata;
  const isServed = servedCluster(evaluated) !== undefined;
  const seen = known.observed.live.pods.flatMap(({ nodeIds }) => [nodeIds?.get(name) ?? []]);
  const ofPods = [...podFaults(name, known), ...undeclaredFault(evaluated, seen)];
  const pending = isServed ? [...ofPods, ...pendingFault(evaluated, known, isNewest)] : [];
  const ofFilters = filters.flatMap(({ faults }) => faults);
  const whole = [...evaluated.faults, ...ofFilters];
  const withPending = ingresses.map((one) => ({
    ...one,
    faults: [...one.faults, ...(one.address ? pending : [])],
  }));
  const all = [...whole, ...withPending.flatMap(({ faults }) => faults)];
  const status = {
    ...observedGeneration(generation),
    conditions: [
      ...conditionsOf(all, ['Accepted', 'ResolvedRefs', 'Ready'], generation),
      ...degraded(isServed, all, generation),
    ],
    ingresses: withPending.map((one) => clusterIngressStatus(one, whole.filter(preventsService), generation)),
    ...(filters.length > 0 && {
      // A filter may be used twice; a status has each name once.
      filters: [...new Map(filters.map((filter) => [filter.name, filter])).values()].map((filter) => ({
        name: filter.name,
        conditions: conditionsOf(filter.faults, ['Accepted', 'ResolvedRefs'], generation),
      })),
    }),
  };
  return { kind: 'VirtualKafkaCluster', namespace: cluster.metadata.namespace, name, status };
}

/**
 * Whether pods have yet to load what this virtual cluster is to be. One that has not changed and was served stays ready while
 * they load a change of another: its clients notice nothing.
 */
function pendingFault({ cluster }: EvaluatedCluster, known: Known, isNewest: boolean): Fault[] {
  const { observed, evaluation } = known;
  if (isNewest) return [];
  const { live } = observed;
  if (!live.pods.some(({ ready }) => ready)) return [NO_READY_POD];
  const { name } = cluster.metadata;
  const isUnchanged = live.configParts.get(name)?.hash === evaluation.config.parts.get(name)?.hash;
  const before = cluster.status?.conditions?.find(({ type }) => type === 'Ready');
  const wasServed = before !== undefined && !UNSERVED.has(before.reason ?? '');
  if (isUnchanged && wasServed) return [];
  const unreachable = whyUnreachable(known);
  if (unreachable !== undefined) return [{ reason: 'PodsUnreachable', path: [], message: unreachable }];
  const message = 'pods of the proxy have not loaded the newest configuration yet';
  return [{ reason: 'ConfigPending', path: [], message }];
}

/** Says of a virtual cluster that was not served yet. */
const UNSERVED = new Set(['ConfigPending', 'PodsNotReady', 'PodsUnreachable']);

/** Why nobody can tell what a pod serves that takes traffic. */
function whyUnreachable({ observed }: Pick<Known, 'observed'>): string | undefined {
  const pod = observed.live.pods.find(({ ready, unreachable }) => ready && unreachable !== undefined);
  return (
    pod &&
    `the operator cannot ask pod "${pod.name}" at port ${MANAGEMENT_PORT} what it serves: ${pod.unreachable}. ` +
      'See that no NetworkPolicy, service mesh or firewall is between the operator and the pod'
  );
}

/** What the pods that have loaded the newest configuration stumble over; also one that is not ready, perhaps for just that. */
function podFaults(name: string, { observed, evaluation: { config } }: Known): Fault[] {
  const current = observed.live.pods.filter(({ configVersion }) => configVersion === config.hash);
  const found = current.flatMap(({ problems }) => problems?.get(name) ?? []);
  const weight = ({ isOut, isLoad, isTarget, ofFilter }: PodProblem) =>
    isOut ? 3 : isLoad ? 2 : isTarget ? 1 : ofFilter ? -1 : 0;
  const [first] = found.toSorted((a, b) => weight(b) - weight(a));
  if (!first) return [];
  const which = current.length > 1 ? `${found.length} of ${current.length} pods: ` : '';
  if (first.isOut) return [{ reason: 'OutOfService', path: ['spec'], message: `${which}${first.message}` }];
  if (first.isLoad) {
    const message = `${which}its newest configuration cannot be loaded; the one before goes on, if there was one: ${first.message}`;
    return [{ reason: 'ConfigRefused', path: ['spec'], message }];
  }
  if (first.ofFilter)
    return [{ reason: first.ofFilter, path: ['spec', 'filterRefs'], message: `${which}${first.message}` }];
  const reason = first.isTarget ? 'TargetUnreachable' : 'PodProblem';
  return [{ reason, path: ['spec', 'targetCluster'], message: `${which}${first.message}` }];
}

function clusterIngressStatus(
  one: ClusterIngress,
  ofCluster: readonly Fault[],
  generation: number | undefined,
): object {
  const { name, address, points, faults } = one;
  const conditions = conditionsOf(faults, ['Accepted', 'ResolvedRefs'], generation);
  const ready = conditionsOf([...faults, ...ofCluster], ['Ready'], generation);
  const port = address && (address.by === 'port' ? address.bootstrapPort : address.port);
  return {
    name,
    // Nobody should be given an address at which nothing will answer.
    ...(address &&
      ![...faults, ...ofCluster].some(isRefusal) && { bootstrap: `${address.bootstrapHost}:${port}` }),
    ...protocolOf(one),
    ...(points.length > 0 && { loadBalancerIngressPoints: points.slice(0, MAX_POINTS) }),
    conditions: [...conditions, ...ready],
  };
}

function protocolOf({ resolved, ingress, address }: ClusterIngress): object {
  if (resolved && address) return { protocol: resolved.tls ? 'TLS' : 'TCP' };
  return ingress ? { protocol: ingress.spec.clusterIP?.protocol ?? 'TLS' } : {};
}

function unreadableStatus(
  { object, problem }: Observed['unreadable'][number],
  { config }: Evaluation,
): PlannedStatus {
  const { name, namespace = '', generation } = object.metadata;
  const faults: Fault[] = [{ reason: 'Invalid', path: [], message: problem, held: true }];
  const types: ConditionType[] = object.kind === 'KafkaProxy' ? ['Ready'] : ['Accepted', 'Ready'];
  const isServed = object.kind === 'VirtualKafkaCluster' && config.parts.has(name);
  const conditions = [...conditionsOf(faults, types, generation), ...degraded(isServed, faults, generation)];
  const status = { ...observedGeneration(generation), conditions };
  // The status of a KafkaProxy also has the ports, which nothing may forget, and that of a virtual cluster its addresses.
  return { kind: object.kind, namespace, name, status, keepsRest: true };
}

function proxyStatus(generation: number | undefined, known: Known): PlannedStatus {
  const { observed, evaluation, portBlocks, hostNames } = known;
  const { namespace, name, live } = observed;
  const pods = live.pods.slice(0, MAX_PODS).map(({ name, ready, configVersion }) => ({
    name,
    ready,
    ...(configVersion !== undefined && { configVersion }),
  }));
  const status = {
    ...observedGeneration(generation),
    conditions: [proxyReady(known, generation)],
    ingresses: ingressesWithFaults(evaluation, live.pods)
      .slice(0, MAX_INGRESSES)
      .map(({ ingress, faults }) => ({
        name: ingress.metadata.name,
        conditions: ingressConditions(faults, generation),
      })),
    replicas: live.replicas,
    labelSelector: selectorOf(podLabels(name)),
    configVersion: evaluation.config.hash,
    pods,
    portBlocks,
    ...(hostNames && { hostNames }),
  };
  return { kind: 'KafkaProxy', namespace, name, status };
}

/** Ready: all the pods there should be are ready, and serve the newest configuration. */
function proxyReady(known: Known, generation: number | undefined): PlannedCondition {
  const { observed, evaluation, learned } = known;
  const { pods } = observed.live;
  const wanted = evaluation.proxy?.spec.infrastructure.proxy.replicas;
  const ready = pods.filter((pod) => pod.ready).length;
  const behind = lagging(known).length;
  const refusal = pods.find((pod) => pod.refusal !== undefined);
  const say = (status: 'True' | 'False', reason: string, message: string): PlannedCondition => ({
    type: 'Ready',
    status,
    reason,
    message,
    ...(generation !== undefined && { observedGeneration: generation }),
  });
  const taken = [...learned.taken].find((reference) => !isIngressObject(reference));
  if (taken) return say('False', 'NameTaken', `${taken} exists and was made by someone else`);
  const denied = [...learned.denied].filter(([reference]) => !isIngressObject(reference));
  if (denied.length > 0) {
    const message = denied.map(([reference, why]) => `${reference}: ${why}`).join('; ');
    return say('False', 'Denied', message.slice(0, MAX_MESSAGE));
  }
  const missing = missingFilters(known);
  if (missing.length > 0) {
    const message = `spec.mandatoryFilterRefs: no KafkaProtocolFilter is named ${missing.join(', ')}, and no virtual cluster begins to be served without it`;
    return say('False', 'ReferencedResourcesNotFound', message.slice(0, MAX_MESSAGE));
  }
  if (wanted === 0) return say('False', 'ScaledToZero', 'no pods are asked for');
  if (refusal) return say('False', 'ConfigRefused', `pod "${refusal.name}" refuses it: ${refusal.refusal}`);
  if (ready < (wanted ?? 0) || ready === 0)
    return say('False', 'PodsNotReady', `${ready} of ${wanted} pods are ready`);
  const unreachable = whyUnreachable(known);
  if (unreachable !== undefined) return say('False', 'PodsUnreachable', unreachable);
  if (behind > 0)
    return say(
      'False',
      'ConfigPending',
      `${behind} of ${ready} pods have yet to load the newest configuration`,
    );
  const warnings = proxyWarnings(known);
  const message = warnings.map((warning) => warning.message).join('; ');
  return say('True', warnings[0]?.reason ?? 'Ready', message.slice(0, MAX_MESSAGE));
}

const NO_POD_MONITORS =
  'spec.management.podMonitor: the cluster has no PodMonitors (monitoring.coreos.com), so none is made';

/** What its admin should know of, though all is served. */
function proxyWarnings({
  observed,
  evaluation: { proxy },
  version,
}: Known): Pick<Fault, 'reason' | 'message'>[] {
  const { live, snapshot } = observed;
  const wanted = proxy?.spec.infrastructure ?? { annotations: {}, labels: {} };
  const open = unprotectedFilters(proxy, snapshot.filters);
  const message = `spec.mandatoryFilterRefs: who may write KafkaProtocolFilters here may change ${open.join(', ')}; put the label ${PROTECTED_LABEL}: "true" on it`;
  const unread = live.unreadablePolicies.map(({ problem }) => problem);
  return [
    ...unread.map((problem) => ({
      reason: 'NamePolicyUnreadable' as const,
      message: `host names are granted to nobody new in its zone for as long as ${problem}`,
    })),
    ...(open.length > 0 ? [{ reason: 'FilterNotProtected' as const, message }] : []),
    ...(proxy?.spec.management.podMonitor &&
    !live.kinds.podMonitor &&
    !live.kinds.undiscovered.has('podMonitors')
      ? [{ reason: 'PodMonitorNotServed' as const, message: NO_POD_MONITORS }]
      : []),
    ...overruledLabels(wanted, objectLabels(observed.name)),
    ...(proxy ? overruledLabels(wanted, workloadLabels(proxy, version), ' on the pods') : []),
  ];
}

/** Filters that the proxy demands and that are not there. */
function missingFilters({ observed: { snapshot }, evaluation: { proxy } }: Known): string[] {
  const there = new Set(snapshot.filters.map(({ metadata }) => metadata.name));
  return mandatoryFilters(proxy).filter((name) => !there.has(name));
}

const observedGeneration = (generation: number | undefined) =>
  generation === undefined ? {} : { observedGeneration: generation };
