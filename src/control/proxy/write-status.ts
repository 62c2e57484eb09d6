/** From a planned status to the one that is written: with times, no other than what differs, and told where it is news. */
import type { Cluster } from '../../kube/cluster.ts';
import { mergeConditions } from '../../kube/write/conditions.ts';
import type { Condition, PlannedCondition } from '../../kube/write/conditions.ts';
import { isJsonObject } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/json.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import type { AnyObject } from '../../kube/object.ts';
import { writeStatus } from '../../kube/write/status.ts';
import type { RoadMetrics } from './metrics.ts';
import { noticesOf } from './notices.ts';
import type { Said } from './notices.ts';
import type { PlannedStatus } from './status.ts';

/** Writes what `statusOf` makes of the status that is there. */
export type WriteStatus = <S extends object>(
  live: AnyObject,
  statusOf: (existing: S | undefined) => S,
  signal: AbortSignal,
) => Promise<void>;

/** Writes statuses; a change that a person should know of becomes an event, once, since it is one only when it is written. */
export function createStatusWriter(
  cluster: Cluster,
  events: EventRecorder,
  metrics: RoadMetrics,
): WriteStatus {
  return async <S extends object>(
    live: AnyObject,
    statusOf: (existing: S | undefined) => S,
    signal: AbortSignal,
  ) => {
    let change: { before: unknown; after: unknown } | undefined;
    const remembered = (existing: S | undefined) => {
      const after = statusOf(existing);
      change = { before: existing, after };
      return after;
    };
    const result = await writeStatus(cluster.client, live as AnyObject & { status?: S }, remembered, signal);
    if (result !== 'written') return;
    metrics.wrote('status', 1);
    const notices = noticesOf(live.kind, conditionsIn(change?.before), conditionsIn(change?.after));
    for (const notice of notices) events.record(live, notice);
  };
}

function conditionsIn(status: unknown): Said[] {
  const found = isJsonObject(status) ? status['conditions'] : undefined;
  return Array.isArray(found) ? (found as Said[]) : [];
}

/** The status that is to be written where this one is. */
export function nextStatus(existing: object | undefined, planned: PlannedStatus, now: Date): object {
  const merged = mergeStatus(existing, planned.status, now);
  return planned.keepsRest ? { ...existing, ...merged } : merged;
}

/** The planned status with the time of each condition: kept where the condition stays, also within lists of named items. */
export function mergeStatus(existing: object | undefined, planned: object, now: Date): object {
  const before: JsonObject = isJsonObject(existing) ? existing : {};
  return Object.fromEntries(
    Object.entries(planned as JsonObject).map(([key, value]) => [
      key,
      key === 'conditions' ? conditions(before[key], value, now) : items(before[key], value, now),
    ]),
  );
}

function conditions(existing: unknown, planned: unknown, now: Date): Condition[] {
  const known = Array.isArray(existing) ? (existing as Partial<Condition>[]) : [];
  // One written by hand may have no time; it gets one.
  const dated = known.filter(({ lastTransitionTime }) => lastTransitionTime !== undefined) as Condition[];
  return mergeConditions(dated, planned as PlannedCondition[], now);
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
