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

export interface LatencySample extends Latency {
  peer: PeerName;
}

export interface Samples {
  loads: LoadSample[];
  latencies: LatencySample[];
  starts: { peer: PeerName; seconds: number }[];
  /** Resident bytes of peers that run. */
  memory: { peer: PeerName; when: 'idle' | 'load'; bytes: number }[];
  bytesPerIdleConnection: Partial<Record<PeerName, number>>;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const round = (value: number): number => Number(value.toPrecision(3));

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
  ratios['p99.vs_kroxylicious'] = against(byPeer(samples.latencies, p99Of));
  return ratios;
}

const secondsOf = (list: { seconds: number }[]) => median(list.map(({ seconds }) => seconds));
const p50Of = (list: Latency[]) => median(list.map(({ p50 }) => p50));
const p99Of = (list: Latency[]) => median(list.map(({ p99 }) => p99));

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
    latency_p50_ms: byPeer(samples.latencies, p50Of),
    latency_p99_ms: byPeer(samples.latencies, p99Of),
    start_seconds: byPeer(samples.starts, secondsOf),
    rss_idle_mb: memoryOf(samples, 'idle'),
    rss_load_mb: memoryOf(samples, 'load'),
    bytes_per_idle_connection: samples.bytesPerIdleConnection.ours ?? null,
    bytes_per_idle_connection_of: samples.bytesPerIdleConnection,
  };
}
