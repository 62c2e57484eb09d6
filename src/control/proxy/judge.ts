/** Judges everything a proxy has to do with: which ingresses work, which virtual clusters can be served, and where. */
import { EMBEDDED } from '../../resources/common/names.ts';
import { countNodes, nodeIdsOf } from '../../resources/common/node-ids.ts';
import type { KafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { VirtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { locate } from './addresses.ts';
import { allocationOf } from './blocks.ts';
import { judgeCertificates, judgeClientCertificate } from './certificates.ts';
import type { GatewayAddress, ServedCluster } from './config.ts';
import { preventsService } from './faults.ts';
import type { Fault } from './faults.ts';
import { settleNames } from './name-claims.ts';
import { CONTAINER_PORTS, SHARED, blockOwner } from './names.ts';
import { objectFaults, sharedServiceFaults } from './object-faults.ts';
import type { Findings, Observed, PlanSettings, Point } from './observed.ts';
import { allocatePorts } from './ports.ts';
import type { Allocated, Claim } from './ports.ts';
import { resolveParts } from './resolve.ts';
import type { Part, ResolvedFilter, ResolvedIngress, ResolvedTarget } from './resolve.ts';
import { judgeIngress } from './ways.ts';
import type { JudgedIngress, Way } from './ways.ts';

/** One ingress of one virtual cluster. */
export interface JudgedEntry {
  name: string;
  faults: Fault[];
  resolved: ResolvedIngress | undefined;
  ingress: KafkaProxyIngress | undefined;
  way: Way | undefined;
  address: GatewayAddress | undefined;
  hosts: string[];
  points: Point[];
}

export interface JudgedCluster {
  cluster: VirtualKafkaCluster;
  /** Faults of the whole; those of its parts are with the parts. */
  faults: Fault[];
  target: ResolvedTarget | undefined;
  filters: Part<ResolvedFilter>[];
  entries: JudgedEntry[];
}

export interface Judgement {
  ingresses: JudgedIngress[];
  clusters: JudgedCluster[];
  allocated: Allocated;
  /** When a certificate begins or ends. */
  changesAt: number | undefined;
}

/** Pure. */
export function judge(observed: Observed, settings: PlanSettings, findings: Findings): Judgement {
  const { world, live, now } = observed;
  // Ingresses of other proxies are here too, for whoever names one by mistake.
  const ingresses = world.ingresses
    .filter(({ spec }) => spec.proxyRef.name === observed.name)
    .map((ingress) => judgeIngress(ingress, observed));
  const clusters = world.virtualClusters.map((cluster) => resolved(cluster, observed, findings));
  const proxy = world.proxies.find(({ metadata }) => metadata.name === observed.name);
  const known = allocationOf(proxy?.status?.portBlocks, live.services, now);
  const claims = claimsOf(ingresses, clusters, observed, known.held);
  const allocated = allocatePorts(claims, known, CONTAINER_PORTS, now);
  settleIngresses(ingresses, allocated, observed, findings);
  const times: number[] = [];
  for (const { cluster, target, faults, entries } of clusters) {
    const clientKey = target?.tls?.key;
    if (clientKey) {
      const lifetime = judgeClientCertificate(clientKey, now);
      for (const fault of lifetime.faults) faults.push({ ...fault, path: CLIENT_CERTIFICATE });
      if (lifetime.changesAt !== undefined) times.push(lifetime.changesAt);
    }
    for (const [index, entry] of entries.entries()) {
      const path = ['spec', 'ingresses', index];
      const add = (fault: Omit<Fault, 'path'>) => void entry.faults.push({ ...fault, path });
      settleEntry(entry, cluster, target, { ingresses, allocated, observed, settings, findings }, add);
      const { tls } = entry.resolved ?? {};
      if (!tls || entry.hosts.length === 0) continue;
      const coverage = judgeCertificates(tls.keys, entry.hosts, now);
      for (const fault of coverage.faults) add(fault);
      if (coverage.changesAt !== undefined) times.push(coverage.changesAt);
    }
  }
  settleNames(clusters, ingresses, live);
  return { ingresses, clusters, allocated, changesAt: times.length > 0 ? Math.min(...times) : undefined };
}

const CLIENT_CERTIFICATE = ['spec', 'targetCluster', 'tls', 'certificateRef'];

function resolved(cluster: VirtualKafkaCluster, { world }: Observed, findings: Findings): JudgedCluster {
  const { faults, target, filters, ingresses } = resolveParts(cluster, world);
  if (target?.bootstrapServers === EMBEDDED) {
    const message = `KafkaClusterRef "${cluster.spec.targetCluster.clusterRef.name}" asks for an embedded Kafka, which only \`isthmus up\` has; write the address of a cluster`;
    faults.push({ reason: 'NotSupported', path: ['spec', 'targetCluster'], message });
  }
  for (const [index, filter] of filters.entries()) {
    const problem = findings.filters.get(filter.name);
    if (problem === undefined) continue;
    const message = `KafkaProtocolFilter "${filter.name}": ${problem}`;
    filter.faults.push({ reason: 'Invalid', path: ['spec', 'filterRefs', index], message });
  }
  const refusal = findings.clusters.get(cluster.metadata.name);
  if (refusal !== undefined) faults.push({ reason: 'Invalid', path: ['spec'], message: refusal });
  const entries = ingresses.map(({ name, found, faults }): JudgedEntry => {
    const unknown = { ingress: undefined, way: undefined, address: undefined, hosts: [], points: [] };
    return { name, faults, resolved: found, ...unknown };
  });
  return { cluster, faults, target, filters, entries };
}

/**
 * Who needs how many ports. Whatever is wrong with a virtual cluster, the ports it has stay its own: it may come back, and
 * its clients with it.
 */
function claimsOf(
  ingresses: readonly JudgedIngress[],
  clusters: readonly JudgedCluster[],
  { unreadable }: Observed,
  held: Readonly<Record<string, { size: number }>>,
): Claim[] {
  const claims = new Map<string, Claim>();
  const keep = (owner: string) => {
    const block = held[owner];
    if (block && !claims.has(owner)) claims.set(owner, { owner, size: block.size });
  };
  for (const { ingress } of ingresses) {
    const owner = blockOwner(SHARED, ingress.metadata.name);
    if (!ingress.spec.clusterIP) claims.set(owner, { owner, size: 1 });
  }
  for (const { cluster, target, entries } of clusters) {
    for (const { name } of entries) {
      const owner = blockOwner(cluster.metadata.name, name);
      const found = ingresses.find(({ ingress }) => ingress.metadata.name === name);
      if (!found || !target) keep(owner);
      else if (found.ingress.spec.clusterIP)
        claims.set(owner, { owner, size: countNodes(target.nodeIdRanges) + 1 });
    }
  }
  for (const { object } of unreadable) {
    const { name } = object.metadata;
    for (const owner of Object.keys(held)) {
      if (owner.startsWith(`${name}/`) && object.kind === 'VirtualKafkaCluster') keep(owner);
      if (owner === blockOwner(SHARED, name) && object.kind === 'KafkaProxyIngress') keep(owner);
    }
  }
  return [...claims.values()];
}

function settleIngresses(
  ingresses: readonly JudgedIngress[],
  { refused }: Allocated,
  { namespace }: Observed,
  findings: Findings,
): void {
  for (const { ingress, faults } of ingresses) {
    const { name } = ingress.metadata;
    if (!ingress.spec.clusterIP)
      for (const fault of sharedServiceFaults(namespace, name, findings))
        faults.push({ ...fault, path: ['metadata', 'name'] });
    if (refused.includes(blockOwner(SHARED, name))) {
      const message = 'no container ports are left; use another KafkaProxy';
      faults.push({ reason: 'NoFreePorts', path: ['spec'], message });
    }
  }
}

interface Surroundings {
  ingresses: readonly JudgedIngress[];
  allocated: Allocated;
  observed: Observed;
  settings: PlanSettings;
  findings: Findings;
}

/** Gives an entry its way and address, whatever else is wrong with the virtual cluster: others depend on who has which name. */
function settleEntry(
  entry: JudgedEntry,
  { metadata: { name: cluster, namespace } }: VirtualKafkaCluster,
  target: ResolvedTarget | undefined,
  { ingresses, allocated, observed, settings, findings }: Surroundings,
  add: (fault: Omit<Fault, 'path'>) => void,
): void {
  const judged = ingresses.find(({ ingress }) => ingress.metadata.name === entry.name);
  if (!judged) return;
  const blocking = judged.faults.filter(preventsService);
  for (const { message, path } of blocking) {
    // That there is no such proxy is said of the virtual cluster itself.
    if (path[1] === 'proxyRef') continue;
    const transitive = `KafkaProxyIngress "${entry.name}": ${message}`;
    add({ reason: 'TransitivelyReferencedResourcesNotFound', message: transitive });
  }
  for (const { reason, message } of judged.faults) if (reason === 'Denied') add({ reason, message });
  if (!judged.way || blocking.length > 0) return;
  const shared = judged.way.by !== 'clusterIP';
  const owner = blockOwner(shared ? SHARED : cluster, entry.name);
  // Growth that was refused leaves the old block, which is too small.
  const block = allocated.refused.includes(owner) ? undefined : allocated.allocation.held[owner];
  entry.ingress = judged.ingress;
  entry.way = judged.way;
  if (!target && !shared) return;
  const doorway = { cluster, ingress: entry.name, namespace, way: judged.way, containerPort: block?.start };
  const nodeIdRanges = target?.nodeIdRanges ?? [];
  const located = locate({ ...doorway, nodeIdRanges }, observed.live, settings);
  for (const fault of located.faults) add(fault);
  Object.assign(entry, { address: located.address, hosts: located.hosts, points: located.points });
  for (const fault of objectFaults(cluster, entry.name, nodeIdsOf(nodeIdRanges), findings)) add(fault);
}

/** The virtual cluster as its proxy is to serve it: by those of its ingresses that work. */
export function servedCluster(judged: JudgedCluster): ServedCluster | undefined {
  const { cluster, target, filters, entries } = judged;
  const broken = [...judged.faults, ...filters.flatMap(({ faults }) => faults)].some(preventsService);
  if (broken || !target) return undefined;
  const ingresses = entries.flatMap(({ resolved, address, faults }) =>
    resolved && address && !faults.some(preventsService) ? [{ ...resolved, address }] : [],
  );
  if (ingresses.length === 0) return undefined;
  return { cluster, target, ingresses, filters: filters.flatMap(({ found }) => found ?? []) };
}
