/** From trials to figures: no clock, no process, no network. */
import type { BenchResult } from '../main.ts';
import { median } from '../proxy/figures.ts';
import type { Noticed } from './neighbour.ts';

export interface Trial {
  noticed: Noticed;
  rssMb: { before: number; peak: number };
}

type Trials = ReadonlyMap<string, readonly Trial[]>;

const round = (value: number): number => Number(value.toPrecision(3));
const p99Of = (trials: readonly Trial[]) => median(trials.map(({ noticed }) => noticed.p99));
const most = (values: readonly number[]) => Math.round(Math.max(...values));

/** An attack is named `attack`, or `attack@neighbour` where another neighbour was asked; without attack it is `none`. */
const calmOf = (name: string) => `none${/@.*$/.exec(name)?.[0] ?? ''}`;

/**
 * Per attack: the neighbour's p99 to that of the same neighbour without attack, what it lost, the most memory that was taken, and by how
 * much one attack let it grow at most. What is configured stands beside it, so that both can be compared.
 */
export function report(proxy: Trials, dns: Trials, budgetBytes: { proxy: number }): BenchResult {
  const result: BenchResult = { ratios: {}, figures: {} };
  for (const [server, trials] of [
    ['proxy', proxy],
    ['dns', dns],
  ] as const) {
    for (const [name, list] of trials) {
      const isCalm = name === calmOf(name);
      const key = isCalm ? name.replace('none', `none_${server}`) : name;
      if (!isCalm) result.ratios[`p99.${name}`] = round(p99Of(list) / p99Of(trials.get(calmOf(name)) ?? []));
      result.figures[`p99_ms.${key}`] = round(p99Of(list));
      result.figures[`lost.${key}`] = list.reduce((sum, { noticed }) => sum + noticed.lost, 0);
      result.figures[`rss_mb.${key}`] = most(list.map(({ rssMb }) => rssMb.peak));
      result.figures[`rss_growth_mb.${key}`] = most(list.map(({ rssMb }) => rssMb.peak - rssMb.before));
    }
  }
  result.figures['budget_mb.proxy'] = Math.round(budgetBytes.proxy / 1e6);
  return result;
}
