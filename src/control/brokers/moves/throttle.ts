import type { ConfigChange, ConfigChanges } from '../../../kafka/admin/configs.ts';
import type { Reassignment } from '../../../kafka/admin/replicas.ts';

/**
 * Limits what replicas that move take from the network. Kafka wants a rate on every broker that takes part, and on every
 * topic the list of replicas that it holds for. Nothing is remembered about who set what: a rate of ours is known by its
 * last three digits. A broker with another rate is somebody else's: it is left as it is, and so are the lists' entries for it.
 */

/** A value of these configurations, as set for that broker or topic itself. */
export type Throttle = Partial<Record<Side, string>>;

export interface ObservedThrottles {
  /** `*.replication.throttled.rate`, by broker. */
  rates: ReadonlyMap<number, Throttle>;
  /** `*.replication.throttled.replicas`, by topic. */
  replicas: ReadonlyMap<string, Throttle>;
}

/** Two requests, because a topic may be in both. */
export interface ThrottleChanges {
  /** Before reassignments are begun: rates, then lists. */
  set: ConfigChanges[];
  /** After that. Rates go only after the lists, by which a later call knows that there is something left of ours. */
  clear: ConfigChanges[];
}

const SIDES = ['leader', 'follower'] as const;
type Side = (typeof SIDES)[number];

const MARK = 417;
const rateKey = (side: Side) => `${side}.replication.throttled.rate`;
const listKey = (side: Side) => `${side}.replication.throttled.replicas`;

/** The rate as it is written: rounded down to whole kilobytes, and marked. */
export const markedRate = (bytesPerSecond: number): string =>
  String(Math.max(1, Math.floor(bytesPerSecond / 1000)) * 1000 + MARK);

const isOurs = (rate: string | undefined) => rate !== undefined && Number(rate) % 1000 === MARK;

/** Whether a setting of a broker is a rate that was set here. */
export const isOurRate = (name: string, value: string | null | undefined): boolean =>
  SIDES.some((side) => rateKey(side) === name) && isOurs(value ?? undefined);

const entriesOf = (list: string | undefined) => (list ?? '').split(',').filter((entry) => entry !== '');
const brokerOf = (entry: string) => Number(entry.split(':')[1]);

type Lists = Map<string, Record<Side, Set<string>>>;

/** Those that have the records send them as leaders, those that are added fetch them. */
function wantedLists(moving: readonly Reassignment[]): Lists {
  const lists: Lists = new Map();
  for (const { topic, partition, replicas, adding } of moving) {
    if (adding.length === 0) continue;
    const its = lists.get(topic) ?? { leader: new Set(), follower: new Set() };
    lists.set(topic, its);
    for (const id of replicas) its[adding.includes(id) ? 'follower' : 'leader'].add(`${partition}:${id}`);
  }
  return lists;
}

const changesOf = (resource: ConfigChanges['resource'], changes: ConfigChange[]): ConfigChanges[] =>
  changes.length > 0 ? [{ resource, changes }] : [];

/**
 * What to change so that all that moves is throttled, and nothing else is by us. `moving` has what is under way and what
 * is about to be begun; without a rate, nothing is throttled. Pure.
 */
export function throttleChanges(
  moving: readonly Reassignment[],
  observed: ObservedThrottles,
  bytesPerSecond: number | undefined,
): ThrottleChanges {
  const wanted: Lists = bytesPerSecond === undefined ? new Map() : wantedLists(moving);
  const rate = bytesPerSecond === undefined ? undefined : markedRate(bytesPerSecond);
  const taking = new Set(
    [...wanted.values()].flatMap((its) => SIDES.flatMap((side) => [...its[side]].map(brokerOf))),
  );
  const owners = ownersOf(observed);
  const lists = listChanges(wanted, observed, owners);
  const rates = [...taking].toSorted((a, b) => a - b).filter((id) => owners.get(id) !== 'others');
  return {
    set: [...rates.flatMap((id) => setRate(id, rate, observed)), ...lists.set],
    clear: lists.stale ? lists.clear : clearRates(taking, observed),
  };
}

type Owners = ReadonlyMap<number, 'us' | 'others'>;

/** Whose the rates of each broker are; a broker with one of somebody else is theirs. */
function ownersOf({ rates }: ObservedThrottles): Owners {
  const owned = [...rates].flatMap(([id, its]) => {
    const values = SIDES.map((side) => its[side]).filter((value) => value !== undefined);
    if (values.length === 0) return [];
    return [[id, values.every(isOurs) ? 'us' : 'others'] as const];
  });
  return new Map(owned);
}

function setRate(id: number, rate: string | undefined, { rates }: ObservedThrottles): ConfigChanges[] {
  const changes = SIDES.filter((side) => rate !== undefined && rates.get(id)?.[side] !== rate).map(
    (side) => ({
      name: rateKey(side),
      change: 'set' as const,
      value: rate!,
    }),
  );
  return changesOf({ type: 'broker', name: String(id) }, changes);
}

interface ListChanges {
  set: ConfigChanges[];
  clear: ConfigChanges[];
  /** Whether any list has an entry of ours too many. */
  stale: boolean;
}

function listChanges(wanted: Lists, { replicas }: ObservedThrottles, owners: Owners): ListChanges {
  const result: ListChanges = { set: [], clear: [], stale: false };
  for (const topic of [...new Set([...wanted.keys(), ...replicas.keys()])].toSorted()) {
    const changes = SIDES.map((side) => {
      const present = entriesOf(replicas.get(topic)?.[side]);
      const known = new Set(present);
      const keep = wanted.get(topic)?.[side] ?? new Set();
      // With a star everything of the topic is throttled already.
      const missing = [...keep].filter(
        (entry) => owners.get(brokerOf(entry)) !== 'others' && !known.has(entry) && !known.has('*'),
      );
      const stale = present.filter((entry) => owners.get(brokerOf(entry)) === 'us' && !keep.has(entry));
      result.stale ||= stale.length > 0;
      return { adds: missing.length > 0, change: listChange(listKey(side), present, missing, stale) };
    });
    const of = (adds: boolean) =>
      changes.flatMap((each) => (each.change && each.adds === adds ? [each.change] : []));
    result.set.push(...changesOf({ type: 'topic', name: topic }, of(true)));
    result.clear.push(...changesOf({ type: 'topic', name: topic }, of(false)));
  }
  return result;
}

/** Others' entries are left as they are, also those that they add meanwhile, except where we replace entries of ours. */
function listChange(
  name: string,
  present: readonly string[],
  missing: readonly string[],
  stale: readonly string[],
): ConfigChange | undefined {
  if (missing.length === 0 && stale.length === 0) return undefined;
  if (stale.length === 0) return { name, change: 'append', value: missing.join(',') };
  if (missing.length > 0) {
    const gone = new Set(stale);
    const value = [...present.filter((entry) => !gone.has(entry)), ...missing].join(',');
    return { name, change: 'set', value };
  }
  // A list without entries is not one for every Kafka.
  if (stale.length === present.length) return { name, change: 'delete' };
  return { name, change: 'subtract', value: stale.join(',') };
}

function clearRates(taking: ReadonlySet<number>, { rates }: ObservedThrottles): ConfigChanges[] {
  return [...rates]
    .filter(([id]) => !taking.has(id))
    .toSorted(([a], [b]) => a - b)
    .flatMap(([id, its]) => {
      const ours = SIDES.filter((side) => isOurs(its[side]));
      const changes = ours.map((side) => ({ name: rateKey(side), change: 'delete' as const }));
      return changesOf({ type: 'broker', name: String(id) }, changes);
    });
}
