/**
 * How a road keeps an eye on what clients outside meet: it probes what they are told, now and then, and says in the status of the
 * cluster's anchor how far it came. The cluster takes its conditions from there; whether it is ready does not depend on them.
 */
import { canonicalJson } from '../../../kube/json.ts';
import type { AnyObject, ObjectMeta } from '../../../kube/object.ts';
import type { SeenFrom } from '../../../resources/isthmus/exposure.ts';
import type { Plan, PlannedStatus } from '../../kernel/plan.ts';
import type { Reconciler } from '../../kernel/reconcile.ts';
import type { ToldListener } from '../expose/told.ts';
import type { ProbeReporter, Reported } from './metrics.ts';
import { probeInMs } from './pace.ts';
import type { LastProbe } from './pace.ts';
import { outsideConditions } from './conditions.ts';
import type { Publisher } from './conditions.ts';
import type { Verdict } from './verdict.ts';

/** Where the status goes. */
export interface ProbeAnchor {
  kind: string;
  metadata: Pick<ObjectMeta, 'name'> & { namespace: string };
  status?: {
    exposed?: readonly unknown[];
    conditions?: readonly unknown[];
    vantages?: readonly SeenFrom[];
  };
}

/** What is different of each sort of clusters. */
export interface ProbeSource {
  load?: Reconciler<never, never>['load'];
  /** Whether there is a cluster of this key that will be planned. */
  isExpected(key: string): boolean;
  anchorOf(key: string): ProbeAnchor | undefined;
  /** The DNSEndpoints of these listeners; undefined where the cluster has none. */
  dnsEndpointsOf(key: string, listeners: readonly ToldListener[]): readonly AnyObject[] | undefined;
  look(key: string, listeners: readonly ToldListener[], now: number): Promise<Reported[]>;
}

export interface ProbeReconcilerOptions {
  source: ProbeSource;
  /** By key of a cluster: what its clients outside are told, as it was last planned. */
  told: ReadonlyMap<string, readonly ToldListener[]>;
  report: ProbeReporter;
  /** Whether brokers get no NetworkPolicies, which keep out who is not allowed. */
  withoutPolicies?: boolean;
}

/** What a probe has brought. */
export interface Probed extends LastProbe {
  verdicts: readonly Verdict[];
}

export interface ProbeObserved {
  /** Undefined as long as nobody has planned it. */
  listeners: readonly ToldListener[] | undefined;
  /** Whether there is a cluster that will be planned. */
  isExpected: boolean;
  anchor: ProbeAnchor | undefined;
  publisher: Publisher;
  probed: Probed | undefined;
  withoutPolicies?: boolean;
  now: number;
}

type ProbePlan = Plan<{ listeners: readonly ToldListener[]; mark: string }>;

const NOTHING: ProbePlan = { persist: [], targets: [], actions: [], statuses: [], lookAgainInMs: undefined };
const UNPLANNED_MS = 2000;

export function probeReconciler({
  source,
  told,
  report,
  withoutPolicies = false,
}: ProbeReconcilerOptions): Reconciler<ProbeObserved, ProbePlan, never, Probed> {
  return {
    ...(source.load && { load: source.load }),
    observe(key, probed, now) {
      const listeners = told.get(key);
      return {
        listeners,
        isExpected: source.isExpected(key),
        anchor: source.anchorOf(key),
        publisher: publisherOf(source.dnsEndpointsOf(key, listeners ?? [])),
        probed,
        withoutPolicies,
        now,
      };
    },
    plan: planProbe,
    async act({ key, plan: { actions }, before, now }) {
      const [action] = actions;
      if (!action) return { acted: before };
      const { listeners, mark } = action;
      const reported = await source.look(key, listeners, now);
      report(key, reported, now);
      const verdicts = reported.map(({ verdict }) => verdict);
      const isBroken = verdicts.some(({ failed }) => failed !== undefined);
      const since = before?.mark === mark ? (before.brokenSince ?? now) : now;
      return { acted: { at: now, mark, verdicts, brokenSince: isBroken ? since : undefined } };
    },
  };
}

const publisherOf = (endpoints: readonly AnyObject[] | undefined): Publisher =>
  !endpoints ? 'none' : endpoints.every(isTakenUp) ? 'up to date' : 'behind';

/** external-dns writes down which generation it has seen. */
function isTakenUp({ metadata, status }: AnyObject): boolean {
  const { observedGeneration = 0 } = (status ?? {}) as { observedGeneration?: number };
  return observedGeneration >= (metadata.generation ?? 1);
}

/** Decides whether to probe, and what to say. Pure. */
export function planProbe(observed: ProbeObserved): ProbePlan {
  const { listeners, isExpected, anchor, probed, now } = observed;
  if (!listeners && isExpected) return anchor ? { ...NOTHING, lookAgainInMs: UNPLANNED_MS } : NOTHING;
  if (!anchor || !listeners) return { ...NOTHING, actions: forgetting(probed) };
  const mark = canonicalJson(listeners);
  if (listeners.every(({ endpoints }) => endpoints.length === 0)) {
    const statuses = wasExposed(anchor) ? [statusOf(anchor, [], [])] : [];
    return { ...NOTHING, actions: forgetting(probed), statuses };
  }
  const inMs = probeInMs(probed, mark, now);
  // What was found of something else says nothing about this.
  const verdicts = probed?.mark === mark ? probed.verdicts : undefined;
  const vantages = anchor.status?.vantages;
  return {
    ...NOTHING,
    actions: inMs === 0 ? [{ listeners, mark }] : [],
    statuses: verdicts
      ? [statusOf(anchor, verdicts, outsideConditions({ ...observed, listeners, verdicts, vantages }))]
      : [],
    lookAgainInMs: inMs,
  };
}

/** A look at nothing: what was reported of endpoints is reported no more. */
const forgetting = (probed: Probed | undefined): ProbePlan['actions'] =>
  (probed?.verdicts ?? []).length > 0 ? [{ listeners: [], mark: '' }] : [];

const wasExposed = ({ status }: ProbeAnchor) =>
  (status?.exposed ?? []).length + (status?.conditions ?? []).length > 0;

function statusOf(
  { kind, metadata: { namespace, name } }: ProbeAnchor,
  verdicts: readonly Verdict[],
  conditions: ReturnType<typeof outsideConditions>,
): PlannedStatus {
  const exposed = verdicts.map(({ isPropagated: _, isReached: reached, failed, problem, ...told }) => ({
    ...told,
    reached,
    ...(failed !== undefined && { failed }),
    ...(problem !== undefined && { problem }),
  }));
  return { kind, namespace, name, status: { exposed, conditions }, keepsRest: true };
}
