/** From a planned status to the one that is written: with times, no more than what differs, and told where it is news. */
import type { Client } from '../../kube/http/client.ts';
import { isUnanswered } from '../../kube/http/errors.ts';
import { isJsonObject, isSameJson } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/object.ts';
import { mergeConditions } from '../../kube/write/conditions.ts';
import type { Condition, PlannedCondition } from '../../kube/write/conditions.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import { writeStatus } from '../../kube/write/status.ts';
import { forEachLimit } from '../../ops/for-each-limit.ts';
import { eventsOf } from './events.ts';
import type { ConditionSummary, EventRules } from './events.ts';
import type { RoadMetrics } from './metrics.ts';
import type { PersistedField, Plan, PlannedStatus, StatusName } from './plan.ts';

export interface StatusWriter {
  /** Writes down what must not be forgotten, unless that is done already. Throws `Stale` if something else is written there. */
  persist(fields: readonly PersistedField[], signal: AbortSignal): Promise<void>;
  /** Writes the statuses of a plan. `now` is the time of conditions that change. */
  write(plan: Pick<Plan, 'statuses' | 'persist'>, now: number, signal: AbortSignal): Promise<void>;
}

export interface StatusWriterOptions {
  client: () => Client;
  /** The object as it was last seen; undefined if there is none. */
  find: (name: StatusName) => AnyObject | undefined;
  events: EventRecorder;
  /** Which changes are worth an event; none if left out. */
  rules?: EventRules | undefined;
  metrics: RoadMetrics;
}

/** What a plan was made from has changed. */
export class Stale extends Error {}

const AT_ONCE = 8;

/** A change that a person should know of becomes an event, once, since it is one only when it is written. */
export function createStatusWriter({
  client,
  find,
  events,
  rules,
  metrics,
}: StatusWriterOptions): StatusWriter {
  async function writeOne(
    live: AnyObject,
    statusOf: (existing: JsonObject | undefined) => object,
    signal: AbortSignal,
  ): Promise<void> {
    let change: { before: unknown; after: unknown } | undefined;
    const remembered = (existing: JsonObject | undefined) => {
      const after = statusOf(existing) as JsonObject;
      change = { before: existing, after };
      return after;
    };
    const object = live as AnyObject & { status?: JsonObject };
    if ((await writeStatus(client(), object, remembered, signal)) !== 'written') return;
    metrics.wrote('status', 1);
    if (!rules) return;
    const news = eventsOf(rules, live.kind, conditionsIn(change?.before), conditionsIn(change?.after));
    for (const event of news) events.record(live, event);
  }

  async function persistOne(persisted: PersistedField, signal: AbortSignal): Promise<void> {
    const { field, seen, value } = persisted;
    const live = isSame(seen, value) ? undefined : find(persisted);
    if (!live) return;
    const statusOf = (existing: JsonObject | undefined) => {
      requireField(existing, field, [seen, value]);
      return { ...existing, [field]: value };
    };
    await writeOne(live, statusOf, signal);
  }

  async function writePlanned(
    planned: PlannedStatus,
    persisted: readonly PersistedField[],
    now: number,
    signal: AbortSignal,
  ): Promise<void> {
    const live = find(planned);
    if (!live) return;
    const seen = (live['status'] ?? {}) as JsonObject;
    const statusOf = (existing: JsonObject | undefined) => {
      // An older version of the status is brought up to date; an older version of what must not be forgotten never.
      for (const { field, value } of persisted) requireField(existing, field, [value, seen[field]]);
      return nextStatus(existing, planned, new Date(now));
    };
    await writeOne(live, statusOf, signal);
  }

  return {
    async persist(fields, signal) {
      for (const field of fields) await persistOne(field, signal);
    },
    // None may still be on its way when the next plan writes its own.
    write: ({ statuses, persist }, now, signal) =>
      forEachLimit(
        statuses,
        AT_ONCE,
        (planned) =>
          writePlanned(
            planned,
            persist.filter((field) => isOf(field, planned)),
            now,
            signal,
          ),
        isUnanswered,
      ),
  };
}

const isOf = (a: StatusName, b: StatusName) =>
  a.kind === b.kind && a.name === b.name && a.namespace === b.namespace;

/** A list that is not there is an empty one. */
const isSame = (a: unknown, b: unknown) => isSameJson(a ?? [], b ?? []);

/** Refuses to write over what was not known when the plan was made. */
function requireField(status: JsonObject | undefined, field: string, known: readonly unknown[]): void {
  if (!known.some((value) => isSame(value, status?.[field])))
    throw new Stale(`${field} has changed meanwhile`);
}

function conditionsIn(status: unknown): ConditionSummary[] {
  const found = isJsonObject(status) ? status['conditions'] : undefined;
  return Array.isArray(found) ? (found as ConditionSummary[]) : [];
}

/** The status that is to be written where this one is. */
export function nextStatus(existing: object | undefined, planned: PlannedStatus, now: Date): object {
  const merged = mergeStatus(existing, planned.status, now, planned.ownConditions);
  return planned.keepsRest ? { ...existing, ...merged } : merged;
}

/** The planned status with the time of each condition: kept where the condition stays, also within lists of named items. */
export function mergeStatus(
  existing: object | undefined,
  planned: object,
  now: Date,
  ownConditions?: readonly string[],
): object {
  const before: JsonObject = isJsonObject(existing) ? existing : {};
  return Object.fromEntries(
    Object.entries(planned as JsonObject).map(([key, value]) => [
      key,
      key === 'conditions'
        ? conditions(before[key], value, now, ownConditions)
        : items(before[key], value, now),
    ]),
  );
}

function conditions(
  existing: unknown,
  planned: unknown,
  now: Date,
  own: readonly string[] | undefined,
): Condition[] {
  const known = Array.isArray(existing) ? (existing as Partial<Condition>[]) : [];
  // One written by hand may have no time; it gets one.
  const dated = known.filter(({ lastTransitionTime }) => lastTransitionTime !== undefined) as Condition[];
  const isOurs = (type: string) => own?.includes(type) ?? true;
  return mergeConditions(dated, planned as PlannedCondition[], now, isOurs);
}

function items(existing: unknown, planned: unknown, now: Date): unknown {
  if (!Array.isArray(planned)) return planned;
  const known = (Array.isArray(existing) ? existing : []) as unknown[];
  return planned.map((item: unknown) => {
    if (!isJsonObject(item) || !('conditions' in item)) return item;
    const before = known.find((one) => isJsonObject(one) && one['name'] === item['name']);
    return mergeStatus(before as object | undefined, item, now);
  });
}
