import { BoundedMap } from '../../../ops/bounded-map.ts';
import type { Peers } from '../../filter.ts';
import { Bucket } from './bucket.ts';
import { SUBJECTS, UNITS } from './config.ts';
import type { Quota, QuotaConfig, Subject, Unit } from './config.ts';

/** Subjects of one quota that are remembered. Names of clients are whatever they say, so there must be an end. */
const MOST_SUBJECTS = 10_000;
const LONGEST_NAME = 256;
/** How often processes tell each other what was used in them. */
const TELL_INTERVAL_MS = 100;

/** Who uses something. */
export type User = Readonly<Record<Subject, string>>;

export interface Throttle {
  ms: number;
  /** Whose quota it is that has to be waited for. */
  per: Subject;
}

export interface Buckets {
  /** Whether any quota is of this. */
  counts(unit: Unit): boolean;
  /** Uses something up, of every quota that is for the user; the longest time to wait, if any. */
  take(user: User, unit: Unit, amount: number): Throttle | undefined;
  close(): void;
}

/** How much of which quota was used: its place in the table, the subject, how much. */
type Used = [table: string, name: string, amount: number];

/** The quotas of one subject and unit. */
interface Table {
  per: Subject;
  /** By the names that have their own; the empty one is for all others. */
  rates: ReadonlyMap<string, number>;
  buckets: Map<string, Bucket>;
}

/**
 * Every bucket, of this process and of what the others tell of theirs: each process counts against the whole quota, and
 * what was used elsewhere is taken off a moment later. So the sum holds in the long run, however connections are spread.
 */
export function createBuckets(
  { quotas, maxThrottle }: QuotaConfig,
  peers: Peers,
  clock: () => number = () => performance.now(),
): Buckets {
  const tables = tablesOf(quotas);
  const untold = new Map<string, Used>();
  let timer: NodeJS.Timeout | undefined;

  /** How long to wait then; undefined if there is no quota for whom it is. */
  const use = (table: Table, name: string, amount: number): number | undefined => {
    const rate = table.rates.get(name) ?? table.rates.get('');
    if (rate === undefined) return undefined;
    const now = clock();
    const bucket = table.buckets.get(name) ?? new Bucket(rate, maxThrottle, now);
    table.buckets.set(name, bucket);
    return bucket.take(amount, now);
  };
  const flush = () => {
    timer = undefined;
    peers.tell([...untold.values()]);
    untold.clear();
  };
  const note = (key: string, name: string, amount: number) => {
    const used = untold.get(`${key}/${name}`);
    if (used) used[2] += amount;
    else untold.set(`${key}/${name}`, [key, name, amount]);
    timer ??= setTimeout(flush, TELL_INTERVAL_MS).unref();
  };
  peers.hear((message) => {
    for (const [key, name, amount] of message as Used[]) {
      const table = tables.get(key);
      if (table) use(table, name, amount);
    }
  });
  return {
    counts: (unit) => SUBJECTS.some((per) => tables.has(keyOf(per, unit))),
    take(user, unit, amount) {
      let longest: Throttle | undefined;
      for (const per of SUBJECTS) {
        const key = keyOf(per, unit);
        const table = tables.get(key);
        if (!table) continue;
        const name = user[per].slice(0, LONGEST_NAME);
        const ms = use(table, name, amount);
        if (ms === undefined) continue;
        note(key, name, amount);
        if (ms > (longest?.ms ?? 0)) longest = { ms, per };
      }
      return longest;
    },
    close: () => clearTimeout(timer),
  };
}

const keyOf = (per: Subject, unit: Unit) => `${per}/${unit}`;

function tablesOf(quotas: readonly Quota[]): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>();
  for (const per of SUBJECTS)
    for (const unit of UNITS) {
      const rates = quotas
        .filter((quota) => quota.per === per && quota[unit] !== undefined)
        .map((quota): [string, number] => [quota.name ?? '', quota[unit]!]);
      if (rates.length === 0) continue;
      const buckets = new BoundedMap<string, Bucket>(MOST_SUBJECTS);
      tables.set(keyOf(per, unit), { per, rates: new Map(rates), buckets });
    }
  return tables;
}
