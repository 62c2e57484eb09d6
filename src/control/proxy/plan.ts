/** Decides all that has to exist for one proxy, and what to say about it. Pure: no clock, no network, no cluster. */
import { referenceOf } from '../../kube/write/apply-decision.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { KafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { portBlocksOf } from './blocks.ts';
import type { PortBlock } from './blocks.ts';
import { isRefusal, preventsService } from './faults.ts';
import { judge, servedCluster } from './judge.ts';
import type { JudgedCluster, JudgedEntry, Judgement } from './judge.ts';
import { SHARED, blockOwner } from './names.ts';
import { clusterService, dnsEndpoint, routes, sharedService, tlsRoutes } from './objects/doors.ts';
import type { Door } from './objects/doors.ts';
import {
  configSecret,
  deployment,
  networkPolicy,
  podDisruptionBudget,
  serviceAccount,
} from './objects/workload.ts';
import type { Findings, Observed, PlanSettings, ServedKinds } from './observed.ts';
import { patienceMs } from './patience.ts';
import { QUARANTINE_MS } from './ports.ts';
import type { Allocation, Block } from './ports.ts';
import { plannedConfig } from './planned-config.ts';
import type { PlannedConfig } from './planned-config.ts';
import { isTooLarge, refuseYoungest } from './room.ts';
import { statusesOf } from './status.ts';
import type { PlannedStatus } from './status.ts';
import { dependsOnUnsettled } from './unsettled.ts';

export interface Plan {
  /** What should exist, in the order in which it is to be made. Nothing, where there is no proxy. */
  objects: AnyObject[];
  statuses: PlannedStatus[];
  /** Who has which ports: to be written down before anything uses them. */
  portBlocks: PortBlock[];
  config: PlannedConfig;
  lookAgainInMs: number | undefined;
  /** Whether nobody can tell what should exist: then all that does stays as it is. */
  isUnknown: boolean;
  /** Whether what exists and is not wanted may still belong to something: then it stays. */
  keepsLeftovers: boolean;
}

/** How soon to look again at what somebody else has to change, where no watch tells of it. */
const TAKEN_MS = 30_000;
const UNKNOWN_MS = 5000;
/** How soon to ask pods again: at first where they are about to load something or stumble, and where all is well. */
const PENDING_MS = 1000;
const PROBLEM_MS = 5000;
const ASK_MS = 60_000;

export function planProxy(observed: Observed, settings: PlanSettings, findings: Findings): Plan {
  const judgement = judge(observed, settings, findings);
  const proxy = observed.world.proxies.find(({ metadata }) => metadata.name === observed.name);
  const config = configOf(proxy, judgement);
  const { allocation } = judgement.allocated;
  const wanted = proxy ? objectsOf(proxy, judgement, config, observed, settings) : [];
  const objects = wanted.filter((object) => !findings.taken.has(referenceOf(object)));
  const portBlocks = portBlocksOf(allocation);
  const { statuses, pending } = statusesOf({ observed, judgement, config, portBlocks, findings });
  const { live, now } = observed;
  const unchangedMs = now - observed.podsSince;
  const times = [
    ...(pending ? [patienceMs(unchangedMs, PENDING_MS)] : []),
    ...live.pods.map(({ problems }) => (problems ? patienceMs(unchangedMs, PROBLEM_MS) : ASK_MS)),
    ...(findings.taken.size > 0 || isHostTaken(judgement) ? [TAKEN_MS] : []),
    ...(judgement.changesAt === undefined ? [] : [judgement.changesAt - now]),
    ...allocation.released.map(({ at }) => at + QUARANTINE_MS - now),
  ];
  const lookAgainInMs = times.length > 0 ? Math.max(0, Math.min(...times)) : undefined;
  // What has become unreadable, by a new version of a CRD perhaps, must not take load balancers and addresses with it.
  const keepsLeftovers = observed.unreadable.length > 0;
  const plan = { objects, statuses, portBlocks, config, lookAgainInMs, isUnknown: false, keepsLeftovers };
  const unknown = { ...plan, isUnknown: true, lookAgainInMs: UNKNOWN_MS };
  if (dependsOnUnsettled(observed)) return { ...unknown, statuses: [] };
  const isUnreadable = observed.unreadable.some(({ object }) => object.kind === 'KafkaProxy');
  return isUnreadable ? { ...unknown, statuses: statuses.filter(({ kind }) => kind === 'KafkaProxy') } : plan;
}

function configOf(proxy: KafkaProxy | undefined, { clusters }: Judgement): PlannedConfig {
  const served = () => clusters.flatMap((cluster) => servedCluster(cluster) ?? []);
  const config = plannedConfig(proxy, served());
  if (!isTooLarge(config)) return config;
  refuseYoungest(clusters, config);
  return plannedConfig(proxy, served());
}

/** Perhaps by another proxy, about which nobody tells this one. */
function isHostTaken({ clusters }: Judgement): boolean {
  const faults = clusters.flatMap(({ entries }) => entries.flatMap((entry) => entry.faults));
  return faults.some(({ reason }) => reason === 'HostNameTaken');
}

function objectsOf(
  proxy: KafkaProxy,
  { ingresses, clusters, allocated }: Judgement,
  config: PlannedConfig,
  { live }: Observed,
  { image }: PlanSettings,
): AnyObject[] {
  const { held } = allocated.allocation;
  const shared = ingresses.flatMap(({ ingress, way, faults }) => {
    const block = held[blockOwner(SHARED, ingress.metadata.name)];
    const works = block && way && way.by !== 'clusterIP' && !faults.some(preventsService);
    return works ? [sharedService(proxy, ingress, block.start)] : [];
  });
  return [
    serviceAccount(proxy),
    configSecret(proxy, config.text),
    deployment(proxy, image),
    podDisruptionBudget(proxy),
    networkPolicy(proxy, servedBlocks(config, held)),
    ...shared,
    ...clusters.flatMap((cluster) => doorsOf(proxy, cluster, live.kinds)),
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
 * The ways in to a virtual cluster, also while it cannot be served: they carry the host names that its certificates have to
 * name, OpenShift issues certificates for Services that exist, and an address that clients know should outlive a mistake.
 */
function doorsOf(proxy: KafkaProxy, judged: JudgedCluster, kinds: ServedKinds): AnyObject[] {
  const { cluster, target, entries } = judged;
  if (!target) return [];
  return entries.flatMap((entry, index) => {
    const { ingress, faults } = entry;
    if (!ingress || faults.some(isRefusal)) return [];
    const wishes = cluster.spec.ingresses[index]!.infrastructure;
    return doorObjects({ proxy, cluster: cluster.metadata.name, ingress, wishes, target }, entry, kinds);
  });
}

function doorObjects(door: Door, { way, address, points }: JudgedEntry, kinds: ServedKinds): AnyObject[] {
  // Routes come before there is an address: they are what it comes from.
  if (way?.by === 'route') return routes(door);
  if (!address) return [];
  if (address.by === 'port') return [clusterService(door, address)];
  const records = kinds.dnsEndpoint && points.length > 0 ? [dnsEndpoint(door, address, points)] : [];
  if (way?.by !== 'gateway' || kinds.tlsRoute === undefined) return records;
  return [...tlsRoutes(door, way.parent, way.domain, kinds.tlsRoute), ...records];
}
