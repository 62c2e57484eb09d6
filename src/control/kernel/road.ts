/** A road at work: its watches, its controllers and what wakes them, started, synced and stopped in one place for all roads. */
import { systemClock } from '../../kube/clock.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { createController } from '../../kube/controller/controller.ts';
import type { Controller, ControllerOptions } from '../../kube/controller/controller.ts';
import type { AnyObject } from '../../kube/object.ts';
import { createEventRecorder } from '../../kube/write/events.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import { aborted } from '../../ops/abort.ts';
import { IsthmusError } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { EventRules } from './events.ts';
import { createRoadMetrics } from './metrics.ts';
import type { RoadMetrics } from './metrics.ts';
import { LOCAL } from './plan.ts';
import type { StatusName } from './plan.ts';
import type { ReconcileContext } from './reconcile.ts';
import { createStatusWriter } from './status.ts';
import { createTargets } from './targets.ts';
import type { TargetCluster } from './targets.ts';
import { openWatches, rowsOf, wakeOnChange } from './watches.ts';
import type { Wake, WatchTable, Watched } from './watches.ts';

/** What a road is: the kinds it has to do with, and how it decides about its keys. */
export interface Road<V extends object> {
  name: string;
  watches: WatchTable<V>;
  /** Which changes of a status are worth an event. */
  events?: EventRules;
  /** By the names that the rows of `watches` wake them by. */
  controllers(context: RoadContext<V>): Record<string, RoadController>;
  /** By controller: all keys that an optional kind may concern, once the cluster has it. */
  everyKey?: Readonly<Record<string, (views: V) => Iterable<string>>>;
}

export type RoadController = Pick<ControllerOptions, 'reconcile' | 'concurrency'>;

/** What the controllers of a road work with, for one term of leadership. */
export interface RoadContext<V> extends Required<ReconcileContext> {
  watched: Watched<V>;
  /** Tells of what was done; statuses tell of themselves. */
  events: EventRecorder;
  metrics: RoadMetrics;
}

export interface RoadOptions {
  cluster: Cluster;
  /** The only namespaces to look into; all if there are none. */
  namespaces?: readonly string[];
  log: Log;
  metrics: Metrics;
  clock?: Clock;
}

/** Works until the signal is aborted, and then finishes what it is at. */
export async function runRoad<V extends object>(
  road: Road<V>,
  options: RoadOptions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, namespaces = [], clock = systemClock } = options;
  const log = options.log.child({ road: road.name });
  const client = () => cluster.client;
  const metrics = createRoadMetrics(options.metrics, road.name);
  const watched = openWatches(road.watches, { cluster, namespaces, log, clock });
  const events = createEventRecorder({ client, reportingController: `isthmus.${road.name}`, log });
  const local: TargetCluster = {
    client,
    cacheOf: (type) => watched.cacheOf(type),
    wrote: (object, before) => watched.wrote(object, before),
    isComplete: (type) => watched.isComplete(type),
    ownedTypes: () => watched.ownedTypes(),
  };
  const targets = createTargets((name) => (name === LOCAL ? local : unknownCluster(name)), metrics);
  const find = (name: StatusName) => findLive(road.watches, watched, name);
  const statuses = createStatusWriter({ client, find, events, rules: road.events, metrics });
  const controllers = Object.entries(
    road.controllers({ watched, targets, statuses, events, metrics, clock }),
  ).map(
    ([name, controller]) =>
      [name, createController({ ...controller, name, log, metrics: options.metrics, clock })] as const,
  );
  const wakes = Object.fromEntries(controllers.map(([name, { enqueue }]) => [name, enqueue]));
  wakeOnChange(road.watches, watched, wakes);
  wakeWaiting(watched, (object) => targets.waiterFor(object), Object.values(wakes));
  wakeAllOnDiscovery(road, watched, wakes);
  try {
    await watched.synced(signal);
    if (signal.aborted) return;
    log.info('caches are synced, controllers start');
    for (const [, controller] of controllers) controller.start();
    await aborted(signal);
  } finally {
    watched.stop();
    await Promise.all(controllers.map(([, controller]: readonly [string, Controller]) => controller.stop()));
    await events.stop();
  }
}

function unknownCluster(name: string): never {
  throw new IsthmusError('CLUSTER_UNKNOWN', name);
}

/** The object that a status is about. */
function findLive<V extends object>(
  table: WatchTable<V>,
  watched: Watched<V>,
  { kind, namespace, name }: StatusName,
): AnyObject | undefined {
  const row = rowsOf(table).find(([, watch]) => watch.writesStatus && watch.kind.kind === kind);
  return (
    row &&
    watched
      .caches()
      .get(row[0])
      ?.get(namespace === '' ? name : `${namespace}/${name}`)
  );
}

/** A name that someone else had may be free when that object changes. */
function wakeWaiting<V extends object>(
  watched: Watched<V>,
  waiterFor: (object: AnyObject) => string | undefined,
  wakes: readonly Wake[],
): void {
  watched.onOpen((_name, cache) => {
    const keysOf = (object: AnyObject) => [waiterFor(object) ?? []].flat();
    const ends = wakes.map((wake) => cache.subscribe(wake, { keysOf }));
    return () => {
      for (const end of ends) end();
    };
  });
}

/** A kind that has come makes possible what was not. */
function wakeAllOnDiscovery<V extends object>(
  { watches, everyKey = {} }: Road<V>,
  watched: Watched<V>,
  wakes: Readonly<Record<string, Wake>>,
): void {
  watched.onOpen((name) => {
    if (watches[name].optional)
      for (const [controller, keysOf] of Object.entries(everyKey))
        for (const key of keysOf(watched.views)) wakes[controller]?.(key);
    return () => {};
  });
}
