import type { Log } from '../../ops/log.ts';
import { metricsText } from '../../ops/metrics.ts';
import type { Metrics, Snapshot } from '../../ops/metrics.ts';
import { createTargetWatch } from '../cluster/target-watch.ts';
import type { TapBatch } from '../cluster/tap.ts';
import { addressText } from '../cluster/topology.ts';
import type { CertificateFact } from '../config/check.ts';
import { targetKey } from '../config/canonical.ts';
import { withRunning } from '../config/keep-running.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { FilterReason, Problem, VirtualClusterConfig } from '../config/model.ts';
import { whyNotReady } from './readiness.ts';
import { createWorkerPool } from './supervisor.ts';
import { createLocalPool } from './worker-pool.ts';

/** A configuration that has been loaded as far as it can be used. */
export interface GoodConfig extends Omit<LoadedConfig, 'warnings' | 'leftUntried'> {
  hash: string;
}

/** What the proxy says of itself, without secrets. */
export interface ProxyStatus {
  /** SHA-256 of the configuration that every worker has loaded. */
  hash: string;
  loadedAt: string;
  /** Why the newest configuration is not in use. */
  error?: string;
  workers: number;
  /** Why a worker does not serve. */
  workerProblems?: string[];
  virtualClusters: VirtualClusterStatus[];
}

export interface VirtualClusterStatus {
  name: string;
  gateways: { name: string; bootstrap: string; tls: boolean }[];
  filters: { name: string; type: string }[];
  /** Whether this is the newest version of it; if not, what it says here is of the version before, if there is one. */
  loaded: boolean;
  /** Set where it is not served, because a filter of its own has stopped a worker. */
  outOfService?: true;
  /** Undefined until it has been checked. */
  targetReachable?: boolean;
  /** Ids of the brokers behind it, as far as they are known. */
  nodeIds: number[];
  problems: string[];
  /** What filters lack that work on without it. */
  filterProblems?: { reason: FilterReason; message: string }[];
}

/** A proxy at work, however many processes that takes. */
export interface Proxy {
  /** Changes over to a configuration; one at a time. */
  apply(good: GoodConfig): Promise<void>;
  /** Notes that a newer configuration was refused; undefined that it is good again. */
  refuse(error: string | undefined): void;
  status(): ProxyStatus | undefined;
  /** Why it should not be sent connections; undefined if it should. */
  notReady(): string | undefined;
  /** Why it must be started anew; undefined if it can help itself. */
  notLive(): string | undefined;
  metricsText(): Promise<string>;
  /** What its processes have counted. */
  snapshots(): Promise<Snapshot[]>;
  /** The certificates in use. */
  certificates(): readonly CertificateFact[];
  /** Shows requests, some of them if there are many, until the result is called. */
  tap(onTapped: (batch: TapBatch) => void): () => void;
  pids(): number[];
  close(timeoutMs: number): Promise<void>;
}

const REPORT_INTERVAL_MS = 2000;

export interface ProxyOptions {
  log: Log;
  metrics: Metrics;
  /** Processes that carry connections; 1 is this one, unless it is to be supervised. */
  workers: number;
  /** Whether there has to be somebody who outlives a filter that does not end. */
  supervised?: boolean;
}

export function createProxy({ log, metrics, workers, supervised = workers > 1 }: ProxyOptions): Proxy {
  const onlookers = new Set<(batch: TapBatch) => void>();
  const onTapped = (batch: TapBatch) => onlookers.forEach((show) => show(batch));
  const pool = supervised
    ? createWorkerPool(workers, log, metrics, onTapped)
    : createLocalPool(log, metrics, onTapped);
  const targets = createTargetWatch(log, (cluster, nodes) => pool.learn(cluster, nodes));
  const gauges = createGauges(metrics);
  let current: (GoodConfig & { loadedAt: Date }) | undefined;
  let error: string | undefined;
  let problems: Problem[] = [];
  let everReady = false;

  const refresh = async () => {
    ({ problems } = await pool.report());
  };
  const refresher = setInterval(() => void refresh(), REPORT_INTERVAL_MS);
  refresher.unref();
  // A target that wants a login is known only by what clients were told, which may be more than is there now.
  const nodesOf = ({ name, target }: KnownCluster) =>
    targets.nodes(name) ?? (target ? pool.nodes(targetKey({ name, target })) : []);
  const allProblems = () => [...(current?.rejected ?? []), ...problems];
  const snapshots = async () => [await metrics.snapshot(), ...(await pool.report()).snapshots];
  metrics.beforeReport(() => {
    for (const [cluster, why] of targets.results()) gauges.reachable(cluster, why === undefined);
    if (current) gauges.loaded(current, allProblems());
  });

  return {
    async apply(good) {
      const next = keepRunning(current, good);
      await pool.apply(next.config);
      targets.set(next.config);
      gauges.config(current, next);
      current = { ...next, loadedAt: new Date() };
      error = undefined;
      await refresh();
    },
    refuse(why) {
      error = why;
    },
    status() {
      if (!current) return undefined;
      const { hash, loadedAt } = current;
      const virtualClusters = clustersOf(current).map((cluster) =>
        statusOf(cluster, targets.results(), allProblems(), nodesOf(cluster)),
      );
      const { problems: workerProblems } = pool.health();
      return {
        hash,
        loadedAt: loadedAt.toISOString(),
        ...(error !== undefined && { error }),
        workers,
        ...(workerProblems.length > 0 && { workerProblems }),
        virtualClusters,
      };
    },
    notReady() {
      const outlook = { current, targets: targets.results(), problems, everReady };
      const why = pool.health().notReady ?? whyNotReady(outlook);
      everReady ||= why === undefined;
      return why;
    },
    notLive: () => pool.health().notLive,
    metricsText: async () => metricsText(await snapshots()),
    snapshots,
    certificates: () => current?.certificates ?? [],
    tap(onTapped) {
      onlookers.add(onTapped);
      pool.tap(true);
      return () => {
        onlookers.delete(onTapped);
        if (onlookers.size === 0) pool.tap(false);
      };
    },
    pids: () => pool.pids(),
    async close(timeoutMs) {
      clearInterval(refresher);
      targets.close();
      await pool.drain(timeoutMs);
    },
  };
}

/** The new configuration, with what runs now of the virtual clusters that were rejected. */
function keepRunning(before: GoodConfig | undefined, next: GoodConfig): GoodConfig {
  const running = before?.config.virtualClusters ?? [];
  const { clusters, kept } = withRunning(next.config.virtualClusters, next.rejected, running);
  const certificates = before?.certificates.filter(({ virtualCluster }) => kept.has(virtualCluster)) ?? [];
  return {
    ...next,
    config: { ...next.config, virtualClusters: clusters },
    certificates: [...next.certificates, ...certificates],
  };
}

type KnownCluster = Pick<VirtualClusterConfig, 'name' | 'gateways' | 'filters'> &
  Partial<Pick<VirtualClusterConfig, 'target'>>;

/** As many as a virtual cluster can have declared, and some. */
const MAX_NODES = 1024;

/** Those that run, and those that never could. */
function clustersOf({ config, rejected }: GoodConfig): KnownCluster[] {
  const names = new Set(rejected.map(({ cluster }) => cluster));
  for (const { name } of config.virtualClusters) names.delete(name);
  return [...config.virtualClusters, ...[...names].map((name) => ({ name, gateways: [], filters: [] }))];
}

function statusOf(
  { name, gateways, filters }: KnownCluster,
  results: ReadonlyMap<string, string | undefined>,
  problems: readonly Problem[],
  nodes: readonly number[],
): VirtualClusterStatus {
  const unreachable = results.get(name);
  const ofThis = problems.filter(({ cluster }) => cluster === name);
  const own = ofThis.filter(({ stage }) => stage !== 'filter').map(({ problem }) => problem);
  const filterProblems = ofThis.flatMap(({ reason, problem }) =>
    reason === undefined ? [] : [{ reason, message: problem }],
  );
  return {
    name,
    loaded: !ofThis.some(isUnserved),
    ...(ofThis.some(({ stage }) => stage === 'serve') && { outOfService: true }),
    gateways: gateways.map((gateway) => ({
      name: gateway.name,
      bootstrap: addressText(gateway.routing.bootstrap),
      tls: gateway.tls !== undefined,
    })),
    filters: filters.map((filter) => ({ name: filter.name, type: filter.type })),
    ...(results.has(name) && { targetReachable: unreachable === undefined }),
    nodeIds: nodes.toSorted((a, b) => a - b).slice(0, MAX_NODES),
    problems: unreachable === undefined ? own : [...own, `the target cannot be reached: ${unreachable}`],
    ...(filterProblems.length > 0 && { filterProblems }),
  };
}

/** Whether the newest version is not what clients meet. */
const isUnserved = ({ stage }: Problem) => stage === 'load' || stage === 'serve';

function createGauges(metrics: Metrics) {
  const prefix = 'isthmus_proxy_';
  const expiry = metrics.gauge(
    `${prefix}certificate_expiry_timestamp_seconds`,
    'When a certificate of ours expires, in seconds since 1970',
  );
  const info = metrics.gauge(`${prefix}config_info`, 'The configuration in use, by its SHA-256');
  const reachable = metrics.gauge(`${prefix}target_reachable`, 'Whether the target cluster can be reached');
  const loaded = metrics.gauge(
    `${prefix}virtual_cluster_loaded`,
    'Whether the newest configuration of a virtual cluster is in use; if not, the one before is, or none',
  );
  const labelsOf = ({ virtualCluster, usedBy, subject }: CertificateFact) => ({
    virtual_cluster: virtualCluster,
    used_by: usedBy,
    subject,
  });
  return {
    config(before: GoodConfig | undefined, after: GoodConfig) {
      if (before) info.drop({ hash: before.hash });
      info.of({ hash: after.hash }).value = 1;
      for (const fact of before?.certificates ?? []) expiry.drop(labelsOf(fact));
      for (const fact of after.certificates) expiry.of(labelsOf(fact)).value = fact.expires.getTime() / 1000;
      for (const { name } of before ? clustersOf(before) : []) {
        reachable.drop({ virtual_cluster: name });
        loaded.drop({ virtual_cluster: name });
      }
    },
    loaded(current: GoodConfig, problems: readonly Problem[]) {
      const not = new Set(problems.filter(isUnserved).map(({ cluster }) => cluster));
      for (const { name } of clustersOf(current))
        loaded.of({ virtual_cluster: name }).value = not.has(name) ? 0 : 1;
    },
    reachable(cluster: string, yes: boolean) {
      reachable.of({ virtual_cluster: cluster }).value = yes ? 1 : 0;
    },
  };
}
