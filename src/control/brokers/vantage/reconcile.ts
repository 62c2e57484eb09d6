/**
 * How the road looks at exposed brokers from other clusters, where neither hairpins nor the names of this one can deceive it: it has a pod
 * look there, now and then, and says in the status of the cluster's anchor what it met. The conditions that follow are the probe's to say.
 */
import { canonicalJson, isSameJson } from '../../../kube/json.ts';
import type { Client } from '../../../kube/http/client.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import type { AnyObject, ObjectMeta } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { SeenFrom } from '../../../resources/isthmus/exposure.ts';
import type { Plan, PlannedStatus } from '../../kernel/plan.ts';
import type { Reconciler } from '../../kernel/reconcile.ts';
import type { ToldListener } from '../expose/told.ts';
import type { VantageReporter } from './metrics.ts';
import { blind, outcomeOf } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { isUnproven, withProofs } from './proof.ts';
import { lookInMs, markOf, vantagePod, vantagePodName, vantageStep } from './step.ts';
import type { LastLook } from './step.ts';
import { taskOf } from './task.ts';
import type { TaskOptions } from './task.ts';

/** A cluster to look from. */
export interface Place {
  client: Client;
  /** Where pods may be made. */
  namespace: string;
}

/** The clusters to look from, of which it may not be known yet how they are reached. */
export interface Vantages {
  names: readonly string[];
  /** Why it cannot be used, if it cannot. */
  placeOf(name: string): Place | { problem: string };
}

export interface VantageAnchor {
  kind: string;
  metadata: Pick<ObjectMeta, 'name' | 'uid'> & { namespace: string };
  status?: {
    vantages?: readonly SeenFrom[];
    /** What the operator's own probe found last. */
    exposed?: readonly { name: string; reached?: boolean; failed?: string }[];
  };
}

export interface VantageSource {
  load?: Reconciler<never, never>['load'];
  isExpected(key: string): boolean;
  anchorOf(key: string): VantageAnchor | undefined;
  /** Whom clients of the cluster trust. */
  trustOf(key: string): string | undefined;
}

export interface VantageOptions extends Omit<TaskOptions, 'ca'> {
  source: VantageSource;
  vantages: Vantages;
  told: ReadonlyMap<string, readonly ToldListener[]>;
  /** What pods there run. */
  image: string;
  report: VantageReporter;
}

/** What is known of looks from one place. */
export interface Look extends LastLook {
  /** Of the anchor that it is about. */
  uid: string;
  /** Whether a pod is at it. */
  isLooking: boolean;
  outcome: Outcome | undefined;
  /** What led the operator's own probe through at the time. */
  open: readonly string[];
}

/** By place. */
export type Looks = ReadonlyMap<string, Look>;

export interface VantageObserved {
  listeners: readonly ToldListener[] | undefined;
  isExpected: boolean;
  anchor: VantageAnchor | undefined;
  names: readonly string[];
  looks: Looks;
  now: number;
}

interface LookAction {
  do: 'look';
  from: string;
  uid: string;
  listeners: readonly ToldListener[];
  mark: string;
  open: readonly string[];
}
type Action = LookAction | { do: 'forget'; from: string; uid: string };
type VantagePlan = Plan<Action>;

const NOTHING: VantagePlan = {
  persist: [],
  targets: [],
  actions: [],
  statuses: [],
  lookAgainInMs: undefined,
};
const UNPLANNED_MS = 2000;
/** How often a pod that looks is asked for. */
const EVERY_MS = 1000;
const TIMEOUT_MS = 10_000;
const POD = { group: '', version: 'v1', kind: 'Pod' };

/** Decides from where to look, and what to say. Pure. */
export function planVantages(observed: VantageObserved): VantagePlan {
  const { listeners, isExpected, anchor, names, looks, now } = observed;
  const { uid } = anchor?.metadata ?? {};
  if (!anchor || uid === undefined) {
    const actions = [...looks].map(([from, look]) => ({ do: 'forget' as const, from, uid: look.uid }));
    return { ...NOTHING, actions };
  }
  if (!listeners && isExpected) return { ...NOTHING, lookAgainInMs: UNPLANNED_MS };
  const isExposed = listeners?.some(({ endpoints }) => endpoints.length > 0) ?? false;
  const wanted = isExposed ? names : [];
  const said = anchor.status?.vantages ?? [];
  const former = new Set([...said.map(({ name }) => name), ...looks.keys()]);
  const forgotten = [...former].filter((name) => !wanted.includes(name));
  const mark = markOf(canonicalJson(listeners ?? []));
  const open = openHere(anchor);
  const waits = wanted.map((from) => ({ from, inMs: waitFor(looks.get(from), mark, now) }));
  const vantages = wanted.flatMap((name) => seenNow(looks.get(name), mark, said, name));
  return {
    ...NOTHING,
    actions: [
      ...forgotten.map((from) => ({ do: 'forget' as const, from, uid })),
      ...waits
        .filter(({ inMs }) => inMs === 0)
        .map(({ from }) => ({ do: 'look' as const, from, uid, listeners: listeners!, mark, open })),
    ],
    statuses: isSameJson(said, vantages) ? [] : [statusOf(anchor, vantages)],
    lookAgainInMs:
      waits.length > 0 ? Math.max(EVERY_MS, Math.min(...waits.map(({ inMs }) => inMs))) : undefined,
  };
}

/** All of the way: with names that lead where they should, to the broker that it should be. */
const openHere = ({ status }: VantageAnchor): string[] =>
  (status?.exposed ?? []).flatMap(({ name, reached, failed }) =>
    reached && failed === undefined ? [name] : [],
  );

const waitFor = (look: Look | undefined, mark: string, now: number): number =>
  look?.isLooking ? 0 : lookInMs(look, mark, now);

/** What was seen of something else says nothing about this; what is said stays until there is better. */
const seenNow = (look: Look | undefined, mark: string, said: readonly SeenFrom[], name: string): SeenFrom[] =>
  look?.outcome && look.mark === mark ? [look.outcome.seen] : said.filter((one) => one.name === name);

function statusOf(
  { kind, metadata: { namespace, name } }: VantageAnchor,
  vantages: readonly SeenFrom[],
): PlannedStatus {
  return { kind, namespace, name, status: { vantages }, keepsRest: true };
}

export function vantageReconciler(
  options: VantageOptions,
): Reconciler<VantageObserved, VantagePlan, never, Looks> {
  const { source, vantages, told, report } = options;

  async function lookFrom(key: string, action: LookAction, before: Look | undefined, now: number) {
    const { from, uid, mark, open } = action;
    const place = vantages.placeOf(from);
    const result = 'problem' in place ? blind(from, place.problem) : await stepIn(key, place, action, now);
    const brokenSince = before?.mark === mark ? before.brokenSince : undefined;
    const look = { at: now, mark, uid, outcome: undefined, brokenSince, open };
    if (result === 'looking') return { ...look, isLooking: true };
    // Of which nothing is said; the next one is not made at once.
    if (result === 'of before') return { ...look, mark: '', isLooking: false };
    report.saw(key, result);
    return { ...look, isLooking: false, outcome: result };
  }

  async function stepIn(key: string, place: Place, action: LookAction, now: number): Promise<Stepped> {
    const { uid, listeners, mark, from } = action;
    const task = taskOf(listeners, { ...options, ca: source.trustOf(key) });
    const { namespace } = place;
    const pod = vantagePod({ uid, namespace, image: options.image, mark, task, now });
    try {
      return await takeStep(place, pod, action, now);
    } catch (error) {
      // Somebody was quicker, or the pod is another one by now: the next step sees which.
      return hasStatus(error, 409) ? 'looking' : blind(from, messageOf(error));
    }
  }

  return {
    ...(source.load && { load: source.load }),
    observe: (key, looks = new Map(), now) => ({
      listeners: told.get(key),
      isExpected: source.isExpected(key),
      anchor: source.anchorOf(key),
      names: vantages.names,
      looks,
      now,
    }),
    plan: planVantages,
    async act({ key, plan, before = new Map(), now }) {
      const looks = new Map(before);
      await Promise.all(
        plan.actions.map(async (action) => {
          if (action.do === 'look')
            return looks.set(action.from, await lookFrom(key, action, before.get(action.from), now));
          await forget(vantages.placeOf(action.from), action.uid);
          report.forgot(key, action.from);
          return looks.delete(action.from);
        }),
      );
      const acted = new Map([...withProofs(looks)].map(([from, look]) => [from, withAge(look)]));
      return { acted: acted.size > 0 ? acted : undefined };
    },
  };
}

/** Since when something is wrong, which makes looks more frequent. */
function withAge(look: Look): Look {
  if (!look.outcome) return look;
  const { seen } = look.outcome;
  const isBroken = seen.problem !== undefined || seen.unreached > 0 || isUnproven(seen);
  return { ...look, brokenSince: isBroken ? (look.brokenSince ?? look.at) : undefined };
}

type Stepped = Outcome | 'looking' | 'of before';

async function takeStep(
  { client, namespace }: Place,
  wanted: AnyObject,
  { from, listeners, mark }: LookAction,
  now: number,
): Promise<Stepped> {
  const name = { namespace, name: wanted.metadata.name };
  const options = { timeoutMs: TIMEOUT_MS };
  const pod = await client.get(POD, name, options);
  const next = vantageStep(pod, mark, now);
  if (next.step === 'wait') return 'looking';
  if (next.step === 'create') {
    await client.create(wanted, options);
    return 'looking';
  }
  await client.delete(POD, name, { ...options, uid: pod!.metadata.uid });
  if (next.step === 'delete') return 'looking';
  if (next.step === 'discard') return 'of before';
  return next.step === 'give up' ? blind(from, next.problem) : outcomeOf(from, pod!, next.message, listeners);
}

/** Takes away what may be left there. A pod ends by itself, so nobody waits for a cluster that cannot be asked. */
async function forget(place: Place | { problem: string }, uid: string): Promise<void> {
  if ('problem' in place) return;
  const name = { namespace: place.namespace, name: vantagePodName(uid) };
  await place.client.delete(POD, name, { timeoutMs: TIMEOUT_MS }).catch(() => false);
}
