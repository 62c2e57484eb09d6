/** The proxy road at work: caches, controllers, and what wakes them. */
import { referenceOf } from '../../kube/write/apply-decision.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { createEventRecorder } from '../../kube/write/events.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import { createController } from '../../kube/controller/controller.ts';
import type { Controller, Outcome } from '../../kube/controller/controller.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createProxyCaches } from './caches.ts';
import type { ProxyCaches } from './caches.ts';
import { createChecker } from './checks.ts';
import type { Checker, ProxyChecks } from './checks.ts';
import { createFilterReconciler, filtersOf } from './filters.ts';
import { createRoadMetrics } from './metrics.ts';
import type { RoadMetrics } from './metrics.ts';
import type { PlanSettings } from './observed.ts';
import { askByHttp } from './ask-pod.ts';
import type { AskPod } from './ask-pod.ts';
import { createPodTalk } from './pods.ts';
import type { PodTalk } from './pods.ts';
import { createReconciler } from './reconcile.ts';
import { proxyKeyOf } from './sources.ts';
import { proxiesOf } from './triggers.ts';
import { createStatusWriter } from './write-status.ts';

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

/** Who events are from. */
const REPORTING_CONTROLLER = 'isthmus.proxy';

export interface ProxyRoad {
  /** Works until the signal is aborted, and then finishes what it is at. */
  work(signal: AbortSignal): Promise<void>;
}

export function createProxyRoad(options: ProxyRoadOptions): ProxyRoad {
  const { cluster, log, namespaces } = options;
  const parts: Parts = {
    checker: createChecker(options.checks),
    metrics: createRoadMetrics(options.metrics, 'proxy'),
    pods: createPodTalk(() => cluster.client, options.askPod ?? askByHttp, Date.now),
  };

  return {
    async work(signal) {
      const caches = createProxyCaches(cluster, namespaces, log);
      const client = () => cluster.client;
      const events = createEventRecorder({ client, reportingController: REPORTING_CONTROLLER, log });
      const waiting = new Map<string, string>();
      const { proxies, filters } = createControllers(options, parts, caches, events, waiting);
      const unsubscribe = subscribe(caches, proxies, filters, waiting);
      try {
        await until(caches.synced(), signal);
        if (signal.aborted) return;
        log.info({ proxies: caches.sources.proxies.list().length }, 'caches are complete');
        proxies.start();
        filters.start();
        await aborted(signal);
      } finally {
        caches.stop();
        unsubscribe();
        await stopAll([proxies, filters]);
        await events.stop();
      }
    },
  };
}

/** What outlives a term of leadership. */
interface Parts {
  checker: Checker;
  metrics: RoadMetrics;
  pods: PodTalk;
}

function createControllers(
  { cluster, log, image, clusterDomain }: ProxyRoadOptions,
  { checker, metrics, pods }: Parts,
  caches: ProxyCaches,
  events: EventRecorder,
  waiting: Map<string, string>,
): { proxies: Controller; filters: Controller } {
  const writeStatus = createStatusWriter(cluster, events, metrics);
  const settings = { image, clusterDomain };
  const reconcile = createReconciler({
    cluster,
    caches,
    checker,
    pods,
    settings,
    metrics,
    writeStatus,
    waiting,
  });
  return {
    // They mostly wait for the API server.
    proxies: createController({ name: 'proxy', log, concurrency: 8, reconcile: timed(reconcile, metrics) }),
    filters: createController({
      name: 'proxy-filter',
      log,
      reconcile: createFilterReconciler({ sources: caches.sources, checker, writeStatus }),
    }),
  };
}

/** Has every change wake whom it concerns; returns the way to end that. */
function subscribe(
  caches: ProxyCaches,
  proxies: Controller,
  filters: Controller,
  waiting: ReadonlyMap<string, string>,
): () => void {
  const { sources } = caches;
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
  return () => {
    for (const end of ends) end();
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
