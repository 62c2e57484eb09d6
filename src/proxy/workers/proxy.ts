import type { Log } from '../../ops/log.ts';
import { metricsText } from '../../ops/metrics.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createTargetWatch } from '../cluster/target-watch.ts';
import { addressText } from '../cluster/topology.ts';
import type { CertificateFact } from '../config/check.ts';
import type { ProxyConfig } from '../config/model.ts';
import type { Problem } from '../router/router.ts';
import { createWorkerPool } from './supervisor.ts';
import { createLocalPool } from './worker-pool.ts';

/** A configuration that has been found good. */
export interface GoodConfig {
  config: ProxyConfig;
  hash: string;
  certificates: CertificateFact[];
}

/** What the proxy says of itself, without secrets. */
export interface ProxyStatus {
  /** SHA-256 of the configuration that every worker has loaded. */
  hash: string;
  loadedAt: string;
  /** Why the newest configuration is not in use. */
  error?: string;
  workers: number;
  virtualClusters: VirtualClusterStatus[];
}

export interface VirtualClusterStatus {
  name: string;
  gateways: { name: string; bootstrap: string; tls: boolean }[];
  filters: { name: string; type: string }[];
  /** Undefined until it has been checked. */
  targetReachable?: boolean;
  problems: string[];
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
  metricsText(): Promise<string>;
  pids(): number[];
  close(timeoutMs: number): Promise<void>;
}

const REPORT_INTERVAL_MS = 2000;

export interface ProxyOptions {
  log: Log;
  metrics: Metrics;
  /** Processes that carry connections; 1 is this one. */
  workers: number;
}

export function createProxy({ log, metrics, workers }: ProxyOptions): Proxy {
  const pool = workers > 1 ? createWorkerPool(workers, log) : createLocalPool(log, metrics);
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
  metrics.beforeReport(() => {
    for (const [cluster, why] of targets.results()) gauges.reachable(cluster, why === undefined);
  });

  return {
    async apply(good) {
      await pool.apply(good.config);
      targets.set(good.config);
      gauges.config(current, good);
      current = { ...good, loadedAt: new Date() };
      error = undefined;
      await refresh();
    },
    refuse(why) {
      error = why;
    },
    status() {
      if (!current) return undefined;
      const { hash, loadedAt, config } = current;
      const virtualClusters = config.virtualClusters.map((cluster) =>
        statusOf(cluster, targets.results(), problems),
      );
      const base = { hash, loadedAt: loadedAt.toISOString(), workers, virtualClusters };
      return error === undefined ? base : { ...base, error };
    },
    notReady() {
      const why = whyNotReady(current?.config, targets.results(), problems, everReady);
      everReady ||= why === undefined;
      return why;
    },
    async metricsText() {
      const report = await pool.report();
      return metricsText([await metrics.snapshot(), ...report.snapshots]);
    },
    pids: () => pool.pids(),
    async close(timeoutMs) {
      clearInterval(refresher);
      targets.close();
      await pool.drain(timeoutMs);
    },
  };
}

function statusOf(
  { name, gateways, filters }: ProxyConfig['virtualClusters'][number],
  results: ReadonlyMap<string, string | undefined>,
  problems: readonly Problem[],
): VirtualClusterStatus {
  const unreachable = results.get(name);
  const own = problems.filter(({ cluster }) => cluster === name).map(({ problem }) => problem);
  return {
    name,
    gateways: gateways.map((gateway) => ({
      name: gateway.name,
      bootstrap: addressText(gateway.routing.bootstrap),
      tls: gateway.tls !== undefined,
    })),
    filters: filters.map((filter) => ({ name: filter.name, type: filter.type })),
    ...(results.has(name) && { targetReachable: unreachable === undefined }),
    problems: unreachable === undefined ? own : [...own, `the target cannot be reached: ${unreachable}`],
  };
}

/**
 * Ready is: every port bound, and a target that can be reached. What goes wrong for one virtual cluster later does not
 * take the others off the network with it, so after that only a proxy that is of no use to anyone is not ready.
 */
function whyNotReady(
  config: ProxyConfig | undefined,
  results: ReadonlyMap<string, string | undefined>,
  problems: readonly Problem[],
  everReady: boolean,
): string | undefined {
  if (!config) return 'no configuration is in effect yet';
  const names = config.virtualClusters.map(({ name }) => name);
  if (names.length === 0) return undefined;
  if (!everReady && problems.length > 0)
    return problems.map(({ cluster, problem }) => `${cluster}: ${problem}`).join('; ');
  if (names.some((name) => results.has(name) && results.get(name) === undefined)) return undefined;
  return results.size === 0 ? 'no target has been looked at yet' : 'no target can be reached';
}

function createGauges(metrics: Metrics) {
  const prefix = 'isthmus_proxy_';
  const expiry = metrics.gauge(
    `${prefix}certificate_expiry_timestamp_seconds`,
    'When a certificate of ours expires, in seconds since 1970',
  );
  const info = metrics.gauge(`${prefix}config_info`, 'The configuration in use, by its SHA-256');
  const reachable = metrics.gauge(`${prefix}target_reachable`, 'Whether the target cluster can be reached');
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
      for (const { name } of before?.config.virtualClusters ?? []) reachable.drop({ virtual_cluster: name });
    },
    reachable(cluster: string, yes: boolean) {
      reachable.of({ virtual_cluster: cluster }).value = yes ? 1 : 0;
    },
  };
}
