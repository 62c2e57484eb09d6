/** From samples to figures and ratios: no clock, no process, no network. */
import type { Channel, PeerName } from './peers.ts';
import type { Latency } from './load.ts';

export type Direction = 'produce' | 'consume';
export type RecordSize = '1k' | '100b';

/** One measurement of one peer under one load. */
export interface LoadSample {
  peer: PeerName;
  channel: Channel;
  direction: Direction;
  size: RecordSize;
  gigabytes: number;
  seconds: number;
  cpuSeconds: number;
}

/** One short measurement of one peer; the peers of a round follow one another at once. */
export interface LatencySample extends Latency {
  peer: PeerName;
  round: number;
}

/** A figure of several rounds: their median, and from where to where the middle half and all of them lie. */
export interface Spread {
  median: number;
  quartiles: [number, number];
  range: [number, number];
}

export interface Samples {
  loads: LoadSample[];
  latencies: LatencySample[];
  starts: { peer: PeerName; seconds: number }[];
  /** Resident bytes of peers that run. */
  memory: { peer: PeerName; when: 'idle' | 'load'; bytes: number }[];
  bytesPerIdleConnection: Partial<Record<PeerName, number>>;
}

/** The value below which this share of the values lies, interpolated between its neighbours. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

const round = (value: number): number => Number(value.toPrecision(3));

export function spreadOf(values: readonly number[]): Spread {
  const at = (share: number) => round(quantile(values, share));
  return { median: at(0.5), quartiles: [at(0.25), at(0.75)], range: [at(0), at(1)] };
}

/** `produce_1k`, or `tls_produce_1k`. */
export function loadName({
  channel,
  direction,
  size,
}: Pick<LoadSample, 'channel' | 'direction' | 'size'>): string {
  return `${channel === 'tls' ? 'tls_' : ''}${direction}_${size}`;
}

function table(
  samples: readonly LoadSample[],
  measure: (sample: LoadSample) => number,
): Map<string, Map<PeerName, number>> {
  const result = new Map<string, Map<PeerName, number>>();
  for (const [name, ofName] of Map.groupBy(samples, loadName)) {
    const byPeer = Map.groupBy(ofName, ({ peer }) => peer);
    result.set(name, new Map([...byPeer].map(([peer, list]) => [peer, median(list.map(measure))])));
  }
  return result;
}

function asObject(rows: Map<string, Map<PeerName, number>>): Record<string, Record<string, number>> {
  return Object.fromEntries(
    [...rows].map(([name, row]) => [
      name,
      Object.fromEntries([...row].map(([peer, value]) => [peer, round(value)])),
    ]),
  );
}

function byPeer<T extends { peer: PeerName }>(
  list: readonly T[],
  measure: (values: T[]) => number,
): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(list, ({ peer }) => peer)].map(([peer, values]) => [peer, round(measure(values))]),
  );
}

/** Ours to theirs; lower is better. */
export function ratiosOf(samples: Samples): Record<string, number> {
  const ratios: Record<string, number> = {};
  for (const [load, row] of table(samples.loads, ({ cpuSeconds, gigabytes }) => cpuSeconds / gigabytes)) {
    for (const peer of ['kroxylicious', 'haproxy'] as const) {
      ratios[`cpu_per_gb.${load}.vs_${peer}`] = round(
        (row.get('ours') ?? Number.NaN) / (row.get(peer) ?? Number.NaN),
      );
    }
  }
  const against = (values: Record<string, number>) =>
    round((values['ours'] ?? Number.NaN) / (values['kroxylicious'] ?? Number.NaN));
  ratios['rss.vs_kroxylicious'] = against(memoryOf(samples, 'load'));
  ratios['start.vs_kroxylicious'] = against(byPeer(samples.starts, secondsOf));
  for (const peer of ['kroxylicious', 'haproxy'] as const)
    ratios[`p99.vs_${peer}`] = round(median(latencyRatios(samples, peer)));
  return ratios;
}

/** Our p99 to theirs in each round: what slows a whole round down slows both, and cancels out. */
function latencyRatios({ latencies }: Samples, peer: PeerName): number[] {
  return [...Map.groupBy(latencies, (sample) => sample.round).values()].flatMap((samples) => {
    const p99Of = (name: PeerName) => samples.find((sample) => sample.peer === name)?.p99;
    const [mine, theirs] = [p99Of('ours'), p99Of(peer)];
    return mine === undefined || theirs === undefined ? [] : [mine / theirs];
  });
}

const secondsOf = (list: { seconds: number }[]) => median(list.map(({ seconds }) => seconds));

function latencyOf({ latencies }: Samples, percentile: 'p50' | 'p99'): Record<string, Spread> {
  return Object.fromEntries(
    [...Map.groupBy(latencies, ({ peer }) => peer)].map(([peer, list]) => [
      peer,
      spreadOf(list.map((sample) => sample[percentile])),
    ]),
  );
}

function memoryOf({ memory }: Samples, when: 'idle' | 'load'): Record<string, number> {
  return byPeer(
    memory.filter((each) => each.when === when),
    (list) => Math.max(...list.map(({ bytes }) => bytes)) / 1e6,
  );
}

/** The absolute figures behind the ratios. */
export function figuresOf(samples: Samples): Record<string, unknown> {
  return {
    cpu_seconds_per_gb: asObject(table(samples.loads, ({ cpuSeconds, gigabytes }) => cpuSeconds / gigabytes)),
    megabytes_per_second: asObject(
      table(samples.loads, ({ gigabytes, seconds }) => (gigabytes * 1000) / seconds),
    ),
    latency_rounds: new Set(samples.latencies.map(({ round: number }) => number)).size,
    latency_p50_ms: latencyOf(samples, 'p50'),
    latency_p99_ms: latencyOf(samples, 'p99'),
    p99_ratio_by_round: {
      vs_kroxylicious: spreadOf(latencyRatios(samples, 'kroxylicious')),
      vs_haproxy: spreadOf(latencyRatios(samples, 'haproxy')),
    },
    start_seconds: byPeer(samples.starts, secondsOf),
    rss_idle_mb: memoryOf(samples, 'idle'),
    rss_load_mb: memoryOf(samples, 'load'),
    bytes_per_idle_connection: samples.bytesPerIdleConnection.ours ?? null,
    bytes_per_idle_connection_of: samples.bytesPerIdleConnection,
  };
}
