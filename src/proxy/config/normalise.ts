import { availableParallelism } from 'node:os';
import { clientTls, serverTls } from './key-material.ts';
import type { Place, ReadFile } from './key-material.ts';
import type {
  FilterSpec,
  GatewayConfig,
  Limits,
  NodeIdRange,
  PortRouting,
  ProxyConfig,
  ProxyProtocol,
  SniRouting,
  TargetConfig,
  VirtualClusterConfig,
} from './model.ts';
import { portBindings } from './ports.ts';
import type { ConfigDocument, GatewayDocument } from './schema.ts';

/** The outcome of folding a document into a configuration; usable only where there are no problems. */
export interface Normalised {
  config: ProxyConfig;
  /** Each names the key and what is wrong with it. */
  problems: string[];
  /** Accepted, but without effect. */
  warnings: string[];
}

const DEFAULT_RANGES: NodeIdRange[] = [{ start: 0, end: 2 }];
const NODE_ID = '$(nodeId)';

/** One core is left to the kernel's share of the work and to the neighbours; a process that has no core only costs memory. */
const defaultWorkers = () => Math.max(1, availableParallelism() - 1);

type ClusterDocument = ConfigDocument['virtualClusters'][number];
type TargetDocument = NonNullable<ClusterDocument['targetCluster']>;

/** Fills in defaults, resolves names, reads key material, and checks what a schema cannot. */
export function normalise(document: ConfigDocument, readFile: ReadFile): Normalised {
  const problems: string[] = [];
  const pems = new Map(Object.entries(document.pem ?? {}));
  const place = (path: string): Place => ({
    readFile,
    pem: (name) => pems.get(name),
    problem: (key, message) => void problems.push(`${path}${path && key ? '.' : ''}${key}: ${message}`),
  });
  const virtualClusters = document.virtualClusters.map((cluster, i) =>
    virtualCluster(cluster, document, place(`virtualClusters.${i}`)),
  );
  duplicates(document.virtualClusters, 'virtualClusters', place(''));
  duplicates(document.filterDefinitions ?? [], 'filterDefinitions', place(''));
  duplicates(document.clusterDefinitions ?? [], 'clusterDefinitions', place(''));
  unusedFilters(document, place(''));
  if (problems.length === 0) problems.push(...portBindings(virtualClusters).conflicts);
  const { management } = document;
  const config: ProxyConfig = {
    management: management && { host: management.bindAddress ?? '0.0.0.0', port: management.port ?? 9190 },
    workers: document.workers ?? document.network?.proxy?.workerThreadCount ?? defaultWorkers(),
    proxyProtocol: proxyProtocolOf(document, place('proxyProtocol')),
    unknownApis: document.unknownApis ?? 'pass',
    limits: limitsOf(document),
    shutdownTimeoutMs: document.network?.proxy?.shutdownTimeout ?? 15_000,
    virtualClusters,
  };
  return { config, problems, warnings: warningsOf(document) };
}

/** What a timer can wait; it would take more, and also "no limit", for no time at all. */
const LONGEST_MS = 0x7fff_ffff;
const forTimer = (ms: number) => Math.min(ms || LONGEST_MS, LONGEST_MS);

function limitsOf({ limits = {}, network }: ConfigDocument): Limits {
  const idleTimeoutMs = network?.proxy?.authenticatedIdleTimeout ?? limits.idleTimeout ?? 0;
  return {
    maxConnections: limits.maxConnections ?? 0,
    maxConnectionsPerAddress: limits.maxConnectionsPerAddress ?? 0,
    maxFrameBytes: limits.maxFrameBytes ?? 104_857_600,
    connectTimeoutMs: forTimer(limits.connectTimeout ?? 10_000),
    handshakeTimeoutMs: forTimer(limits.handshakeTimeout ?? 10_000),
    idleTimeoutMs,
    unauthenticatedIdleTimeoutMs: network?.proxy?.unauthenticatedIdleTimeout ?? idleTimeoutMs,
  };
}

function proxyProtocolOf({ proxyProtocol }: ConfigDocument, place: Place): ProxyProtocol {
  const { mode = 'disabled', trustedSources } = proxyProtocol ?? {};
  // Without a list every client could say that it is another one, and get past what is limited by address.
  if (mode === 'allowed' && trustedSources === undefined)
    place.problem('trustedSources', 'is needed with mode allowed: the networks of the load balancers (CIDR)');
  return { mode, trustedSources };
}

function warningsOf(document: ConfigDocument): string[] {
  const ignored: string[] = [];
  if (document.micrometer !== undefined) ignored.push('micrometer');
  if (document.useIoUring) ignored.push('useIoUring');
  for (const { name, logNetwork, logFrames, topicNameCache, subjectBuilder } of document.virtualClusters) {
    const where = `virtualClusters[${name}]`;
    if (logNetwork) ignored.push(`${where}.logNetwork`);
    if (logFrames) ignored.push(`${where}.logFrames (the protocol-logger filter logs messages)`);
    if (topicNameCache !== undefined) ignored.push(`${where}.topicNameCache`);
    if (subjectBuilder !== undefined) ignored.push(`${where}.subjectBuilder`);
  }
  return ignored.map((key) => `${key} has no effect here`);
}

function duplicates(named: { name: string }[], key: string, place: Place): void {
  const seen = new Set<string>();
  for (const { name } of named) {
    if (seen.has(name)) place.problem(key, `"${name}" is there twice`);
    seen.add(name);
  }
}

function unusedFilters(document: ConfigDocument, place: Place): void {
  const used = new Set([
    ...(document.defaultFilters ?? []),
    ...document.virtualClusters.flatMap(({ filters = [] }) => filters),
  ]);
  for (const { name } of document.filterDefinitions ?? [])
    if (!used.has(name)) place.problem('filterDefinitions', `"${name}" is used nowhere`);
}

function virtualCluster(
  cluster: ClusterDocument,
  document: ConfigDocument,
  place: Place,
): VirtualClusterConfig {
  const names = cluster.filters ?? document.defaultFilters ?? [];
  const filters = names.flatMap((name): FilterSpec[] => {
    const found = document.filterDefinitions?.find((definition) => definition.name === name);
    if (!found) place.problem('filters', `no filterDefinition is named "${name}"`);
    return found ? [{ name, type: found.type, config: found.config }] : [];
  });
  duplicates(cluster.gateways, 'gateways', place);
  return {
    name: cluster.name,
    target: target(targetOf(cluster, document, place), place),
    gateways: cluster.gateways.map((gateway, i) => gatewayOf(gateway, i, cluster.name, place)),
    filters,
    drainTimeoutMs: cluster.drainTimeout ?? 10_000,
  };
}

function targetOf(
  { target, targetCluster }: ClusterDocument,
  { clusterDefinitions }: ConfigDocument,
  place: Place,
): TargetDocument | undefined {
  if ((target === undefined) === (targetCluster === undefined)) {
    place.problem('', 'exactly one of target and targetCluster is needed');
    return targetCluster;
  }
  if (!target) return targetCluster;
  const found = clusterDefinitions?.find(({ name }) => name === target.cluster);
  if (!found) place.problem('target.cluster', `no clusterDefinition is named "${target.cluster}"`);
  return found;
}

function target(document: TargetDocument | undefined, place: Place): TargetConfig {
  return {
    bootstrapServers: document?.bootstrapServers ?? [],
    selection: document?.bootstrapServerSelection?.strategy ?? 'round-robin',
    tls: document?.tls && clientTls(document.tls, inside('targetCluster', place)),
  };
}

const inside = (path: string, place: Place): Place => ({
  ...place,
  problem: (key, message) => place.problem(`${path}${key ? '.' : ''}${key}`, message),
});

function gatewayOf(document: GatewayDocument, index: number, cluster: string, parent: Place): GatewayConfig {
  const place = inside(`gateways.${index}`, parent);
  return {
    name: document.name,
    bindAddress: document.bindAddress,
    routing: routingOf(document, cluster, place),
    tls: document.tls && serverTls(document.tls, place),
  };
}

function routingOf(document: GatewayDocument, cluster: string, place: Place): PortRouting | SniRouting {
  const { portIdentifiesNode: port, sniHostIdentifiesNode: sni } = document;
  if ((port === undefined) === (sni === undefined))
    place.problem('', 'exactly one of portIdentifiesNode and sniHostIdentifiesNode is needed');
  if (sni) {
    if (!document.tls) place.problem('tls', 'is needed with sniHostIdentifiesNode');
    return sniRouting(sni, cluster, inside('sniHostIdentifiesNode', place));
  }
  return portRouting(
    port ?? { bootstrapAddress: { host: '', port: 1 } },
    cluster,
    inside('portIdentifiesNode', place),
  );
}

function portRouting(
  document: NonNullable<GatewayDocument['portIdentifiesNode']>,
  cluster: string,
  place: Place,
): PortRouting {
  const { bootstrapAddress: bootstrap } = document;
  const nodeStartPort = document.nodeStartPort ?? document.brokerStartPort ?? bootstrap.port + 1;
  const pattern = named(document.advertisedBrokerAddressPattern ?? bootstrap.host, cluster);
  if (/:\d+$/.test(pattern) && !pattern.includes(']'))
    place.problem('advertisedBrokerAddressPattern', 'has a port; the ports count up from nodeStartPort');
  const ranges = (document.nodeIdRanges ?? DEFAULT_RANGES).map(({ start, end }) => ({ start, end }));
  overlaps(ranges, place);
  const listen = document.listen ?? { bootstrapPort: bootstrap.port, nodeStartPort };
  const last = Math.max(nodeStartPort, listen.nodeStartPort) + countNodes(ranges) - 1;
  if (last > 65_535) place.problem('nodeIdRanges', `the last node would need port ${last}`);
  return {
    by: 'port',
    bootstrap: named(bootstrap, cluster),
    brokerHost: pattern,
    nodeStartPort,
    listen,
    nodeIdRanges: ranges,
  };
}

const countNodes = (ranges: NodeIdRange[]) =>
  ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);

function overlaps(ranges: NodeIdRange[], place: Place): void {
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  for (const [i, range] of sorted.entries()) {
    const next = sorted[i + 1];
    if (next && next.start <= range.end)
      place.problem('nodeIdRanges', `${range.start}-${range.end} and ${next.start}-${next.end} overlap`);
  }
}

function sniRouting(
  document: NonNullable<GatewayDocument['sniHostIdentifiesNode']>,
  cluster: string,
  place: Place,
): SniRouting {
  const bootstrap = named(document.bootstrapAddress, cluster);
  const pattern = named(document.advertisedBrokerAddressPattern, cluster);
  const [, host = pattern, port] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  if (host.split(NODE_ID).length !== 2)
    place.problem('advertisedBrokerAddressPattern', `must contain ${NODE_ID} once`);
  return {
    by: 'sni',
    bootstrap,
    brokerHostPattern: host,
    brokerPort: port === undefined ? bootstrap.port : Number(port),
    listenPort: document.listenPort ?? document.bootstrapAddress.port,
  };
}

/** Puts the virtual cluster's name where the text asks for it. */
function named(text: string, cluster: string): string;
function named(address: { host: string; port: number }, cluster: string): { host: string; port: number };
function named(value: string | { host: string; port: number }, cluster: string) {
  const fill = (text: string) => text.replaceAll('$(virtualClusterName)', cluster);
  return typeof value === 'string' ? fill(value) : { ...value, host: fill(value.host) };
}
