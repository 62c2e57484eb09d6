/** From trials to figures: no clock, no process, no network. */
import type { BenchResult } from '../main.ts';
import { median } from '../proxy/figures.ts';
import type { Noticed } from './neighbour.ts';

export interface Trial {
  noticed: Noticed;
  rssMb: { before: number; peak: number };
}

const round = (value: number): number => Number(value.toPrecision(3));
const p99Of = (trials: readonly Trial[]) => median(trials.map(({ noticed }) => noticed.p99));

/** Per attack: the neighbour's p99 to that without attack, what it lost, and the most memory that was taken. */
export function report(...servers: readonly ReadonlyMap<string, readonly Trial[]>[]): BenchResult {
  const result: BenchResult = { ratios: {}, figures: {} };
  for (const trials of servers) {
    const calm = p99Of(trials.get('none') ?? []);
    for (const [name, list] of trials) {
      const key = name === 'none' ? `none_${servers.indexOf(trials) === 0 ? 'proxy' : 'dns'}` : name;
      if (name !== 'none') result.ratios[`p99.${name}`] = round(p99Of(list) / calm);
      result.figures[`p99_ms.${key}`] = round(p99Of(list));
      result.figures[`lost.${key}`] = list.reduce((sum, { noticed }) => sum + noticed.lost, 0);
      result.figures[`rss_mb.${key}`] = Math.round(Math.max(...list.map(({ rssMb }) => rssMb.peak)));
      result.figures[`rss_mb_before.${key}`] = Math.round(Math.min(...list.map(({ rssMb }) => rssMb.before)));
    }
  }
  return result;
}
