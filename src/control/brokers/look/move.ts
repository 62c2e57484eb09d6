/** Moves partitions: one look and the next few reassignments, so that brokers that are to go become empty. Remembers nothing. */
import type { Admin } from '../../../kafka/admin/admin.ts';
import { required } from '../../../kafka/admin/answer.ts';
import type { KafkaFacts } from './facts.ts';
import { moves } from '../moves/moves.ts';
import type { Moves } from '../moves/moves.ts';
import type { BrokerPlace, PlacedPartition } from '../moves/layout.ts';
import { isOurRate, throttleChanges } from '../moves/throttle.ts';
import type { ObservedThrottles, Throttle } from '../moves/throttle.ts';

/** What is wanted of the layout of partitions. */
export interface MoveWish {
  /** Brokers that have to be empty. */
  leaving: readonly number[];
  /** Brokers that may be given replicas: nobody moves any to one that is not of the cluster any more, although it still runs. */
  staying: readonly number[];
  /** Whether Kafka knows how to keep new replicas off brokers that go. */
  cordons: boolean;
  /** Whether replicas are kept even over those that stay. */
  rebalance: boolean;
  /** What moving may take from the network, a broker; undefined for all of it. */
  bytesPerSecond: number | undefined;
  maxInFlight: number;
}

/** How far it is. */
export interface MoveProgress extends Pick<Moves, 'toDrain' | 'underWay' | 'noPlace' | 'waiting' | 'done'> {
  /** Brokers that have to be empty, and are. */
  drained: readonly number[];
  /** Those of them that did not run: they were not kept from being given replicas as soon as they do. */
  down: readonly number[];
  /** Brokers that cannot be kept from being given replicas, and why. */
  open: readonly { id: number; problem: string }[];
}

/** Whether anything is asked for. */
export const wantsMoves = ({ leaving, rebalance }: MoveWish): boolean => rebalance || leaving.length > 0;

/** Whether a throttle of ours is left on a broker, by what they answered: also when nothing is to be moved any more, it has to go. */
export const isThrottled = (configs: KafkaFacts['configs']): boolean =>
  [...configs.values()].some((entries) => entries.some(({ name, value }) => isOurRate(name, value)));

export async function moveOn(admin: Admin, wish: MoveWish): Promise<MoveProgress> {
  const leaving = new Set(wish.leaving);
  const staying = new Set(wish.staying);
  const { nodes } = required(await admin.cluster());
  const live = nodes.flatMap(({ id, fenced }) => (fenced ? [] : [id]));
  const toClose = live.filter((id) => leaving.has(id));
  const closing = wish.cordons ? await cordon(admin, toClose) : [];
  // Only now: what was there before a broker was closed says nothing of what it was given until then.
  const partitions = await placedPartitions(admin);
  const brokers = nodes.map(({ id, rack, fenced }): BrokerPlace => ({
    id,
    rack,
    state: leaving.has(id) ? 'drain' : 'stays',
    available: !fenced && staying.has(id),
  }));
  const ongoing = required(await admin.reassignments());
  const next = moves(partitions, brokers, ongoing, wish);
  const throttles = await observedThrottles(admin, live, partitions);
  const changes = throttleChanges(next.moving, throttles, wish.bytesPerSecond);
  if (changes.set.length > 0) requireAll(await admin.alterConfigs(changes.set));
  if (next.begin.length > 0) requireAll(await admin.reassign(next.begin));
  if (changes.clear.length > 0) requireAll(await admin.alterConfigs(changes.clear));
  // Brokers hear later than the controller where replicas are to come.
  const busy = new Set([...partitions, ...ongoing].flatMap(({ replicas }) => replicas));
  const { toDrain, underWay, noPlace, waiting } = next;
  // A broker that goes must not leave entries behind of which nobody knows whose they were.
  const isTidy = changes.clear.length === 0;
  const isClosed = (id: number) => !closing.some((one) => one.id === id);
  const drained = wish.leaving.filter((id) => isTidy && isClosed(id) && !busy.has(id));
  const down = drained.filter((id) => !toClose.includes(id));
  const open = closing.flatMap(({ id, problem }) => (problem === undefined ? [] : [{ id, problem }]));
  const done = next.done && isTidy && closing.length === 0;
  return { drained, down, open, toDrain, underWay, noPlace, waiting, done };
}

function requireAll(results: readonly { error?: { message: string } | undefined }[]): void {
  const refused = results.find(({ error }) => error);
  if (refused?.error) throw new Error(`Kafka refused to move partitions: ${refused.error.message}`);
}

async function placedPartitions(admin: Admin): Promise<PlacedPartition[]> {
  const all: PlacedPartition[] = [];
  for await (const page of admin.topics())
    for (const { name, partitions } of required(page))
      for (const { index, replicas, isr } of partitions)
        all.push({ topic: name, partition: index, replicas, isr });
  return all;
}

const CORDON = 'cordoned.log.dirs';
const EVERYTHING = '*';

/** Brokers that take no new replicas at all, by what they answered, and are not to go. */
export const cordonedAmong = (configs: KafkaFacts['configs'], leaving: readonly number[] = []): number[] =>
  [...configs].flatMap(([id, entries]) => {
    const isCordoned = entries.some(({ name, value }) => name === CORDON && value === EVERYTHING);
    return isCordoned && !leaving.includes(id) ? [id] : [];
  });

/** A broker that goes, and may still be given replicas. */
interface Closing {
  id: number;
  /** Why it stays so; undefined if it was told to take no more. */
  problem: string | undefined;
}

/**
 * Keeps new replicas off brokers that go; returns those that did not say so before. A broker takes the setting first and tells the
 * controller, which places replicas, right after that: such a broker is closed by the next look.
 */
async function cordon(admin: Admin, ids: readonly number[]): Promise<Closing[]> {
  if (ids.length === 0) return [];
  const resources = ids.map((id) => ({ type: 'broker' as const, name: String(id) }));
  const described = await admin.configs(resources, [CORDON]);
  const isClosed = (name: string) =>
    described.some(
      ({ resource, configs }) => resource.name === name && configs[CORDON]?.value === EVERYTHING,
    );
  const changes = [{ name: CORDON, change: 'set' as const, value: EVERYTHING }];
  const closing: Closing[] = [];
  for (const resource of resources.filter(({ name }) => !isClosed(name))) {
    const results = await admin.alterConfigs([{ resource, changes }]);
    const problem = results.find(({ error }) => error)?.error?.message;
    closing.push({ id: Number(resource.name), problem });
  }
  return closing;
}

/**
 * Takes replicas again: a broker whose going was taken back, or a new one with the id of one that went, because Kafka keeps the settings of
 * an id. `cordoned` are those that say so themselves.
 */
export async function uncordon(admin: Admin, cordoned: readonly number[]): Promise<void> {
  for (const id of cordoned) {
    const changes = [{ name: CORDON, change: 'delete' as const }];
    requireAll(await admin.alterConfigs([{ resource: { type: 'broker', name: String(id) }, changes }]));
  }
}

const SIDES = ['leader', 'follower'] as const;

async function observedThrottles(
  admin: Admin,
  live: readonly number[],
  partitions: readonly PlacedPartition[],
): Promise<ObservedThrottles> {
  const valuesOf = async (type: 'broker' | 'topic', names: readonly string[], what: 'rate' | 'replicas') => {
    const keys = SIDES.map((side) => `${side}.replication.throttled.${what}`);
    const described = await admin.configs(
      names.map((name) => ({ type, name })),
      keys,
    );
    return described.map(({ resource, configs }) => {
      const values = SIDES.flatMap((side) => {
        const { value, source } = configs[`${side}.replication.throttled.${what}`] ?? {};
        return value != null && value !== '' && source === type ? [[side, value] as const] : [];
      });
      const throttle: Throttle = Object.fromEntries(values);
      return [resource.name, throttle] as const;
    });
  };
  const rates = await valuesOf('broker', live.map(String), 'rate');
  const topics = await valuesOf('topic', [...new Set(partitions.map(({ topic }) => topic))], 'replicas');
  return {
    rates: new Map(rates.map(([id, values]) => [Number(id), values])),
    replicas: new Map(topics.filter(([, values]) => Object.keys(values).length > 0)),
  };
}
