/**
 * The pod-sets road: keeps the pods of StrimziPodSets alive, in whichever cluster it runs, with no Kafka resource there, and tells
 * brokers' pods about the nodes that they are on.
 */
import type { Client } from '../../kube/http/client.ts';
import { reconcileBy } from '../kernel/reconcile.ts';
import type { Reconciler } from '../kernel/reconcile.ts';
import type { Road, RoadController } from '../kernel/road.ts';
import { VERSION } from '../../ops/version.ts';
import { createActor } from './act.ts';
import type { Act } from './act.ts';
import { POD_SET_EVENTS } from './faults.ts';
import { observePodSet } from './observe.ts';
import type { Observed, PodSetCaches, Refusals } from './observe.ts';
import { everyAnchored, observeLatency, planLatency, withSamples } from './latency.ts';
import type { LatencyActed, LatencyPlan, ObservedLatency } from './latency.ts';
import { measurePeers } from './measure.ts';
import { planPodSet } from './plan.ts';
import { observeToldPod, planToldPod } from './told-pod.ts';
import type { ObservedPod } from './told-pod.ts';
import type { PodSetPlan } from './plan.ts';
import { POD_SET_WATCHES, everySet, everyToldPod } from './watches.ts';
import type { PodSetViews } from './watches.ts';

/** Sets mostly wait for the API server. */
const SETS_AT_ONCE = 8;

export function podSetRoad(client: () => Client): Road<PodSetViews> {
  return {
    name: 'pod-sets',
    watches: POD_SET_WATCHES,
    events: POD_SET_EVENTS,
    everyKey: { 'pod-set': everySet, 'told-pod': everyToldPod, latency: everyAnchored },
    controllers: (context) => {
      const { watched, events, metrics } = context;
      const act = createActor({ client, events, metrics });
      const controller = (reconcile: RoadController['reconcile']) => ({
        concurrency: SETS_AT_ONCE,
        reconcile,
      });
      return {
        'pod-set': controller(reconcileBy(podSetReconciler(watched, act), context)),
        'told-pod': controller(reconcileBy(toldPodReconciler(watched, act), context)),
        latency: controller(reconcileBy(latencyReconciler(watched), context)),
      };
    },
  };
}

function podSetReconciler(caches: PodSetCaches, act: Act): Reconciler<Observed, PodSetPlan, never, Refusals> {
  return {
    observe: (key, refusals = new Map(), now) => observePodSet(caches, key, refusals, now),
    plan: planPodSet,
    act: async ({ plan }, signal) => (plan.set ? act(plan.set, plan.actions, signal) : { acted: undefined }),
  };
}

function toldPodReconciler(
  { views }: PodSetCaches,
  act: Act,
): Reconciler<ObservedPod, PodSetPlan, never, Refusals> {
  return {
    observe: (key) => observeToldPod(views, key),
    plan: planToldPod,
    act: async ({ plan }, signal) => (plan.set ? act(plan.set, plan.actions, signal) : { acted: undefined }),
  };
}

function latencyReconciler({
  views,
}: PodSetCaches): Reconciler<ObservedLatency, LatencyPlan, never, LatencyActed> {
  return {
    observe: (key, measured, now) => observeLatency(views, key, measured, VERSION, now),
    plan: planLatency,
    async act({ plan: { actions }, before, now }, signal) {
      const [action] = actions;
      if (!action) return { acted: before };
      const samples = await measurePeers(action.peers, signal);
      const measured = withSamples(before?.measured ?? new Map(), action.peers, samples);
      return { acted: { at: now, since: before?.since ?? now, measured } };
    },
  };
}
