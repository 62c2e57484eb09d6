/** The road of Redpanda clusters that we run: a Cluster becomes a StatefulSet of brokers, which are restarted one at a time. */
import type { Client } from '../../kube/http/client.ts';
import type { Log } from '../../ops/log.ts';
import { reconcileBy } from '../kernel/reconcile.ts';
import type { Reconciler } from '../kernel/reconcile.ts';
import type { Road, RoadContext } from '../kernel/road.ts';
import { act } from './act.ts';
import type { Acted } from './act.ts';
import { REDPANDA_EVENTS } from './faults.ts';
import { observeCluster, podsOf } from './observe.ts';
import type { Observed } from './observe.ts';
import { planRedpanda } from './plan.ts';
import type { RedpandaPlan, RedpandaSettings } from './plan.ts';
import { REDPANDA_WATCHES, everyCluster } from './watches.ts';
import type { RedpandaViews } from './watches.ts';

export interface RedpandaRoadOptions {
  settings: RedpandaSettings;
  client: () => Client;
  log: Log;
}

/** Clusters mostly wait for the API server and for Redpanda. */
const CLUSTERS_AT_ONCE = 8;

export function redpandaRoad(options: RedpandaRoadOptions): Road<RedpandaViews> {
  return {
    name: 'redpanda',
    watches: REDPANDA_WATCHES,
    events: REDPANDA_EVENTS,
    everyKey: { redpanda: everyCluster },
    controllers: (context) => ({
      redpanda: {
        concurrency: CLUSTERS_AT_ONCE,
        reconcile: reconcileBy(redpandaReconciler(options, context), context),
      },
    }),
  };
}

function redpandaReconciler(
  { settings, client, log }: RedpandaRoadOptions,
  { watched, events }: RoadContext<RedpandaViews>,
): Reconciler<Observed, RedpandaPlan, never, Acted> {
  return {
    observe: (key, acted) => observeCluster(watched, key, acted),
    plan: (observed, learned) => planRedpanda(observed, settings, learned),
    avoidsTaken: true,
    act: ({ key, plan }, signal) =>
      act(
        plan.actions,
        {
          client,
          podsOf: () => podsOf(watched.views, key),
          events,
          log: log.child({ object: key }),
          clock: Date.now,
        },
        signal,
      ),
  };
}
