/** From samples to figures and ratios: no clock, no process, no network. */
import { median, spreadOf } from '../proxy/figures.ts';
import type { Direction, Spread } from '../proxy/figures.ts';
import type { Latency } from '../proxy/load.ts';

/**
 * The ways of a client to a broker, and to the internal listeners of two brokers of which one is exposed:
 * `hidden` is the one that is not.
 */
export const PATHS = ['pod', 'hostport', 'nodeport', 'proxy', 'internal_exposed', 'internal_hidden'] as const;
export type PathName = (typeof PATHS)[number];

/** A load, and the processor time of the whole machine meanwhile. */
export interface LoadSample {
  path: PathName;
  direction: Direction;
  gigabytes: number;
  seconds: number;
  busySeconds: number;
}

export interface LatencySample extends Latency {
  path: PathName;
}

/** All paths under load, one right after the other, with quiet intervals between them. */
export interface LoadRound {
  loads: LoadSample[];
  /** Cores that were busy in each of the quiet intervals. */
  quiet: number[];
}

export interface Samples {
  loads: LoadRound[];
  latencies: LatencySample[][];
}

const round = (value: number): number => Number(value.toPrecision(3));

/** What a load took of the machine beyond what the machine takes without one, for each GB. */
function cpuPerGb({ loads, quiet }: LoadRound, path: PathName, directions: readonly Direction[]): number {
  const own = loads.filter((each) => each.path === path && directions.includes(each.direction));
  const idle = median(quiet);
  const cpu = own.reduce((sum, { busySeconds, seconds }) => sum + busySeconds - idle * seconds, 0);
  return cpu / own.reduce((sum, { gigabytes }) => sum + gigabytes, 0);
}

const BOTH: readonly Direction[] = ['produce', 'consume'];

const cpuRatio = ({ loads }: Samples, path: PathName, other: PathName): Spread =>
  spreadOf(loads.map((each) => cpuPerGb(each, path, BOTH) / cpuPerGb(each, other, BOTH)));

const p99Ratio = ({ latencies }: Samples, path: PathName, other: PathName): Spread => {
  const p99Of = (samples: readonly LatencySample[], name: PathName) =>
    samples.find((sample) => sample.path === name)?.p99 ?? Number.NaN;
  return spreadOf(latencies.map((samples) => p99Of(samples, path) / p99Of(samples, other)));
};

/** Each is taken within a round: what slows a whole round down slows both, and cancels out. */
function comparisons(samples: Samples): Record<string, Spread> {
  return {
    'cpu_per_gb.hostport.vs_pod': cpuRatio(samples, 'hostport', 'pod'),
    'cpu_per_gb.nodeport.vs_pod': cpuRatio(samples, 'nodeport', 'pod'),
    'cpu_per_gb.proxy.vs_hostport': cpuRatio(samples, 'proxy', 'hostport'),
    'cpu_per_gb.internal.exposed_vs_hidden': cpuRatio(samples, 'internal_exposed', 'internal_hidden'),
    'p99.hostport.vs_pod': p99Ratio(samples, 'hostport', 'pod'),
    'p99.nodeport.vs_pod': p99Ratio(samples, 'nodeport', 'pod'),
    'p99.proxy.vs_hostport': p99Ratio(samples, 'proxy', 'hostport'),
    'p99.internal.exposed_vs_hidden': p99Ratio(samples, 'internal_exposed', 'internal_hidden'),
  };
}

/** The medians of rounds. */
export const ratiosOf = (samples: Samples): Record<string, number> =>
  Object.fromEntries(Object.entries(comparisons(samples)).map(([name, spread]) => [name, spread.median]));

const byPath = <T>(measure: (path: PathName) => T): Record<string, T> =>
  Object.fromEntries(PATHS.map((path) => [path, measure(path)]));

/** The absolute figures behind the ratios, and how far the ratios of rounds lie apart. */
export function figuresOf(samples: Samples): Record<string, unknown> {
  const { loads, latencies } = samples;
  const cpu = (directions: readonly Direction[]) =>
    byPath((path) => spreadOf(loads.map((each) => cpuPerGb(each, path, directions))));
  const rate = (path: PathName, direction: Direction) =>
    loads
      .flatMap((each) => each.loads)
      .filter((each) => each.path === path && each.direction === direction)
      .map(({ gigabytes, seconds }) => (gigabytes * 1000) / seconds);
  const latency = (percentile: 'p50' | 'p99') =>
    byPath((path) =>
      spreadOf(latencies.flat().flatMap((each) => (each.path === path ? [each[percentile]] : []))),
    );
  return {
    machine_cpu_seconds_per_gb: cpu(BOTH),
    machine_cpu_seconds_per_gb_produce: cpu(['produce']),
    machine_cpu_seconds_per_gb_consume: cpu(['consume']),
    produce_mb_per_second: byPath((path) => round(median(rate(path, 'produce')))),
    consume_mb_per_second: byPath((path) => round(median(rate(path, 'consume')))),
    p50_ms: latency('p50'),
    p99_ms: latency('p99'),
    ratios_of_rounds: comparisons(samples),
    cores_busy_in_quiet_intervals: spreadOf(loads.flatMap(({ quiet }) => quiet)),
    rounds: { load: loads.length, latency: latencies.length },
  };
}
