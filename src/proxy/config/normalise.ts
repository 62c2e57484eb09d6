import { availableParallelism } from 'node:os';
import { configProblems } from '../../ops/config.ts';
import { moduleOf } from '../../ops/filter-module.ts';
import { clientTls, serverTls } from './key-material.ts';
import type { Place, ReadFile } from './key-material.ts';
import { limitsOf } from './limits.ts';
import type {
  FilterSpec,
  GatewayConfig,
  Problem,
  ProxyConfig,
  ProxyProtocol,
  TargetConfig,
  VirtualClusterConfig,
} from './model.ts';
import { portBindings } from './ports.ts';
import { inside, routingOf } from './routing.ts';
import { virtualClusterSchema } from './schema.ts';
import type { ClusterDocument, ConfigDocument, GatewayDocument } from './schema.ts';

/** The outcome of folding a document into a configuration; usable only where there are no problems. */
export interface Normalised {
  /** With those virtual clusters that can be used. */
  config: ProxyConfig;
  /** What is wrong with the whole: each names the key and what is wrong with it. */
  problems: string[];
  /** What is wrong with single virtual clusters, which the configuration is without. */
  rejected: Problem[];
  /** Accepted, but without effect. */
  warnings: string[];
}

/** One core is left to the kernel's share of the work and to the neighbours; a process that has no core only costs memory. */
const defaultWorkers = () => Math.max(1, availableParallelism() - 1);

type TargetDocument = NonNullable<ClusterDocument['targetCluster']>;

/** Fills in defaults, resolves names, reads key material, and checks what a schema cannot. */
export function normalise(document: ConfigDocument, readFile: ReadFile): Normalised {
  const problems: string[] = [];
  const pems = new Map(Object.entries(document.pem ?? {}));
  const placeIn = (found: string[]): Place => ({
    readFile,
    pem: (name) => pems.get(name),
    problem: (key, message) => void found.push(problemText(key, message)),
  });
  const { clusters, malformed } = readClusters(document);
  const { usable, rejected } = clustersWithoutProblems(clusters, (cluster, found) =>
    virtualCluster(cluster, document, placeIn(found)),
  );
  const whole = placeIn(problems);
  duplicates(document.virtualClusters, 'virtualClusters', whole);
  duplicates(document.filterDefinitions ?? [], 'filterDefinitions', whole);
  duplicates(document.clusterDefinitions ?? [], 'clusterDefinitions', whole);
  // Which filters those want that cannot be read is anybody's guess.
  if (malformed.length === 0) unusedFilters(document, clusters, whole);
  const conflicts = portBindings(usable).conflicts;
  const virtualClusters = usable.filter(({ name }) => !conflicts.some(({ cluster }) => cluster === name));
  const { management } = document;
  const workers = document.workers ?? document.network?.proxy?.workerThreadCount ?? defaultWorkers();
  const config: ProxyConfig = {
    management: management && managementOf(management),
    workers,
    proxyProtocol: proxyProtocolOf(document.proxyProtocol, inside('proxyProtocol', whole)),
    unknownApis: document.unknownApis ?? 'refuse',
    limits: limitsOf(document, workers),
    shutdownTimeoutMs: document.network?.proxy?.shutdownTimeout ?? 15_000,
    virtualClusters,
  };
  const all = [...malformed, ...rejected, ...conflicts];
  return { config, problems, rejected: all, warnings: warningsOf(document, clusters) };
}

const problemText = (key: string, message: string) => (key === '' ? message : `${key}: ${message}`);

function readClusters({ virtualClusters }: ConfigDocument) {
  const clusters: ClusterDocument[] = [];
  const malformed: Problem[] = [];
  for (const written of virtualClusters) {
    const { success, data, error } = virtualClusterSchema.safeParse(written);
    if (success) clusters.push(data);
    for (const { path, message } of error ? configProblems(error, written) : [])
      malformed.push({ cluster: written.name, problem: problemText(path, message), stage: 'load' });
  }
  return { clusters, malformed };
}

function clustersWithoutProblems(
  clusters: readonly ClusterDocument[],
  normalised: (cluster: ClusterDocument, found: string[]) => VirtualClusterConfig,
) {
  const usable: VirtualClusterConfig[] = [];
  const rejected: Problem[] = [];
  for (const cluster of clusters) {
    const found: string[] = [];
    const config = normalised(cluster, found);
    if (found.length === 0) usable.push(config);
    for (const problem of found) rejected.push({ cluster: cluster.name, problem, stage: 'load' });
  }
  return { usable, rejected };
}

function managementOf({
  bindAddress = '0.0.0.0',
  port = 9190,
  tokenFile,
  metricsTokenFile,
  tls,
}: NonNullable<ConfigDocument['management']>): ProxyConfig['management'] {
  return {
    host: bindAddress,
    port,
    ...(tokenFile !== undefined && { tokenFile }),
    ...(metricsTokenFile !== undefined && { metricsTokenFile }),
    ...(tls && { tls }),
  };
}

function proxyProtocolOf(document: ConfigDocument['proxyProtocol'], place: Place): ProxyProtocol {
  const { mode = 'disabled', trustedSources } = document ?? {};
  // Without a list every client could say that it is another one, and get past what is limited by address.
  if (mode === 'allowed' && trustedSources === undefined)
    place.problem('trustedSources', 'is needed with mode allowed: the networks of the load balancers (CIDR)');
  return { mode, trustedSources };
}

function warningsOf(document: ConfigDocument, clusters: readonly ClusterDocument[]): string[] {
  const ignored: string[] = [];
  if (document.micrometer !== undefined) ignored.push('micrometer');
  if (document.useIoUring) ignored.push('useIoUring');
  for (const { name, logNetwork, logFrames, topicNameCache, subjectBuilder } of clusters) {
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

function unusedFilters(document: ConfigDocument, clusters: readonly ClusterDocument[], place: Place): void {
  const used = new Set([
    ...(document.defaultFilters ?? []),
    ...clusters.flatMap(({ filters = [] }) => filters),
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
  const filters = names.flatMap((name) => filterOf(name, document, place));
  duplicates(cluster.gateways, 'gateways', place);
  return {
    name: cluster.name,
    target: target(targetOf(cluster, document, place), document, place),
    gateways: cluster.gateways.map((gateway, i) => gatewayOf(gateway, i, cluster.name, place)),
    filters,
    drainTimeoutMs: cluster.drainTimeout ?? 10_000,
  };
}

function filterOf(
  name: string,
  { filterDefinitions = [], filterModules = [] }: ConfigDocument,
  place: Place,
): FilterSpec[] {
  const found = filterDefinitions.find((definition) => definition.name === name);
  if (!found) {
    place.problem('filters', `no filterDefinition is named "${name}"`);
    return [];
  }
  const module = moduleOf(found.type);
  const allowed = filterModules.find((one) => one.name === module);
  if (module !== undefined && !allowed)
    place.problem('filters', `"${name}" is of a module that filterModules does not name`);
  const { secretFields } = allowed ?? {};
  return [{ name, type: found.type, config: found.config, ...(secretFields && { secretFields }) }];
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

function target(
  document: TargetDocument | undefined,
  { targetPolicy }: ConfigDocument,
  place: Place,
): TargetConfig {
  return {
    bootstrapServers: document?.bootstrapServers ?? [],
    selection: document?.bootstrapServerSelection?.strategy ?? 'round-robin',
    tls: document?.tls && clientTls(document.tls, inside('targetCluster', place)),
    ...(targetPolicy && {
      policy: {
        allow: targetPolicy.allow ?? [],
        bootstrap: targetPolicy.bootstrap ?? 'named',
        ...(targetPolicy.identityHosts && { identityHosts: targetPolicy.identityHosts }),
      },
    }),
  };
}

function gatewayOf(document: GatewayDocument, index: number, cluster: string, parent: Place): GatewayConfig {
  const place = inside(`gateways.${index}`, parent);
  return {
    name: document.name,
    bindAddress: document.bindAddress,
    routing: routingOf(document, cluster, place),
    tls: document.tls && serverTls(document.tls, place),
    ...(document.proxyProtocol && {
      proxyProtocol: proxyProtocolOf(document.proxyProtocol, inside('proxyProtocol', place)),
    }),
  };
}
