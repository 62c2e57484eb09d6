/** Views by their names, and what their addresses say. */
import type { NameAnswer } from '../api.ts';
import type { Sampler } from '../sampler.ts';
import type { ConsoleSource } from '../source.ts';
import { fleetView } from './fleet.ts';
import { keysView } from './keys.ts';
import { objectView } from './object.ts';
import { topologyView } from './topology.ts';

export interface ViewParts {
  source: ConsoleSource;
  sampler: Sampler;
}

type View = (query: (name: string) => string, parts: ViewParts) => Promise<object | undefined>;

/** A name is at most 253 characters; nobody looks for more words than this. */
const LONGEST_VALUE = 256;

const ratesSeen = ({ source, sampler }: ViewParts) =>
  source.sees.includes('rates') ? (cluster?: string) => sampler.rates(cluster) : undefined;

const VIEWS: Readonly<Record<string, View>> = {
  fleet: async (query, parts) =>
    fleetView({ world: await parts.source.world(), rates: ratesSeen(parts) }, query('q')),
  topology: async (query, parts) =>
    topologyView({ world: await parts.source.world(), rates: ratesSeen(parts) }, query('q')),
  object: async (query, { source }) =>
    objectView(await source.world(), {
      kind: query('kind'),
      namespace: query('namespace'),
      name: query('name'),
    }),
  keys: async (query, { source, sampler }) =>
    keysView(await source.world(), {
      sees: source.sees,
      keys: sampler.keys(),
      text: query('q'),
      now: Date.now(),
    }),
  name: (query, { source }): Promise<NameAnswer> => source.explain(query('name'), query('type') || 'A'),
  series: async (query, { sampler }) =>
    sampler.series(query('cluster'), query('window') === 'hour' ? 'hour' : 'minutes'),
};

export const VIEW_NAMES: readonly string[] = Object.keys(VIEWS);

/** Undefined if what is asked for is not there. */
export function answerView(
  view: string,
  query: URLSearchParams,
  parts: ViewParts,
): Promise<object | undefined> {
  return VIEWS[view]!((name) => (query.get(name) ?? '').slice(0, LONGEST_VALUE), parts);
}
