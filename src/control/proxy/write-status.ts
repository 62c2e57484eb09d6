/** From a planned status to the one that is written: with times, and no other than what differs. */
import { mergeConditions } from '../../kube/conditions.ts';
import type { Condition, PlannedCondition } from '../../kube/conditions.ts';
import { isJsonObject } from '../../kube/json.ts';
import type { JsonObject } from '../../kube/json.ts';

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
