import type { FilterOwner } from '../cluster/filter-owner.ts';
import { hasOwnFilters, serviceKey } from '../config/own-filters.ts';
import type { Problem, ProxyConfig } from '../config/model.ts';

/**
 * Which virtual clusters are not served, because a filter of their own has stopped a worker with all others in it. One comes back when its
 * configuration changes, since then it is another; else it is tried again after a time that doubles.
 */

/**
 * Whose filter has stopped a worker: by computing without an end, or by ending the process (memory, an error that nobody caught, an exit). A
 * worker that was killed for its silence when the filter had computed for a moment only counts as ended.
 */
export interface Blame {
  owner: FilterOwner;
  how: 'hung' | 'ended';
}

interface Entry extends Blame {
  /** When it was last blamed. */
  at: number;
  /** How often in a row it was taken out of service. */
  times: number;
  /** Until when it is. */
  until: number;
}

/** By the `serviceKey` of the virtual cluster. */
export type OutOfService = ReadonlyMap<string, Entry>;

/** Who has done nothing for so long is as good as new. */
const FORGET_AFTER_MS = 60 * 60_000;
const FIRST_RETRY_MS = 10 * 60_000;
const MAX_RETRY_MS = 24 * 60 * 60_000;

const isOut = ({ until }: Entry, now: number) => now < until;

/** Takes note of a blame. A process that has ended needs two: memory may have run out on the one who had not taken it. */
export function blamed(before: OutOfService, blame: Blame, now: number): OutOfService {
  const { service } = blame.owner;
  const old = before.get(service);
  if (old && isOut(old, now)) return before; // of another worker, in which it was served at the same time
  const recent = old && now - Math.max(old.at, old.until) < FORGET_AFTER_MS ? old : undefined;
  const times = recent?.times ?? 0;
  const first: Entry = { ...blame, at: now, times: 0, until: 0 };
  const out: Entry = {
    ...first,
    times: times + 1,
    until: now + Math.min(FIRST_RETRY_MS * 2 ** times, MAX_RETRY_MS),
  };
  return new Map(before).set(service, blame.how === 'hung' || recent ? out : first);
}

/** Forgets what is not configured any more. */
export function retained(before: OutOfService, { virtualClusters }: ProxyConfig): OutOfService {
  if (before.size === 0) return before;
  const services = new Set(virtualClusters.filter(hasOwnFilters).map(serviceKey));
  return new Map([...before].filter(([service]) => services.has(service)));
}

/** What of a configuration is to be served now, and what is said of the rest. */
export function serviceable(
  config: ProxyConfig,
  state: OutOfService,
  now: number,
): { config: ProxyConfig; problems: Problem[] } {
  if (state.size === 0) return { config, problems: [] };
  const problems: Problem[] = [];
  const virtualClusters = config.virtualClusters.filter((cluster) => {
    const entry = hasOwnFilters(cluster) ? state.get(serviceKey(cluster)) : undefined;
    if (!entry || !isOut(entry, now)) return true;
    problems.push({ cluster: cluster.name, problem: problemText(entry), stage: 'serve' });
    return false;
  });
  return { config: { ...config, virtualClusters }, problems };
}

function problemText({ owner, how, until }: Entry): string {
  const what =
    how === 'hung'
      ? 'computed without an end, and so stopped a process with other virtual clusters in it'
      : 'ended a process with other virtual clusters in it, twice: by the memory it took, an error that nobody caught, or an exit';
  return (
    `out of service: the filter "${owner.filter}" ${what}. ` +
    `It is served again when its configuration changes, and tried again at ${new Date(until).toISOString()}`
  );
}
