import type { ConfigChange, ConfigChanges } from '../../kafka/admin/configs.ts';
import type { Reassignment } from '../../kafka/admin/replicas.ts';

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

export interface ThrottleChanges {
  /** Before reassignments are begun: rates, then lists. */
  set: ConfigChanges[];
  /** At any time. Rates go only after the lists, by which a later call knows that there is something left of ours. */
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
const entriesOf = (list: string | undefined) => (list ?? '').split(',').filter((entry) => entry !== '');
const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);
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
  const wanted = bytesPerSecond === undefined ? new Map() : wantedLists(moving);
  const rate = bytesPerSecond === undefined ? undefined : markedRate(bytesPerSecond);
  const taking = new Set(
    [...wanted.values()].flatMap((its) => SIDES.flatMap((side) => [...its[side]].map(brokerOf))),
  );
  const foreign = (id: number) =>
    SIDES.some((side) => {
      const value = observed.rates.get(id)?.[side];
      return value !== undefined && !isOurs(value);
    });
  const ours = (id: number) => SIDES.some((side) => isOurs(observed.rates.get(id)?.[side]));
  const stale = staleEntries(wanted, observed, (id) => ours(id) && !foreign(id));
  return {
    set: [
      ...[...taking]
        .toSorted((a, b) => a - b)
        .flatMap((id) => (foreign(id) ? [] : setRate(id, rate, observed))),
      ...missingEntries(wanted, observed, (id) => !foreign(id)),
    ],
    clear: stale.length > 0 ? stale : clearRates(taking, observed),
  };
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

function missingEntries(
  wanted: Lists,
  { replicas }: ObservedThrottles,
  may: (broker: number) => boolean,
): ConfigChanges[] {
  return [...wanted].toSorted(byName).flatMap(([topic, its]) => {
    const changes = SIDES.flatMap((side) => {
      const present = new Set(entriesOf(replicas.get(topic)?.[side]));
      const missing = [...its[side]].filter((entry) => may(brokerOf(entry)) && !present.has(entry));
      // Everything of that topic is throttled already.
      if (missing.length === 0 || present.has('*')) return [];
      return [{ name: listKey(side), change: 'append' as const, value: missing.join(',') }];
    });
    return changesOf({ type: 'topic', name: topic }, changes);
  });
}

function staleEntries(
  wanted: Lists,
  { replicas }: ObservedThrottles,
  isOurBroker: (id: number) => boolean,
): ConfigChanges[] {
  return [...replicas].toSorted(byName).flatMap(([topic, its]) => {
    const changes = SIDES.flatMap((side): ConfigChange[] => {
      const keep = wanted.get(topic)?.[side];
      const present = entriesOf(its[side]);
      const stale = present.filter((entry) => isOurBroker(brokerOf(entry)) && !keep?.has(entry));
      if (stale.length === 0) return [];
      // A list without entries is not one for every Kafka.
      if (stale.length === present.length) return [{ name: listKey(side), change: 'delete' }];
      return [{ name: listKey(side), change: 'subtract', value: stale.join(',') }];
    });
    return changesOf({ type: 'topic', name: topic }, changes);
  });
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
