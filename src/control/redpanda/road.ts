/** The road of Redpanda clusters that we run: a Cluster becomes a StatefulSet of brokers, which are restarted one at a time. */
import type { Client } from '../../kube/http/client.ts';
import { keyOf } from '../../kube/object.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { resolverFor } from '../../probe/resolve.ts';
import { promisedAlso, promisesOf } from '../brokers/expose/promised.ts';
import type { Promises } from '../brokers/expose/promised.ts';
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
  /** Names that this road and others give out. */
  promised: Promises;
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

export function redpandaReconciler(
  { settings, client, log, promised }: Omit<RedpandaRoadOptions, 'metrics'>,
  { watched, events }: Pick<RoadContext<RedpandaViews>, 'watched' | 'events'>,
  told: Map<string, readonly ToldListener[]>,
): Reconciler<Observed, RedpandaPlan, never, Acted> {
  const promises = promisesOf(promised, 'Redpanda cluster');
  return {
    observe: (key, acted, now) => observeCluster(watched, key, { acted, now, promised }),
    plan(observed, learned) {
      const plan = planRedpanda(observed, settings, learned);
      const key = keyOf(observed);
      const isGone = !observed.cluster && observed.problem === undefined;
      if (isGone) told.delete(key);
      else if (plan.told) told.set(key, plan.told);
      // A plan in whose way others are is not carried out.
      if (isGone || learned.taken.size > 0) promises.delete(key);
      else if (plan.names)
        promises.set(key, promisedAlso(promises.get(key), recordVersion(observed), plan.names));
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

/** Of what names are written down in. */
const recordVersion = ({ hasAnchors, anchor, statefulSet }: Observed): string | undefined =>
  (hasAnchors ? anchor : statefulSet)?.metadata.resourceVersion;
