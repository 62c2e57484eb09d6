/** The road of Redpanda clusters that we run: a Cluster becomes a StatefulSet of brokers, which are restarted one at a time. */
import type { Client } from '../../kube/http/client.ts';
import { keyOf } from '../../kube/object.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { resolverFor } from '../../probe/resolve.ts';
import type { ToldListener } from '../brokers/expose/told.ts';
import { probeReporter } from '../brokers/probe/metrics.ts';
import { probeReconciler } from '../brokers/probe/reconcile.ts';
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
import { redpandaSource } from './probe-source.ts';
import { REDPANDA_WATCHES, everyCluster } from './watches.ts';
import type { RedpandaViews } from './watches.ts';

export interface RedpandaRoadOptions {
  settings: RedpandaSettings & ProbeSettings;
  client: () => Client;
  metrics: Metrics;
  log: Log;
}

/** Clusters mostly wait for the API server and for Redpanda. */
const CLUSTERS_AT_ONCE = 8;

/** How exposed brokers are probed: see `OperatorOptions`. */
export interface ProbeSettings {
  probeResolver?: string | undefined;
  probeNetworks?: readonly string[] | undefined;
}

/** Of which is kept what their clients are told. */
const MAX_CLUSTERS = 10_000;

export function redpandaRoad(options: RedpandaRoadOptions): Road<RedpandaViews> {
  return {
    name: 'redpanda',
    watches: REDPANDA_WATCHES,
    events: REDPANDA_EVENTS,
    everyKey: { redpanda: everyCluster, 'redpanda-probe': everyCluster },
    controllers: (context) => {
      const told = new BoundedMap<string, readonly ToldListener[]>(MAX_CLUSTERS);
      const concurrency = CLUSTERS_AT_ONCE;
      const reconciler = redpandaReconciler(options, context, told);
      const prober = probeReconciler({
        source: redpandaSource(context.watched.views, eyesOf(options.settings)),
        told,
        report: probeReporter(options.metrics, 'Redpanda'),
      });
      return {
        redpanda: { concurrency, reconcile: reconcileBy(reconciler, context) },
        'redpanda-probe': { concurrency, reconcile: reconcileBy(prober, context) },
      };
    },
  };
}

const eyesOf = ({ probeResolver, probeNetworks }: ProbeSettings) => ({
  resolve: resolverFor(probeResolver),
  networks: probeNetworks,
});

function redpandaReconciler(
  { settings, client, log }: RedpandaRoadOptions,
  { watched, events }: RoadContext<RedpandaViews>,
  told: Map<string, readonly ToldListener[]>,
): Reconciler<Observed, RedpandaPlan, never, Acted> {
  return {
    observe: (key, acted) => observeCluster(watched, key, acted),
    plan(observed, learned) {
      const plan = planRedpanda(observed, settings, learned);
      if (!observed.cluster && observed.problem === undefined) told.delete(keyOf(observed));
      else if (plan.told) told.set(keyOf(observed), plan.told);
      return plan;
    },
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
