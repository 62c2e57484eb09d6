/** Judges everything a proxy has to do with: which ingresses work, which virtual clusters can be served, and where. */
import { EMBEDDED } from '../../resources/common/names.ts';
import { countNodes, nodeIdsOf } from '../../resources/common/node-ids.ts';
import type { KafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { VirtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { locate } from './addresses.ts';
import { ageOf } from './age.ts';
import { allocationOf } from './blocks.ts';
import { judgeCertificates } from './certificates.ts';
import type { GatewayAddress, ServedCluster } from './config.ts';
import { preventsService } from './faults.ts';
import type { Fault } from './faults.ts';
import {
  CONTAINER_PORTS,
  SHARED,
  blockOwner,
  bootstrapRouteName,
  clusterServiceName,
  nodeRouteName,
  sharedServiceName,
} from './names.ts';
import type { Findings, Live, Observed, PlanSettings, Point } from './observed.ts';
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
  const known = allocationOf(proxy?.status?.portBlocks, live.services);
  const claims = claimsOf(ingresses, clusters, observed, known.held);
  const allocated = allocatePorts(claims, known, CONTAINER_PORTS, now);
  settleIngresses(ingresses, allocated, observed, findings);
  const times: number[] = [];
  for (const { cluster, target, entries } of clusters) {
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
  { taken }: Findings,
): void {
  for (const { ingress, faults } of ingresses) {
    const { name } = ingress.metadata;
    const service = sharedServiceName(name);
    if (!ingress.spec.clusterIP && taken.has(`Service ${namespace}/${service}`))
      faults.push({
        reason: 'NameTaken',
        path: ['metadata', 'name'],
        message: takenText('Service', service),
      });
    if (refused.includes(blockOwner(SHARED, name))) {
      const message = 'no container ports are left; use another KafkaProxy';
      faults.push({ reason: 'NoFreePorts', path: ['spec'], message });
    }
  }
}

const takenText = (kind: string, name: string) =>
  `${kind} "${name}" exists and was made by someone else; delete it, or choose other names`;

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
  for (const fault of takenFaults(cluster, entry.name, nodeIdsOf(nodeIdRanges), findings.taken)) add(fault);
}

/** Which names of an entry's own objects are someone else's. */
function takenFaults(
  cluster: string,
  ingress: string,
  nodes: readonly number[],
  taken: ReadonlySet<string>,
): Omit<Fault, 'path'>[] {
  const service = clusterServiceName(cluster, ingress);
  const routes = new Set([
    bootstrapRouteName(cluster, ingress),
    ...nodes.map((node) => nodeRouteName(cluster, ingress, node)),
  ]);
  return [...taken].flatMap((reference): Omit<Fault, 'path'>[] => {
    const [kind = '', key = ''] = reference.split(' ');
    const name = key.slice(key.indexOf('/') + 1);
    if (kind.startsWith('DNSEndpoint') && name === service)
      return [{ reason: 'RecordsNotPublished', message: takenText('DNSEndpoint', name) }];
    const isOwn = kind === 'Service' ? name === service : kind.includes('Route') && routes.has(name);
    return isOwn ? [{ reason: 'NameTaken', message: takenText(kind.split('.')[0]!, name) }] : [];
  });
}

/**
 * Of two virtual clusters that would have the same host name, or objects of the same name (`a-b` at `c`, and `a` at `b-c`), the
 * older one has it.
 */
function settleNames(
  clusters: readonly JudgedCluster[],
  ingresses: readonly JudgedIngress[],
  live: Live,
): void {
  const holders = new Map<string, string>();
  for (const { ingress, way } of ingresses) {
    const { name } = ingress.metadata;
    if (way && way.by !== 'clusterIP')
      holders.set(`Service "${sharedServiceName(name)}"`, `KafkaProxyIngress "${name}"`);
  }
  const byAge = clusters.toSorted((a, b) => (ageOf(a.cluster.metadata) < ageOf(b.cluster.metadata) ? -1 : 1));
  for (const { cluster, entries } of byAge) {
    for (const [index, entry] of entries.entries()) {
      if (entry.way?.by === 'gateway') addElders(holders, entry.hosts, live);
      const claims = claimedNames(cluster.metadata.name, entry);
      const lost = claims.find((claim) => holders.has(claim));
      if (lost === undefined) {
        for (const claim of claims) holders.set(claim, `VirtualKafkaCluster "${cluster.metadata.name}"`);
        continue;
      }
      const reason = lost.startsWith('the host name') ? 'HostNameTaken' : 'NameTaken';
      const message = `${lost} belongs to ${holders.get(lost)}, which came first; choose other names or address patterns`;
      entry.faults.push({ reason, path: ['spec', 'ingresses', index], message });
    }
  }
}

/** At a Gateway the older route has a host name; where there is none of ours yet, any other is older. */
function addElders(holders: Map<string, string>, hosts: readonly string[], live: Live): void {
  for (const host of hosts) {
    const other = live.hostsElsewhere.get(host);
    if (!other) continue;
    const own = live.tlsRoutes.find(({ spec }) => spec.hostnames?.includes(host));
    if (!own || ageOf(own.metadata) > other.age) holders.set(`the host name ${host}`, other.holder);
  }
}

function claimedNames(cluster: string, { name, address, hosts }: JudgedEntry): string[] {
  if (!address) return [];
  const own = clusterServiceName(cluster, name);
  if (address.by === 'port') return [`Service "${own}"`];
  return [`the prefix "${own}" of routes and records`, ...hosts.map((host) => `the host name ${host}`)];
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
