/** A condition as every Kubernetes status has them. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** A condition as it is planned: when it last changed is not for a plan to know. */
export type PlannedCondition = Omit<Condition, 'lastTransitionTime'>;

/**
 * Conditions as they are to be written. One whose status stays keeps its time, even if reason or message change; the order stays
 * too, so that equal conditions give an equal status. Types that are not planned go, unless `isOurs` says they are someone else's.
 */
export function mergeConditions(
  existing: readonly Condition[] | undefined,
  planned: readonly PlannedCondition[],
  now: Date,
  isOurs: (type: string) => boolean = () => true,
): Condition[] {
  const wanted = new Map(planned.map((condition) => [condition.type, condition]));
  const merged: Condition[] = [];
  for (const old of existing ?? []) {
    const next = wanted.get(old.type);
    wanted.delete(old.type);
    if (next) merged.push({ ...next, lastTransitionTime: transitionTime(old, next, now) });
    else if (!isOurs(old.type)) merged.push(old);
  }
  for (const next of wanted.values()) merged.push({ ...next, lastTransitionTime: timestamp(now) });
  return merged;
}

function transitionTime(old: Condition, next: PlannedCondition, now: Date): string {
  return old.status === next.status ? old.lastTransitionTime : timestamp(now);
}

/** A time as Kubernetes writes it, in whole seconds. */
export function timestamp(time: Date): string {
  return time.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
