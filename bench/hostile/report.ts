/** From trials to figures: no clock, no process, no network. */
import type { BenchResult } from '../main.ts';
import { median } from '../proxy/figures.ts';
import type { Noticed } from './neighbour.ts';

export interface Trial {
  noticed: Noticed;
  rssMb: { before: number; peak: number };
}

/** A trial, and the neighbour's p99 in the one without attack right before it: what slows the machine for a while slows both. */
interface Compared extends Trial {
  calmP99: number;
}

export type Trials = ReadonlyMap<string, readonly Compared[]>;

/** Keeps trials by name, each with the last one before it of the same neighbour without attack. */
export function createTrials(): Trials & { add(name: string, trial: Trial): void } {
  const trials = new Map<string, Compared[]>();
  return Object.assign(trials, {
    add(name: string, trial: Trial) {
      const calmP99 =
        name === calmOf(name) ? trial.noticed.p99 : trials.get(calmOf(name))!.at(-1)!.noticed.p99;
      trials.set(name, [...(trials.get(name) ?? []), { ...trial, calmP99 }]);
    },
  });
}

const round = (value: number): number => Number(value.toPrecision(3));
export const p99Of = (trials: readonly Trial[] = []) => median(trials.map(({ noticed }) => noticed.p99));
const ratioOf = (trials: readonly Compared[]) =>
  median(trials.map(({ noticed, calmP99 }) => noticed.p99 / calmP99));
const most = (values: readonly number[]) => Math.round(Math.max(...values));

/** An attack is named `attack`, or `attack@neighbour` where another neighbour was asked; without attack it is `none`. */
const calmOf = (name: string) => `none${/@.*$/.exec(name)?.[0] ?? ''}`;

/**
 * Per attack: the neighbour's p99 to that of the same neighbour without attack right before, as the median of rounds, what it lost, the most memory before an attack and
 * during one, and by how much one let it grow at most. What is configured stands beside it, so that both can be compared.
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
      if (!isCalm) result.ratios[`p99.${name}`] = round(ratioOf(list));
      result.figures[`p99_ms.${key}`] = round(p99Of(list));
      result.figures[`lost.${key}`] = list.reduce((sum, { noticed }) => sum + noticed.lost, 0);
      result.figures[`rss_before_mb.${key}`] = most(list.map(({ rssMb }) => rssMb.before));
      result.figures[`rss_mb.${key}`] = most(list.map(({ rssMb }) => rssMb.peak));
      result.figures[`rss_growth_mb.${key}`] = most(list.map(({ rssMb }) => rssMb.peak - rssMb.before));
    }
  }
  result.figures['budget_mb.proxy'] = Math.round(budgetBytes.proxy / 1e6);
  return result;
}
