/**
 * How the road keeps an eye on what clients outside meet: it probes what they are told, now and then, and says in the status of the
 * KafkaAnchor how far it came. The Kafka takes its conditions from there; whether it is ready does not depend on them.
 */
import { canonicalJson } from '../../../kube/json.ts';
import { keyOf, nameOfKey } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import type { Resolve } from '../../../probe/resolve.ts';
import { kafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { KafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { Plan, PlannedStatus } from '../../kernel/plan.ts';
import { read } from '../../kernel/read.ts';
import type { Reconciler } from '../../kernel/reconcile.ts';
import type { Watched } from '../../kernel/watches.ts';
import { dnsEndpointName } from '../expose/names.ts';
import type { ToldListener } from '../expose/told.ts';
import { isManaged } from '../front/kafka.ts';
import { anchorName, clientsCaCertName, clientsCaName, trustBundleName } from '../model/names.ts';
import type { KafkaViews } from '../watches.ts';
import { createLook } from './look.ts';
import { probeReporter } from './metrics.ts';
import { probeInMs } from './pace.ts';
import type { LastProbe } from './pace.ts';
import { outsideConditions } from './verdict.ts';
import type { Publisher, Verdict } from './verdict.ts';

export interface ProbeReconcilerOptions {
  caches: Watched<KafkaViews>;
  /** By key of a Kafka: what its clients outside are told, as it was last planned. */
  told: ReadonlyMap<string, readonly ToldListener[]>;
  /** As a client outside would. */
  resolve: Resolve;
  /** Networks of special addresses that are probed all the same. */
  networks?: readonly string[] | undefined;
  metrics: Metrics;
}

/** What a probe has brought. */
export interface Probed extends LastProbe {
  verdicts: readonly Verdict[];
}

export interface ProbeObserved {
  /** Undefined as long as nobody has planned it. */
  listeners: readonly ToldListener[] | undefined;
  /** Whether there is a Kafka that will be planned. */
  isExpected: boolean;
  anchor: KafkaAnchor | undefined;
  publisher: Publisher;
  probed: Probed | undefined;
  now: number;
}

type ProbePlan = Plan<{ listeners: readonly ToldListener[]; mark: string }>;

const NOTHING: ProbePlan = { persist: [], targets: [], actions: [], statuses: [], lookAgainInMs: undefined };
const UNPLANNED_MS = 2000;

export function probeReconciler(
  options: ProbeReconcilerOptions,
): Reconciler<ProbeObserved, ProbePlan, never, Probed> {
  const { caches, told, metrics } = options;
  const { views } = caches;
  const look = createLook(options.resolve, options.networks);
  const report = probeReporter(metrics);
  return {
    load(key, signal) {
      const { namespace, name } = nameOfKey(key);
      const isTls = told.get(key)?.some(({ tls }) => tls) ?? false;
      const names = [trustBundleName(name), clientsCaName(name), clientsCaCertName(name)];
      const secrets = isTls ? names.map((secret) => keyOf({ namespace, name: secret })) : [];
      return caches.load(`kafka-probe ${key}`, { secrets }, signal);
    },
    observe(key, probed, now) {
      const { namespace, name } = nameOfKey(key);
      const listeners = told.get(key);
      const kafka = views.kafkas?.get(key);
      const anchor = views.anchors?.get(keyOf({ namespace, name: anchorName(name) }));
      const endpoints = (listeners ?? []).flatMap(
        (one) => views.dnsEndpoints?.get(keyOf({ namespace, name: dnsEndpointName(name, one.name) })) ?? [],
      );
      return {
        listeners,
        isExpected: kafka !== undefined && isManaged(kafka),
        anchor: anchor && read(kafkaAnchor, anchor).resource,
        publisher: !views.dnsEndpoints ? 'none' : endpoints.every(isTakenUp) ? 'up to date' : 'behind',
        probed,
        now,
      };
    },
    plan: planProbe,
    async act({ key, plan: { actions }, before, now }) {
      const [action] = actions;
      if (!action) return { acted: before };
      const { namespace = '', name } = nameOfKey(key);
      const secretOf = (secret: string) => views.secrets.get(keyOf({ namespace, name: secret }));
      const { listeners, mark } = action;
      const reported = await look({ cluster: { namespace, name }, listeners, secretOf, now });
      report(key, reported, now);
      const verdicts = reported.map(({ verdict }) => verdict);
      const isBroken = verdicts.some(({ failed }) => failed !== undefined);
      const since = before?.mark === mark ? (before.brokenSince ?? now) : now;
      return { acted: { at: now, mark, verdicts, brokenSince: isBroken ? since : undefined } };
    },
  };
}

/** external-dns writes down which generation it has seen. */
function isTakenUp({ metadata, status }: AnyObject): boolean {
  const { observedGeneration = 0 } = (status ?? {}) as { observedGeneration?: number };
  return observedGeneration >= (metadata.generation ?? 1);
}

/** Decides whether to probe, and what to say. Pure. */
export function planProbe(observed: ProbeObserved): ProbePlan {
  const { listeners, isExpected, anchor, probed, now } = observed;
  if (!anchor) return NOTHING;
  if (!listeners) return isExpected ? { ...NOTHING, lookAgainInMs: UNPLANNED_MS } : NOTHING;
  const mark = canonicalJson(listeners);
  const endpoints = listeners.flatMap((one) => one.endpoints);
  if (endpoints.length === 0)
    return { ...NOTHING, statuses: wasExposed(anchor) ? [statusOf(anchor, [], [])] : [] };
  const inMs = probeInMs(probed, mark, now);
  // What was found of something else says nothing about this.
  const verdicts = probed?.mark === mark ? probed.verdicts : undefined;
  return {
    ...NOTHING,
    actions: inMs === 0 ? [{ listeners, mark }] : [],
    statuses: verdicts
      ? [statusOf(anchor, verdicts, outsideConditions(listeners, verdicts, observed.publisher))]
      : [],
    lookAgainInMs: inMs,
  };
}

const wasExposed = ({ status }: KafkaAnchor) =>
  (status?.exposed ?? []).length + (status?.conditions ?? []).length > 0;

function statusOf(
  { metadata: { namespace, name } }: KafkaAnchor,
  verdicts: readonly Verdict[],
  conditions: ReturnType<typeof outsideConditions>,
): PlannedStatus {
  const exposed = verdicts.map(({ isPropagated: _, isReached: reached, failed, problem, ...told }) => ({
    ...told,
    reached,
    ...(failed !== undefined && { failed }),
    ...(problem !== undefined && { problem }),
  }));
  return { kind: 'KafkaAnchor', namespace, name, status: { exposed, conditions }, keepsRest: true };
}
