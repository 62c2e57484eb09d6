/** From samples to figures and ratios: no clock, no process, no network. */
import { median } from '../proxy/figures.ts';
import type { Direction, RecordSize } from '../proxy/figures.ts';

/** Virtual clusters of ours, by the filter that they have, and Kroxylicious with its own. */
export const CONTESTANTS = [
  'none',
  'passthrough',
  'compatible',
  'isthmus',
  'multi_tenant',
  'kroxylicious',
] as const;
export type Contestant = (typeof CONTESTANTS)[number];

/** One measurement of one contestant under one load. */
export interface FilterSample {
  contestant: Contestant;
  direction: Direction;
  size: RecordSize;
  gigabytes: number;
  cpuSeconds: number;
}

/** Bytes on the broker's disk for the same records, by compression. */
export interface Stored {
  compression: string;
  plain: number;
  sealed: number;
}

const round = (value: number): number => Number(value.toPrecision(3));
const nameOf = ({ direction, size }: FilterSample): string => `${direction}_${size}`;

type Table = Map<string, Map<Contestant, number>>;

/** CPU seconds per GB, by load and contestant: the median of the rounds. */
function costs(samples: readonly FilterSample[]): Table {
  const table: Table = new Map();
  for (const [load, ofLoad] of Map.groupBy(samples, nameOf)) {
    const rows = [...Map.groupBy(ofLoad, ({ contestant }) => contestant)];
    const cost = (list: FilterSample[]) => median(list.map((each) => each.cpuSeconds / each.gigabytes));
    table.set(load, new Map(rows.map(([contestant, list]) => [contestant, cost(list)])));
  }
  return table;
}

/** The mean of ratios. */
function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** Ours to theirs, or with a filter to without; lower is better. */
export function ratiosOf(
  samples: readonly FilterSample[],
  stored: readonly Stored[],
): Record<string, number> {
  const table = costs(samples);
  const against = (row: Map<Contestant, number>, one: Contestant, other: Contestant) =>
    (row.get(one) ?? Number.NaN) / (row.get(other) ?? Number.NaN);
  const overall = (one: Contestant) =>
    geometricMean([...table.values()].map((row) => against(row, one, 'none')));
  const ratios: Record<string, number> = {};
  for (const [load, row] of table)
    for (const format of ['compatible', 'isthmus'] as const)
      ratios[`cpu_per_gb.${load}.${format}.vs_kroxylicious`] = round(against(row, format, 'kroxylicious'));
  ratios['passthrough.vs_none'] = round(overall('passthrough'));
  ratios['multi_tenant.vs_none'] = round(overall('multi_tenant'));
  // The worst of all compressions: an average would hide one that is lost.
  ratios['stored_bytes.isthmus.vs_plain'] = round(
    Math.max(...stored.map(({ plain, sealed }) => sealed / plain)),
  );
  return ratios;
}

/** The absolute figures behind the ratios. */
export function figuresOf(
  samples: readonly FilterSample[],
  stored: readonly Stored[],
): Record<string, unknown> {
  return {
    cpu_seconds_per_gb: Object.fromEntries(
      [...costs(samples)].map(([load, row]) => [
        load,
        Object.fromEntries([...row].map(([contestant, value]) => [contestant, round(value)])),
      ]),
    ),
    stored_bytes: Object.fromEntries(
      stored.map(({ compression, plain, sealed }) => [compression, { plain, sealed }]),
    ),
  };
}
