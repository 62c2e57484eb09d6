/**
 * What is to become of the pods of a set. Pure. A pod is made, or deleted by its uid, and never changed: what is listed counts for
 * the next pod of that name. Whoever wants a pod to be as listed now deletes it.
 */
import { hasLabels, isBeingDeleted } from '../../kube/object.ts';
import type { Fault } from './faults.ts';
import { FAILURES_ANNOTATION } from './names.ts';
import { hasEnded, lifeOf, relationOf } from './pod.ts';
import type { Pod, SetIdentity } from './pod.ts';

/** A set, as much of it as decides. */
export interface DecidedSet extends SetIdentity {
  /** The names of its pods, each once. */
  pods: readonly string[];
}

export type PodDecision =
  /** `failures`: how many before it ended soon after they had begun. */
  | { do: 'create'; name: string; failures: number }
  /** Delete the pod with this uid, which has ended, and make another. */
  | { do: 'replace'; name: string; uid: string; failures: number }
  | { do: 'delete'; name: string; uid: string }
  /** Become the controller of a pod that has none. */
  | { do: 'adopt'; name: string; uid: string };

export interface Decided {
  decisions: PodDecision[];
  faults: Fault[];
  /** When something is due although nothing has changed. */
  lookAgainInMs: number | undefined;
}

/** A pod that lives as long as this has not failed at once; the next failure is its first. */
export const STEADY_MS = 10 * 60_000;
/** How long the second failure in a row is waited after; twice that after the third, and so on. */
export const FIRST_WAIT_MS = 10_000;
export const MAX_WAIT_MS = 5 * 60_000;
/** A pod that is still there so long after its grace period is stuck: its node is most likely dead. */
export const OVERDUE_MS = 60_000;

export function decidePods(set: DecidedSet, pods: readonly Pod[], now: number): Decided {
  const listed = new Set(set.pods);
  const live = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const outcomes = [
    ...set.pods.map((name) => decideListed(set, name, live.get(name), now)),
    ...pods.filter(({ metadata }) => !listed.has(metadata.name)).map((pod) => decideOther(set, pod, now)),
  ];
  const waits = outcomes.flatMap(({ waitMs }) => waitMs ?? []);
  return {
    decisions: outcomes.flatMap(({ decision }) => decision ?? []),
    faults: outcomes.flatMap(({ fault }) => fault ?? []),
    lookAgainInMs: waits.length > 0 ? Math.min(...waits) : undefined,
  };
}

interface Outcome {
  decision?: PodDecision;
  fault?: Fault;
  waitMs?: number;
}

function decideListed(set: DecidedSet, name: string, pod: Pod | undefined, now: number): Outcome {
  if (!pod) return { decision: { do: 'create', name, failures: 0 } };
  const relation = relationOf(pod, set);
  if (relation === 'foreign') return { fault: taken(name) };
  if (isBeingDeleted(pod)) return awaitEnd(pod, now);
  const { uid = '' } = pod.metadata;
  if (relation === 'adoptable') return { decision: { do: 'adopt', name, uid } };
  return hasEnded(pod) ? replaceEnded(pod, now) : {};
}

/** Only what is its own and has its labels goes: anything else is somebody's. */
function decideOther(set: DecidedSet, pod: Pod, now: number): Outcome {
  if (relationOf(pod, set) !== 'own' || !hasLabels(pod, set.selector)) return {};
  if (isBeingDeleted(pod)) return awaitEnd(pod, now);
  const { name, uid = '' } = pod.metadata;
  return { decision: { do: 'delete', name, uid } };
}

/**
 * A pod that is being deleted may still run, on a node that nobody hears of: with a second one of its name there would be two
 * brokers of one id. So it is waited for, and never forced.
 */
function awaitEnd({ metadata, spec }: Pod, now: number): Outcome {
  const { name, deletionTimestamp = '' } = metadata;
  const overdueAt = Date.parse(deletionTimestamp) + OVERDUE_MS;
  if (!(now >= overdueAt)) return { waitMs: Math.max(1, overdueAt - now) || OVERDUE_MS };
  const where = spec?.nodeName === undefined ? '' : ` on node "${spec.nodeName}"`;
  const message =
    `pod "${name}"${where} should have been gone at ${deletionTimestamp}. See whether its node is dead, or a finalizer holds it. ` +
    `If it certainly runs no more: kubectl delete pod ${name} --force --grace-period=0`;
  return { fault: { reason: 'PodStuck', path: [], message } };
}

function replaceEnded(pod: Pod, now: number): Outcome {
  const { name, uid = '', annotations } = pod.metadata;
  const { createdAt, endedAt } = lifeOf(pod);
  const isSteady = endedAt - createdAt >= STEADY_MS;
  const failures = isSteady ? 0 : failuresIn(annotations?.[FAILURES_ANNOTATION]);
  // A node whose clock is ahead must not make it wait for longer.
  const dueAt = Math.min(endedAt, now) + waitAfter(failures);
  if (now >= dueAt) return { decision: { do: 'replace', name, uid, failures: failures + 1 } };
  const { phase, reason } = pod.status ?? {};
  const message =
    `pod "${name}" has ended ${failures + 1} times in a row soon after it had begun (${[phase, reason].filter(Boolean).join(', ')}); ` +
    `the next one is made at ${new Date(dueAt).toISOString().replace(/\.\d+Z$/, 'Z')}`;
  return { fault: { reason: 'PodFailing', path: [], message }, waitMs: dueAt - now };
}

/** How long a pod that has ended is left before it is replaced, after so many before it. */
export const waitAfter = (failures: number): number =>
  failures === 0 ? 0 : Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));

/** More than this makes no difference. */
const MAX_FAILURES = 99;

/** Anybody may write an annotation. */
function failuresIn(annotation: string | undefined): number {
  const failures = Number(annotation ?? 0);
  return Number.isInteger(failures) && failures > 0 ? Math.min(failures, MAX_FAILURES) : 0;
}

export const taken = (name: string): Fault => ({
  reason: 'NameTaken',
  path: [],
  message: `pod "${name}" exists and belongs to somebody else; delete it, or give it another name`,
});
