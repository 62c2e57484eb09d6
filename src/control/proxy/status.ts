/** What to say about a proxy and everything that belongs to it: conditions a person can act on. */
import type { PlannedCondition } from '../../kube/write/conditions.ts';
import { selectorOf } from '../../kube/object.ts';
import type { PortBlock } from './blocks.ts';
import { conditionTypeOf, isRefusal, isWarning, preventsService } from './faults.ts';
import type { ConditionType, Fault } from './faults.ts';
import { servedCluster } from './judge.ts';
import type { JudgedCluster, JudgedEntry, Judgement } from './judge.ts';
import { podLabels } from './names.ts';
import { isDoor } from './object-faults.ts';
import type { Findings, Observed } from './observed.ts';
import type { PlannedConfig } from './planned-config.ts';
import type { JudgedIngress } from './ways.ts';

/** A status without the times of its conditions: those depend on what is there. */
export interface PlannedStatus {
  kind: 'KafkaProxy' | 'KafkaProxyIngress' | 'VirtualKafkaCluster';
  name: string;
  status: object;
  /** Whether what it does not say stays as it is. */
  keepsRest?: boolean;
}

interface Known {
  observed: Observed;
  judgement: Judgement;
  config: PlannedConfig;
  portBlocks: PortBlock[];
  findings: Findings;
}

export interface Statuses {
  statuses: PlannedStatus[];
  /** Whether pods are about to load a configuration, so that this is to be said again soon. */
  pending: boolean;
}

export function statusesOf(known: Known): Statuses {
  const { observed, judgement } = known;
  const { live, world } = observed;
  const isNewest = live.pods.some(({ ready }) => ready) && lagging(known).length === 0;
  const proxy = world.proxies.find(({ metadata }) => metadata.name === observed.name);
  const statuses: PlannedStatus[] = [
    ...judgement.clusters.map((cluster) => clusterStatus(cluster, known, isNewest)),
    ...judgement.ingresses.map(ingressStatus),
    ...observed.unreadable.map(unreadableStatus),
    ...(proxy ? [proxyStatus(proxy.metadata.generation, known)] : []),
  ];
  return { statuses, pending: proxy !== undefined && live.pods.length > 0 && !isNewest };
}

/** Pods that take traffic and serve something else than the newest configuration. */
function lagging({ observed, config }: Pick<Known, 'observed' | 'config'>) {
  return observed.live.pods.filter(({ ready, configVersion }) => ready && configVersion !== config.hash);
}

/** The conditions that faults amount to: each says what is wrong, or that nothing is. */
export function conditionsOf(
  faults: readonly Fault[],
  types: readonly ConditionType[],
  generation: number | undefined,
): PlannedCondition[] {
  return types.map((type) => {
    // What is not accepted or not resolved is not ready either, and for that reason.
    const own = type === 'Ready' ? faults : faults.filter((fault) => conditionTypeOf(fault) === type);
    const [first] = type === 'Ready' ? own.toSorted(bySeverity) : own;
    return {
      type,
      status: first && !isWarning(first) ? 'False' : 'True',
      reason: first?.reason ?? type,
      message: [...new Set(own.map(({ message }) => message))].join('; ').slice(0, MAX_MESSAGE),
      ...(generation !== undefined && { observedGeneration: generation }),
    };
  });
}

/** As much as the CRDs allow: with more the API server would refuse the whole status. */
const MAX_MESSAGE = 8192;
const MAX_INGRESSES = 256;
const MAX_PODS = 1000;
const MAX_POINTS = 16;

const severity = (fault: Fault) => (preventsService(fault) ? 2 : isWarning(fault) ? 0 : 1);
const bySeverity = (a: Fault, b: Fault) => severity(b) - severity(a);

function clusterStatus(judged: JudgedCluster, known: Known, isNewest: boolean): PlannedStatus {
  const { cluster, filters, entries } = judged;
  const { name, generation } = cluster.metadata;
  const pending = servedCluster(judged)
    ? [...podFaults(name, known), ...pendingFault(judged, known, isNewest)]
    : [];
  const ofFilters = filters.flatMap(({ faults }) => faults);
  const whole = [...judged.faults, ...ofFilters];
  const withPending = entries.map((entry) => ({
    ...entry,
    faults: [...entry.faults, ...(entry.address ? pending : [])],
  }));
  const all = [...whole, ...withPending.flatMap(({ faults }) => faults)];
  const status = {
    ...observedGeneration(generation),
    conditions: conditionsOf(all, ['Accepted', 'ResolvedRefs', 'Ready'], generation),
    ingresses: withPending.map((entry) => entryStatus(entry, whole.filter(preventsService), generation)),
    ...(filters.length > 0 && {
      // A filter may be used twice; a status has each name once.
      filters: [...new Map(filters.map((filter) => [filter.name, filter])).values()].map((filter) => ({
        name: filter.name,
        conditions: conditionsOf(filter.faults, ['Accepted', 'ResolvedRefs'], generation),
      })),
    }),
  };
  return { kind: 'VirtualKafkaCluster', name, status };
}

/**
 * Whether pods have yet to load what this virtual cluster is to be. One that has not changed and was served stays ready while
 * they load a change of another: its clients notice nothing.
 */
function pendingFault({ cluster }: JudgedCluster, known: Known, isNewest: boolean): Fault[] {
  const { observed, config } = known;
  if (isNewest) return [];
  const { live } = observed;
  if (!live.pods.some(({ ready }) => ready))
    return [{ reason: 'PodsNotReady', path: [], message: 'no pod of the proxy is ready' }];
  const { name } = cluster.metadata;
  const isUnchanged = live.configParts.get(name) === config.parts.get(name)?.hash;
  const before = cluster.status?.conditions?.find(({ type }) => type === 'Ready');
  const wasServed = before !== undefined && !['ConfigPending', 'PodsNotReady'].includes(before.reason ?? '');
  if (isUnchanged && wasServed) return [];
  const message = 'pods of the proxy have not loaded the newest configuration yet';
  return [{ reason: 'ConfigPending', path: [], message }];
}

/** What the pods that have loaded the newest configuration stumble over; also one that is not ready, perhaps for just that. */
function podFaults(name: string, { observed, config }: Known): Fault[] {
  const current = observed.live.pods.filter(({ configVersion }) => configVersion === config.hash);
  const found = current.flatMap(({ problems }) => problems?.get(name) ?? []);
  const [first] = found.toSorted((a, b) => Number(b.isTarget) - Number(a.isTarget));
  if (!first) return [];
  const which = current.length > 1 ? `${found.length} of ${current.length} pods: ` : '';
  const reason = first.isTarget ? 'TargetUnreachable' : 'PodProblem';
  return [{ reason, path: ['spec', 'targetCluster'], message: `${which}${first.message}` }];
}

function entryStatus(
  entry: JudgedEntry,
  ofCluster: readonly Fault[],
  generation: number | undefined,
): object {
  const { name, address, ingress, points, faults } = entry;
  const conditions = conditionsOf(faults, ['Accepted', 'ResolvedRefs'], generation);
  const ready = conditionsOf([...faults, ...ofCluster], ['Ready'], generation);
  const port = address && (address.by === 'port' ? address.bootstrapPort : address.port);
  return {
    name,
    ...(address && !faults.some(isRefusal) && { bootstrap: `${address.bootstrapHost}:${port}` }),
    ...(ingress && { protocol: ingress.spec.clusterIP?.protocol ?? 'TLS' }),
    ...(points.length > 0 && { loadBalancerIngressPoints: points.slice(0, MAX_POINTS) }),
    conditions: [...conditions, ...ready],
  };
}

function ingressStatus({ ingress, faults }: JudgedIngress): PlannedStatus {
  const { name, generation } = ingress.metadata;
  const conditions = conditionsOf(faults, ['Accepted', 'ResolvedRefs', 'Ready'], generation);
  return {
    kind: 'KafkaProxyIngress',
    name,
    status: { ...observedGeneration(generation), conditions },
  };
}

function unreadableStatus({ object, problem }: Observed['unreadable'][number]): PlannedStatus {
  const { name, generation } = object.metadata;
  const faults: Fault[] = [{ reason: 'Invalid', path: [], message: problem }];
  const types: ConditionType[] = object.kind === 'KafkaProxy' ? ['Ready'] : ['Accepted', 'Ready'];
  const conditions = conditionsOf(faults, types, generation);
  const status = { ...observedGeneration(generation), conditions };
  // The status of a KafkaProxy also has the ports, which nothing may forget.
  const keepsRest = object.kind === 'KafkaProxy';
  return { kind: object.kind as PlannedStatus['kind'], name, status, ...(keepsRest && { keepsRest }) };
}

function proxyStatus(generation: number | undefined, known: Known): PlannedStatus {
  const { observed, judgement, config, portBlocks } = known;
  const { name, live } = observed;
  const pods = live.pods.slice(0, MAX_PODS).map(({ name, ready, configVersion }) => ({
    name,
    ready,
    ...(configVersion !== undefined && { configVersion }),
  }));
  const status = {
    ...observedGeneration(generation),
    conditions: [proxyReady(known, generation)],
    ingresses: judgement.ingresses.slice(0, MAX_INGRESSES).map(({ ingress, faults }) => ({
      name: ingress.metadata.name,
      conditions: conditionsOf(faults, ['Accepted', 'ResolvedRefs', 'Ready'], generation),
    })),
    replicas: live.replicas,
    labelSelector: selectorOf(podLabels(name)),
    configVersion: config.hash,
    pods,
    portBlocks,
  };
  return { kind: 'KafkaProxy', name, status };
}

/** Ready: all the pods there should be are ready, and serve the newest configuration. */
function proxyReady(known: Known, generation: number | undefined): PlannedCondition {
  const { observed, findings } = known;
  const { pods } = observed.live;
  const wanted = observed.world.proxies.find(({ metadata }) => metadata.name === observed.name)?.spec
    .infrastructure.proxy.replicas;
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
  const taken = [...findings.taken].find((reference) => !isDoor(reference));
  if (taken) return say('False', 'NameTaken', `${taken} exists and was made by someone else`);
  const denied = [...findings.denied].filter(([reference]) => !isDoor(reference));
  if (denied.length > 0) {
    const message = denied.map(([reference, why]) => `${reference}: ${why}`).join('; ');
    return say('False', 'Denied', message.slice(0, MAX_MESSAGE));
  }
  if (wanted === 0) return say('False', 'ScaledToZero', 'no pods are asked for');
  if (refusal) return say('False', 'ConfigRefused', `pod "${refusal.name}" refuses it: ${refusal.refusal}`);
  if (ready < (wanted ?? 0) || ready === 0)
    return say('False', 'PodsNotReady', `${ready} of ${wanted} pods are ready`);
  if (behind > 0)
    return say(
      'False',
      'ConfigPending',
      `${behind} of ${ready} pods have yet to load the newest configuration`,
    );
  return say('True', 'Ready', '');
}

const observedGeneration = (generation: number | undefined) =>
  generation === undefined ? {} : { observedGeneration: generation };
