/** What proxies have counted, by virtual cluster and by key. Pure. */
import type { Snapshot } from '../ops/metrics.ts';
import type { Rates } from './api.ts';

/** Sums since a process started. */
export interface ClusterTotals {
  requests: number;
  errors: number;
  bytesIn: number;
  bytesOut: number;
  connections: number;
  /** Requests that were answered within each limit, by the limit in seconds; the last is without any. */
  within: ReadonlyMap<number, number>;
}

export interface KeyTotals {
  virtualCluster: string;
  key: string;
  generated: number;
  requests: number;
  failures: number;
}

export interface Totals {
  clusters: ReadonlyMap<string, ClusterTotals>;
  keys: ReadonlyMap<string, KeyTotals>;
}

interface Metric {
  name: string;
  values: { metricName?: string; labels: Record<string, string | number>; value: number }[];
}

/** Answers to these come when there is something to say, however long that takes. */
const WAITING = new Set(['Fetch', 'ShareFetch', 'JoinGroup', 'SyncGroup']);
/** A client that is quiet does nothing wrong. */
const NO_ERRORS = new Set(['idle']);
const KMS_REQUESTS = 'isthmus_filter_record_encryption_kms_requests_total';

type MutableTotals = Omit<ClusterTotals, 'within'> & { within: Map<number, number> };
type Count = (totals: MutableTotals, labels: Record<string, string | number>, value: number) => void;

const COUNTS: Readonly<Record<string, Count>> = {
  isthmus_proxy_requests_total: (totals, _, value) => void (totals.requests += value),
  isthmus_proxy_connections_active: (totals, _, value) => void (totals.connections += value),
  isthmus_proxy_upstream_errors_total: (totals, _, value) => void (totals.errors += value),
  isthmus_proxy_connections_cut_total(totals, { reason = '' }, value) {
    if (!NO_ERRORS.has(String(reason))) totals.errors += value;
  },
  isthmus_proxy_bytes_total(totals, { direction }, value) {
    if (direction === 'from_client') totals.bytesIn += value;
    else totals.bytesOut += value;
  },
  isthmus_proxy_request_seconds_bucket(totals, { le = '', api = '' }, value) {
    if (WAITING.has(String(api))) return;
    const limit = le === '+Inf' ? Infinity : Number(le);
    totals.within.set(limit, (totals.within.get(limit) ?? 0) + value);
  },
};

export function totalsOf(snapshots: readonly Snapshot[]): Totals {
  const clusters = new Map<string, MutableTotals>();
  const keys = new Map<string, KeyTotals>();
  const clusterOf = (name: string) => {
    const known = clusters.get(name) ?? noTotals();
    clusters.set(name, known);
    return known;
  };
  for (const { name, values } of snapshots.flat() as Metric[])
    for (const { metricName = name, labels, value } of values) {
      const count = COUNTS[metricName];
      if (count && labels['virtual_cluster'])
        count(clusterOf(String(labels['virtual_cluster'])), labels, value);
      else if (metricName === KMS_REQUESTS) countKey(keys, labels, value);
    }
  return { clusters, keys };
}

const noTotals = (): MutableTotals => ({
  requests: 0,
  errors: 0,
  bytesIn: 0,
  bytesOut: 0,
  connections: 0,
  within: new Map(),
});

function countKey(
  keys: Map<string, KeyTotals>,
  labels: Record<string, string | number>,
  value: number,
): void {
  const virtualCluster = String(labels['virtual_cluster'] ?? '');
  const key = String(labels['key'] ?? '');
  const id = `${virtualCluster} ${key}`;
  const before = keys.get(id) ?? { virtualCluster, key, generated: 0, requests: 0, failures: 0 };
  const isOk = labels['outcome'] === 'ok';
  keys.set(id, {
    ...before,
    requests: before.requests + value,
    failures: before.failures + (isOk ? 0 : value),
    generated: before.generated + (isOk && labels['operation'] === 'generate' ? value : 0),
  });
}

/** All virtual clusters as one. */
export function sumOf(clusters: Iterable<ClusterTotals>): ClusterTotals {
  const sum = noTotals();
  for (const one of clusters) {
    for (const field of ['requests', 'errors', 'bytesIn', 'bytesOut', 'connections'] as const)
      sum[field] += one[field];
    for (const [limit, count] of one.within) sum.within.set(limit, (sum.within.get(limit) ?? 0) + count);
  }
  return sum;
}

export const NO_RATES: Rates = { requests: 0, errors: 0, bytesIn: 0, bytesOut: 0, connections: 0 };

/** What happened between two looks. A process that started anew has counted less than before: then all that it has is new. */
export function ratesOf(before: ClusterTotals | undefined, after: ClusterTotals, seconds: number): Rates {
  const rate = (field: 'requests' | 'errors' | 'bytesIn' | 'bytesOut') => {
    const grown = after[field] - (before?.[field] ?? 0);
    return (grown < 0 ? after[field] : grown) / seconds;
  };
  const p99 = quantile(before?.within ?? new Map(), after.within, 0.99);
  return {
    requests: rate('requests'),
    errors: rate('errors'),
    bytesIn: rate('bytesIn'),
    bytesOut: rate('bytesOut'),
    ...(p99 !== undefined && { p99Ms: p99 * 1000 }),
    connections: after.connections,
  };
}

/** The time within which a share of the requests was answered, as near as the buckets say; undefined if there were none. */
function quantile(
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
  share: number,
): number | undefined {
  const limits = [...after.keys()].toSorted((a, b) => a - b);
  const grown = limits.map((limit) => Math.max(0, after.get(limit)! - (before.get(limit) ?? 0)));
  const wanted = share * (grown.at(-1) ?? 0);
  if (wanted === 0) return undefined;
  const at = grown.findIndex((count) => count >= wanted);
  const below = at === 0 ? 0 : grown[at - 1]!;
  const [from, to] = [at === 0 ? 0 : limits[at - 1]!, limits[at]!];
  if (!Number.isFinite(to)) return from;
  return from + ((to - from) * (wanted - below)) / (grown[at]! - below);
}
