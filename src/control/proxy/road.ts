/** The proxy road at work: caches, controllers, and what wakes them. */
import { referenceOf } from '../../kube/apply-decision.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { createController } from '../../kube/controller.ts';
import type { Controller, Outcome } from '../../kube/controller.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createProxyCaches } from './caches.ts';
import { createChecker } from './checks.ts';
import type { ProxyChecks } from './checks.ts';
import { createFilterReconciler, filtersOf } from './filters.ts';
import { createRoadMetrics } from './metrics.ts';
import type { RoadMetrics } from './metrics.ts';
import type { PlanSettings } from './observed.ts';
import { askByHttp, createPodTalk } from './pods.ts';
import type { AskPod } from './pods.ts';
import { createReconciler } from './reconcile.ts';
import { proxyKeyOf } from './sources.ts';
import { proxiesOf } from './triggers.ts';

export interface ProxyRoadOptions extends PlanSettings {
  cluster: Cluster;
  metrics: Metrics;
  log: Log;
  /** All if there are none. */
  namespaces: readonly string[];
  /** Without them, what the proxy would refuse is only found out by the proxy. */
  checks?: ProxyChecks | undefined;
  askPod?: AskPod | undefined;
}

export interface ProxyRoad {
  /** Works until the signal is aborted, and then finishes what it is at. */
  work(signal: AbortSignal): Promise<void>;
}

export function createProxyRoad(options: ProxyRoadOptions): ProxyRoad {
  const { cluster, log, namespaces, image, clusterDomain } = options;
  const checker = createChecker(options.checks);
  const metrics = createRoadMetrics(options.metrics, 'proxy');
  const talk = createPodTalk(() => cluster.client, options.askPod ?? askByHttp, Date.now);

  return {
    async work(signal) {
      const caches = createProxyCaches(cluster, namespaces, log);
      const { sources } = caches;
      const settings = { image, clusterDomain };
      const waiting = new Map<string, string>();
      const proxies = createController({
        name: 'proxy',
        log,
        // They mostly wait for the API server.
        concurrency: 8,
        reconcile: timed(
          createReconciler({ cluster, caches, checker, pods: talk, settings, metrics, waiting }),
          metrics,
        ),
      });
      const filters = createController({
        name: 'proxy-filter',
        log,
        reconcile: createFilterReconciler({ cluster, sources, checker, metrics }),
      });
      const ends: (() => void)[] = [];
      caches.onCache((name, cache) => {
        const keysOf = (object: AnyObject) => {
          const waits = waiting.get(referenceOf(object));
          return [...proxiesOf(name, object, sources), ...(waits === undefined ? [] : [waits])];
        };
        ends.push(cache.subscribe(proxies.enqueue, { keysOf }));
        ends.push(cache.subscribe(filters.enqueue, { keysOf: (object) => filtersOf(name, object, sources) }));
        // A kind that has come makes possible what was not: everyone is looked at again.
        const concerned = cache.isSynced ? [sources.virtualClusters, sources.ingresses] : [];
        for (const view of concerned) for (const one of view.list()) proxies.enqueue(proxyKeyOf(one));
      });
      try {
        await until(caches.synced(), signal);
        if (signal.aborted) return;
        log.info({ proxies: sources.proxies.list().length }, 'caches are complete');
        proxies.start();
        filters.start();
        await aborted(signal);
      } finally {
        caches.stop();
        for (const end of ends) end();
        await stopAll([proxies, filters]);
      }
    },
  };
}

async function stopAll(controllers: readonly Controller[]): Promise<void> {
  await Promise.all(controllers.map((controller) => controller.stop()));
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function until(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await Promise.race([work, aborted(signal)]);
}

type Reconcile = (key: string, signal: AbortSignal) => Promise<Outcome>;

function timed(reconcile: Reconcile, metrics: RoadMetrics): Reconcile {
  return async (key, signal) => {
    const started = performance.now();
    let outcome: Outcome['outcome'] = 'error';
    try {
      const result = await reconcile(key, signal);
      ({ outcome } = result);
      return result;
    } finally {
      metrics.reconciled(outcome, (performance.now() - started) / 1000);
    }
  };
}
