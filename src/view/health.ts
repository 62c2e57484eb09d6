/** How an object is, from its conditions: in one word for a column, and with the reason for everything else. Pure. */
import type { AnyObject } from '../kube/object.ts';

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
}

/** `unknown`: it has no conditions, or none that say. */
export type HealthState = 'ready' | 'warning' | 'notReady' | 'unknown';

export interface Health {
  state: HealthState;
  reason: string;
  message: string;
}

/** Conditions that are to be True, the one first that says most about why the others are not. */
const WANTED = ['Accepted', 'ResolvedRefs', 'Valid', 'Ready', 'Available', 'NamespaceExists', 'NodeFacts'];
/** Conditions of which True is a problem, though not one that stops anything. */
const UNWANTED = ['Degraded', 'Conflict', 'Warning', 'Paused', 'ReconciliationPaused', 'Unmanaged'];
/** Of these, False takes nothing away from what works. */
const MINOR = new Set(['NamespaceExists', 'NodeFacts']);
/** Reasons of a True condition that say nothing but that. */
const PLAIN = new Set([...WANTED, 'Exported', 'MinimumReplicasAvailable', '']);

export function conditionsIn({ status }: AnyObject): Condition[] {
  const { conditions } = (status ?? {}) as { conditions?: unknown };
  return Array.isArray(conditions) ? (conditions as Condition[]) : [];
}

const by = (state: HealthState, { type, reason = type, message = '' }: Condition): Health => ({
  state,
  reason,
  message,
});

export function healthOf(object: AnyObject): Health {
  const conditions = conditionsIn(object);
  const find = (type: string) => conditions.find((one) => one.type === type);
  const wanted = WANTED.flatMap((type) => find(type) ?? []);
  const failed = wanted.filter(({ status }) => status !== 'True');
  const serious = failed.find(({ type }) => !MINOR.has(type));
  if (serious) return by('notReady', serious);
  const doubtful = UNWANTED.flatMap((type) => find(type) ?? []).find(({ status }) => status === 'True');
  const told = wanted.find(({ reason = '', message = '' }) => !PLAIN.has(reason) && message !== '');
  const warning = failed[0] ?? doubtful ?? (find('Ready')?.status === 'True' ? told : undefined);
  if (warning) return by('warning', warning);
  return wanted.length > 0
    ? { state: 'ready', reason: '', message: '' }
    : { state: 'unknown', reason: '', message: '' };
}

/** Whether the newest version of an object has been looked at: what conditions say is otherwise about an older one. */
export function isObserved(object: AnyObject): boolean {
  const { generation } = object.metadata;
  const { observedGeneration } = (object['status'] ?? {}) as { observedGeneration?: number };
  const conditions = conditionsIn(object);
  const told = conditions.flatMap((one) => one.observedGeneration ?? []);
  const seen = observedGeneration ?? (told.length > 0 ? Math.max(...told) : undefined);
  if (generation === undefined || seen === undefined) return conditions.length > 0;
  return seen >= generation;
}
