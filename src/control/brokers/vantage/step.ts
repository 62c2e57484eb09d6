/** The next step with the pod that looks at a cluster from elsewhere, by how far it is, and when to look again. Pure. */
import { createHash } from 'node:crypto';
import type { AnyObject } from '../../../kube/object.ts';
import { PROBE_TASK } from '../../../ops/probe-task.ts';
import { PROBE_REPORT, probePod, probePodState } from '../../shared/probe-pod.ts';
import { packTask } from './task.ts';
import type { Task } from './task.ts';

/** What a pod was made for, and when, by the clock of whoever made it. */
const MARK = 'isthmus.dev/probe-mark';
const SINCE = 'isthmus.dev/probe-since';

/** A node is found, an image is fetched, and all that is probed may end by time. */
const LOOK_MS = 300_000;
/** What a pod of longer ago has said is old: it was left by somebody who was interrupted. */
const OLD_MS = 2 * LOOK_MS;

/** While all is well: a pod is made for each look. */
const IDLE_MS = 300_000;
/** While something is not, or what clients are told has changed; it may change with every broker that restarts. */
const SOON_MS = 30_000;
const PART = 4;

export interface VantagePod {
  /** Of the anchor: two installations may look at clusters of the same name from one place. */
  uid: string;
  namespace: string;
  image: string;
  mark: string;
  task: Task;
  now: number;
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

/** One for each cluster, so that whoever was interrupted finds it again. */
export const vantagePodName = (uid: string): string => `isthmus-probe-${digest(uid).slice(0, 16)}`;

/** What is looked at, in a few letters. */
export const markOf = (text: string): string => digest(text).slice(0, 16);

export const vantagePod = ({ uid, namespace, image, mark, task, now }: VantagePod): AnyObject =>
  probePod({
    metadata: {
      name: vantagePodName(uid),
      namespace,
      annotations: { [MARK]: mark, [SINCE]: new Date(now).toISOString() },
    },
    image,
    args: [PROBE_TASK, packTask(task), PROBE_REPORT],
  });

export type VantageStep =
  | { step: 'create' }
  | { step: 'wait' }
  /** It is of another time. */
  | { step: 'delete' }
  /** It has looked at what clients are no longer told. */
  | { step: 'discard' }
  | { step: 'collect'; message: string }
  | { step: 'give up'; problem: string };

export function vantageStep(pod: AnyObject | undefined, mark: string, now: number): VantageStep {
  if (!pod) return { step: 'create' };
  const { deletionTimestamp, annotations = {} } = pod.metadata;
  if (deletionTimestamp !== undefined) return { step: 'wait' };
  const age = now - Date.parse(annotations[SINCE] ?? '');
  // Neither is one of a time that has not come.
  const isOfNow = age > -LOOK_MS && age < OLD_MS;
  if (!isOfNow) return { step: 'delete' };
  const state = probePodState(pod);
  if (state.isOver && annotations[MARK] !== mark) return { step: 'discard' };
  if (state.isOver) return { step: 'collect', message: state.message };
  if (age < LOOK_MS) return { step: 'wait' };
  const problem = `the pod of the probe there does not come to an end${state.why ? `: ${state.why}` : ''}`;
  return { step: 'give up', problem };
}

/** What the last look has left for the next. */
export interface LastLook {
  at: number;
  mark: string;
  /** Since when something is wrong. */
  brokenSince: number | undefined;
}

/** How long to wait from now on. */
export function lookInMs(last: LastLook | undefined, mark: string, now: number): number {
  if (!last) return 0;
  const { at, brokenSince } = last;
  const isSoon = last.mark !== mark || brokenSince !== undefined;
  const lasted = last.mark === mark && brokenSince !== undefined ? (at - brokenSince) / PART : 0;
  const pause = isSoon ? Math.min(IDLE_MS, Math.max(SOON_MS, lasted)) : IDLE_MS;
  return Math.max(0, Math.ceil(at + pause - now));
}
