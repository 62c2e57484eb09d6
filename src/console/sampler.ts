/** Looks at counters: each second while somebody watches, else as often as the last hour needs it. */
import type { Snapshot } from '../ops/metrics.ts';
import type { KeyRow, Rates, SeriesView } from './api.ts';
import { NO_RATES, ratesOf, sumOf, totalsOf } from './counters.ts';
import type { ClusterTotals, Totals } from './counters.ts';
import { ALL, Ring } from './series.ts';

const WATCHED_MS = 1000;
const UNWATCHED_MS = 15_000;
const FINE_POINTS = 120;
const COARSE_POINTS = 240;

export interface Sampler {
  /** The rates of a virtual cluster, or of all of them. */
  rates(cluster?: string): Rates;
  series(cluster: string, window: 'minutes' | 'hour'): SeriesView;
  keys(): KeyRow[];
  /** Calls after each look, until the result is called. */
  watch(onSample: () => void): () => void;
  close(): void;
}

export function createSampler(
  snapshots: () => Promise<Snapshot[]>,
  now: () => number = Date.now,
): Sampler & { sample(): Promise<void> } {
  const fine = new Ring(FINE_POINTS);
  const coarse = new Ring(COARSE_POINTS);
  const keys = createKeyUse();
  const watchers = new Set<() => void>();
  let rates: ReadonlyMap<string, Rates> = new Map();
  let last: Looked | undefined;
  let lastCoarse: Looked | undefined;
  let timer: NodeJS.Timeout | undefined;
  let busy: Promise<void> | undefined;
  let closed = false;

  async function sample(): Promise<void> {
    const totals = totalsOf(await snapshots());
    const looked = { at: now(), totals };
    keys.note(totals, looked.at);
    rates = ratesBetween(last, looked);
    if (last) fine.add(looked.at / 1000, rates);
    lastCoarse ??= last;
    if (!lastCoarse) lastCoarse = looked;
    else if (looked.at - lastCoarse.at >= UNWATCHED_MS - WATCHED_MS / 2) {
      coarse.add(looked.at / 1000, ratesBetween(lastCoarse, looked));
      lastCoarse = looked;
    }
    last = looked;
    for (const onSample of watchers) onSample();
  }

  function schedule(): void {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => void look(), watchers.size > 0 ? WATCHED_MS : UNWATCHED_MS).unref();
  }

  async function look(): Promise<void> {
    // What cannot be counted now is counted the next time.
    busy ??= sample().catch(() => {});
    await busy;
    busy = undefined;
    schedule();
  }

  void look();
  return {
    sample,
    rates: (cluster = ALL) => rates.get(cluster) ?? NO_RATES,
    series: (cluster, window) => (window === 'hour' ? coarse : fine).read(cluster),
    keys: () => keys.rows(),
    watch(onSample) {
      const stop = () => {
        watchers.delete(onSample);
        if (watchers.size === 0) schedule();
      };
      watchers.add(onSample);
      // Two looks right after one another would see next to nothing between them.
      if (watchers.size > 1) return stop;
      if (now() - (last?.at ?? 0) >= WATCHED_MS) void look();
      else schedule();
      return stop;
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

interface Looked {
  at: number;
  totals: Totals;
}

function ratesBetween(before: Looked | undefined, after: Looked): Map<string, Rates> {
  if (!before) return new Map();
  const seconds = Math.max(0.1, (after.at - before.at) / 1000);
  const all = [...after.totals.clusters].map(([name, totals]): [string, Rates] => [
    name,
    ratesOf(before.totals.clusters.get(name), totals, seconds),
  ]);
  const sum = (totals: ReadonlyMap<string, ClusterTotals>) => sumOf(totals.values());
  const together = ratesOf(sum(before.totals.clusters), sum(after.totals.clusters), seconds);
  return new Map([[ALL, together], ...all]);
}

/** When keys were used, from counters that have grown between two looks. */
function createKeyUse() {
  const rows = new Map<string, KeyRow & { generated: number }>();
  return {
    note({ keys }: Totals, at: number) {
      const time = new Date(at).toISOString();
      for (const id of rows.keys()) if (!keys.has(id)) rows.delete(id);
      for (const [id, { virtualCluster, key, generated, requests, failures }] of keys) {
        const before = rows.get(id);
        const hasFailed = failures > (before?.failures ?? 0);
        rows.set(id, {
          virtualCluster,
          key,
          requests,
          failures,
          generated,
          state: hasFailed
            ? 'notReady'
            : requests > (before?.requests ?? 0)
              ? 'ready'
              : (before?.state ?? 'ready'),
          ...times(
            before,
            { isUsed: requests > (before?.requests ?? 0), isNew: generated > (before?.generated ?? 0) },
            time,
          ),
        });
      }
    },
    rows: (): KeyRow[] => [...rows.values()].map(({ generated: _, ...row }) => row),
  };
}

function times(
  before: KeyRow | undefined,
  { isUsed, isNew }: { isUsed: boolean; isNew: boolean },
  time: string,
): Pick<KeyRow, 'lastUsed' | 'dataKeySince'> {
  const lastUsed = isUsed ? time : before?.lastUsed;
  const dataKeySince = isNew ? time : before?.dataKeySince;
  return { ...(lastUsed && { lastUsed }), ...(dataKeySince && { dataKeySince }) };
}
