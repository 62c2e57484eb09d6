/** Loaded at the first report: most processes are never asked for one, and need neither it nor the HTTP that it brings along. */
const promClient = () => import('prom-client');

/** One number that the hot path changes directly: `cell.value += n` costs nanoseconds, `inc()` hundreds of them. */
export interface Cell {
  value: number;
}

/** Latencies of one label set, counted into fixed buckets. */
export interface Timing {
  /** Counts one observation, in seconds. */
  observe(seconds: number): void;
}

export type Labels = Readonly<Record<string, string>>;

/** A metric and its label sets; `of(labels)` gives the one to keep hold of, made at first use. */
export interface Family<T> {
  of(labels?: Labels): T;
  /** Forgets a label set, so that what no longer exists is no longer reported. */
  drop(labels: Labels): void;
}

/** What one process reports, as plain data that can travel from a worker to its parent. */
export type Snapshot = object[];

export interface Metrics {
  /** Who asks for the same metric again gets the same one: several controllers report under one name, told apart by labels. */
  counter(name: string, help: string): Family<Cell>;
  gauge(name: string, help: string): Family<Cell>;
  histogram(name: string, help: string, buckets?: readonly number[]): Family<Timing>;
  /** Runs before each report, for values that are cheaper to look up than to keep. Returns the way to end that. */
  beforeReport(refresh: () => void): () => void;
  names(): string[];
  snapshot(): Promise<Snapshot>;
}

const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The text of `/metrics`, the sum of what every process of this program reports. */
export async function metricsText(snapshots: Snapshot[]): Promise<string> {
  return (await promClient()).AggregatorRegistry.aggregate(snapshots).metrics();
}

/** Several reports in one. */
export async function sumOfSnapshots(snapshots: Snapshot[]): Promise<Snapshot> {
  return (await promClient()).AggregatorRegistry.aggregate(snapshots).getMetricsAsJSON();
}

/** A process's metrics. */
export function createMetrics(): Metrics {
  const reports = new Map<string, () => object>();
  const families = new Map<string, { kind: Kind; help: string; family: Family<unknown> }>();
  const refreshers = new Set<() => void>();

  function register<T>(kind: Kind, name: string, help: string, make: () => T, read: Reader<T>): Family<T> {
    checkName(kind, name);
    const known = families.get(name);
    if (known) {
      if (known.kind !== kind || known.help !== help)
        throw new Error(`there is another metric ${name} already`);
      return known.family as Family<T>;
    }
    const children = new Map<string, { labels: Labels; child: T }>();
    const get = () => ({
      name,
      help,
      type: kind,
      aggregator: 'sum',
      values: [...children.values()].flatMap(({ labels, child }) => read(name, labels, child)),
    });
    reports.set(name, get);
    const family: Family<T> = {
      of(labels = {}) {
        const key = keyOf(labels);
        let entry = children.get(key);
        if (!entry) children.set(key, (entry = { labels, child: make() }));
        return entry.child;
      },
      drop: (labels) => void children.delete(keyOf(labels)),
    };
    families.set(name, { kind, help, family });
    return family;
  }

  return {
    counter: (name, help) => register('counter', name, help, newCell, readCell),
    gauge: (name, help) => register('gauge', name, help, newCell, readCell),
    histogram: (name, help, buckets = LATENCY_BUCKETS) =>
      register('histogram', name, help, () => new Buckets(buckets), readBuckets),
    beforeReport(refresh) {
      refreshers.add(refresh);
      return () => void refreshers.delete(refresh);
    },
    names: () => [...reports.keys()],
    async snapshot() {
      for (const refresh of refreshers) refresh();
      return [...reports.values()].map((report) => report());
    },
  };
}

/** Prometheus' conventions, held where no name can get past: dashboards and alerts outlive the code they were written for. */
function checkName(kind: Kind, name: string): void {
  const units = { counter: /_total$/, histogram: /_(seconds|bytes)$/, gauge: /(?<!_total)$/ };
  if (/^isthmus(_[a-z0-9]+)+$/.test(name) && units[kind].test(name)) return;
  throw new Error(
    `${name} is no name for a ${kind}: isthmus_<part>_<what>, counters end in _total, histograms in their unit`,
  );
}

type Kind = 'counter' | 'gauge' | 'histogram';
interface Value {
  metricName: string;
  labels: Record<string, string | number>;
  value: number;
}
type Reader<T> = (name: string, labels: Labels, child: T) => Value[];

const newCell = (): Cell => ({ value: 0 });
const readCell: Reader<Cell> = (name, labels, cell) => [{ metricName: name, labels, value: cell.value }];

function keyOf(labels: Labels): string {
  let key = '';
  for (const name in labels) key += `${name}\0${labels[name]}\0`;
  return key;
}

class Buckets implements Timing {
  readonly limits: readonly number[];
  readonly counts: Float64Array;
  sum = 0;
  count = 0;

  constructor(limits: readonly number[]) {
    this.limits = limits;
    this.counts = new Float64Array(limits.length);
  }

  observe(seconds: number): void {
    this.sum += seconds;
    this.count += 1;
    for (let i = 0; i < this.limits.length; i++) {
      if (seconds <= this.limits[i]!) {
        this.counts[i]! += 1;
        return;
      }
    }
  }
}

const readBuckets: Reader<Buckets> = (name, labels, buckets) => {
  const values: Value[] = [];
  let below = 0;
  buckets.limits.forEach((le, i) => {
    below += buckets.counts[i]!;
    values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: below });
  });
  values.push({ metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: buckets.count });
  values.push({ metricName: `${name}_sum`, labels, value: buckets.sum });
  values.push({ metricName: `${name}_count`, labels, value: buckets.count });
  return values;
};
