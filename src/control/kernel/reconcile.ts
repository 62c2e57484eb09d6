/**
 * Makes the clusters hold what one key needs, the same way for every road: observe, plan, check, persist, apply, act, status.
 * Everything that decides is in the pure functions of a `Reconciler`; everything that reads or writes is here and below.
 */
import { systemClock } from '../../kube/clock.ts';
import type { Clock } from '../../kube/clock.ts';
import { SUCCESS } from '../../kube/controller/controller.ts';
import type { Outcome } from '../../kube/controller/controller.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Plan } from './plan.ts';
import { Stale } from './status.ts';
import type { StatusWriter } from './status.ts';
import { denialsIn } from './targets.ts';
import type { TargetError, Targets } from './targets.ts';

/** What was found out by trying, after a first plan: a plan made with this works around it, and says so. */
export interface Learned<Checked> {
  /** Objects by reference (see `referenceOf`) that someone else has made. */
  taken: ReadonlySet<string>;
  /** Objects by reference that an API server refused, and why: a quota, a policy, a size. */
  denied: ReadonlyMap<string, string>;
  /** What the road's own check rejected. */
  checked: Checked | undefined;
}

export const NOTHING_LEARNED: Learned<never> = { taken: new Set(), denied: new Map(), checked: undefined };

/**
 * How a road decides about one sort of key. `P` is its plan, `Checked` what its check rejects, `Acted` what its actions bring
 * back, which is kept until the next time.
 */
export interface Reconciler<Observed, P extends Plan<unknown>, Checked = never, Acted = never> {
  /** Has what is not in caches read into them (see `Watched.load`). Called until it says that there was nothing to read. */
  load?(key: string, signal: AbortSignal): Promise<boolean>;
  /** Reads all that the decision depends on, from caches. */
  observe(key: string, acted: Acted | undefined, now: number): Observed;
  /** Decides. Pure: no clock, no network, no cluster. */
  plan(observed: Observed, learned: Learned<Checked>): P;
  /** Whether to find out, before anything is written, which names someone else has, and to plan around those. */
  avoidsTaken?: boolean;
  /** Says what in a plan cannot be; undefined if that is no more than is known. What is rejected must not be in the next plan. */
  check?(plan: P, known: Checked | undefined): Promise<Checked | undefined>;
  /** Does what is to be done once. What it brings back is what the statuses are planned from. */
  act?(request: ActRequest<P, Acted>, signal: AbortSignal): Promise<ActResult<Acted>>;
  /** What follows from objects that could not be applied; an error, tried again later each time, if it does not say. */
  outcomeOf?(errors: readonly TargetError[]): Outcome | undefined;
}

export interface ActRequest<P, Acted> {
  key: string;
  plan: P;
  /** What the last time brought. */
  before: Acted | undefined;
  now: number;
}

export interface ActResult<Acted> {
  acted: Acted | undefined;
  /** Why something could not be done: no reason not to say what is known. */
  failure?: unknown;
}

export interface ReconcileContext {
  targets: Targets;
  statuses: StatusWriter;
  clock?: Clock;
}

/** The cache is behind what this program wrote itself a moment ago. */
const STALE_MS = 50;
/** Each load finds out what the next one has to read: through a reference, to what that refers to. */
const MAX_LOADS = 5;
/** Keys of which is kept what their actions brought. */
const MAX_ACTED = 50_000;

export function reconcileBy<Observed, P extends Plan<unknown>, Checked = never, Acted = never>(
  reconciler: Reconciler<Observed, P, Checked, Acted>,
  { targets, statuses, clock = systemClock }: ReconcileContext,
): (key: string, signal: AbortSignal) => Promise<Outcome> {
  const lastActed = new BoundedMap<string, Acted>(MAX_ACTED);

  /** What is observed refers to nothing that has not been read; unless it changes all the time, and then that wakes the key again. */
  async function observe(key: string, now: number, signal: AbortSignal): Promise<Observed> {
    for (let loads = 0; loads < MAX_LOADS; loads++) if (!(await reconciler.load?.(key, signal))) break;
    return reconciler.observe(key, lastActed.get(key), now);
  }

  /** Plans until nothing more stands against it: what goes may leave room for what has not been looked at yet. */
  async function checkedPlan(
    key: string,
    now: number,
    signal: AbortSignal,
  ): Promise<{ plan: P; learned: Learned<Checked> }> {
    const observed = await observe(key, now, signal);
    let learned: Learned<Checked> = NOTHING_LEARNED;
    for (;;) {
      const plan = reconciler.plan(observed, learned);
      const checked = await reconciler.check?.(plan, learned.checked);
      const taken = !checked && reconciler.avoidsTaken ? await targets.findTaken(plan.targets, signal) : [];
      if (checked) learned = { ...learned, checked };
      else if (taken.length > 0) learned = { ...learned, taken: new Set([...learned.taken, ...taken]) };
      else {
        targets.waitFor(key, learned.taken);
        return { plan, learned };
      }
    }
  }

  async function act(key: string, plan: P, now: number, signal: AbortSignal): Promise<unknown> {
    if (!reconciler.act || plan.actions.length === 0) return undefined;
    const { acted, failure } = await reconciler.act({ key, plan, before: lastActed.get(key), now }, signal);
    if (acted === undefined) lastActed.delete(key);
    else lastActed.set(key, acted);
    return failure;
  }

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const now = clock.wallTime();
    const { plan, learned } = await checkedPlan(key, now, signal);
    await targets.persist(plan.documents ?? [], signal);
    await statuses.persist(plan.persist, signal);
    const errors = await targets.apply(key, plan.targets, signal);
    const failure = await act(key, plan, now, signal);
    const isNews = plan.targets.length > 0 || plan.actions.length > 0;
    // Plans again with what applying and acting have shown.
    const last = isNews
      ? reconciler.plan(await observe(key, now, signal), {
          ...learned,
          denied: denialsIn(errors),
        })
      : plan;
    await statuses.write(last, now, signal);
    if (errors.length > 0)
      return reconciler.outcomeOf?.(errors) ?? { outcome: 'error', error: failureOf(errors) };
    if (failure !== undefined) return { outcome: 'error', error: failure };
    const { lookAgainInMs } = last;
    return lookAgainInMs === undefined ? SUCCESS : { outcome: 'lookAgain', afterMs: lookAgainInMs };
  }

  return async (key, signal) => {
    try {
      return await reconcile(key, signal);
    } catch (error) {
      if (error instanceof Stale) return { outcome: 'lookAgain', afterMs: STALE_MS };
      throw error;
    }
  };
}

function failureOf(errors: readonly TargetError[]): unknown {
  const [first] = errors;
  if (errors.length === 1) return first?.error;
  const all = errors.map(({ object, error }) => `${object}: ${messageOf(error)}`).join('; ');
  return new Error(all, { cause: first?.error });
}
