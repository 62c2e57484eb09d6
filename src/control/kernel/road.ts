/** A road at work: its watches, its controllers and what wakes them, started, synced and stopped in one place for all roads. */
import { systemClock } from '../../kube/clock.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { Clusters } from '../../kube/clusters.ts';
import { createController } from '../../kube/controller/controller.ts';
import type { Controller, ControllerOptions } from '../../kube/controller/controller.ts';
import type { AnyObject } from '../../kube/object.ts';
import { createEventRecorder } from '../../kube/write/events.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import { aborted, unlessAborted } from '../../ops/abort.ts';
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
import { openRemotes, targetClusterOf } from './remotes.ts';
import type { Remotes } from './remotes.ts';
import { createTargets } from './targets.ts';
import { openWatches, rowsOf, wakeOnChange } from './watches.ts';
import type { Wake, WatchTable, Watched } from './watches.ts';

/** What a road is: the kinds it has to do with, and how it decides about its keys. */
export interface Road<V extends object, R extends object = object> {
  name: string;
  watches: WatchTable<V>;
  /** The kinds that it has to do with in other clusters, if it has anything to do there. */
  remoteWatches?: WatchTable<R>;
  /** Which changes of a status are worth an event. */
  events?: EventRules;
  /** By the names that the rows of `watches` wake them by. */
  controllers(context: RoadContext<V, R>): Record<string, RoadController>;
  /** By controller: all keys that an optional kind may concern, once the cluster has it. */
  everyKey?: Readonly<Record<string, (views: V) => Iterable<string>>>;
  /** By controller: all keys that have to do with another cluster, by its name, when that comes, goes, or is seen again. */
  everyRemoteKey?: Readonly<Record<string, (views: V, cluster: string) => Iterable<string>>>;
}

export type RoadController = Pick<ControllerOptions, 'reconcile' | 'concurrency'>;

/** What the controllers of a road work with, for one term of leadership. */
export interface RoadContext<V, R = object> extends Required<ReconcileContext> {
  watched: Watched<V>;
  /** Other clusters; undefined where none can be joined. */
  remotes: Remotes<R> | undefined;
  /** Has a controller look at a key. */
  wake: (controller: string, key: string) => void;
  /** Tells of what was done; statuses tell of themselves. */
  events: EventRecorder;
  metrics: RoadMetrics;
}

export interface RoadOptions {
  cluster: Cluster;
  /** The only namespaces to look into; all if there are none. */
  namespaces?: readonly string[];
  /** Other clusters that roads may have to do with. */
  elsewhere?: Elsewhere | undefined;
  log: Log;
  metrics: Metrics;
  clock?: Clock;
}

/** Clusters that are joined with this one. */
export interface Elsewhere {
  clusters: Clusters;
  /** The only namespaces of a cluster to look into; all of them if there are none. */
  namespacesOf(cluster: string): readonly string[];
  /** Resolves when it is known which there are. */
  synced: Promise<void>;
}

/** Works until the signal is aborted, and then finishes what it is at. */
export async function runRoad<V extends object, R extends object>(
  road: Road<V, R>,
  options: RoadOptions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, namespaces = [], clock = systemClock } = options;
  const log = options.log.child({ road: road.name });
  const client = () => cluster.client;
  const metrics = createRoadMetrics(options.metrics, road.name);
  const watched = openWatches(road.watches, { cluster, namespaces, log, clock });
  const events = createEventRecorder({ client, reportingController: `isthmus.${road.name}`, log });
  const wakes: Record<string, Wake> = {};
  const wake = (controller: string, key: string) => wakes[controller]?.(key);
  const remotes = remotesOf(road, watched, { ...options, log, clock }, wake);
  const local = targetClusterOf(cluster, watched);
  const targets = createTargets(
    (name) => (name === LOCAL ? local : (remotes?.targetOf(name) ?? unknownCluster(name))),
    metrics,
  );
  const find = (name: StatusName) => findLive(road.watches, watched, name);
  const statuses = createStatusWriter({ client, find, events, rules: road.events, metrics });
  const controllers = Object.entries(
    road.controllers({ watched, remotes, wake, targets, statuses, events, metrics, clock }),
  ).map(
    ([name, controller]) =>
      [name, createController({ ...controller, name, log, metrics: options.metrics, clock })] as const,
  );
  for (const [name, { enqueue }] of controllers) wakes[name] = enqueue;
  wakeOnChange(road.watches, watched, wakes);
  wakeWaiting(watched, (object) => targets.waiterFor(object), Object.values(wakes));
  wakeAllOnDiscovery(road, watched, wakes);
  try {
    await watched.synced(signal);
    // Nothing may be concluded from the absence of a cluster of which nobody has looked whether it is joined.
    if (remotes) await unlessAborted(options.elsewhere!.synced, signal);
    if (signal.aborted) return;
    log.info('caches are synced, controllers start');
    for (const [, controller] of controllers) controller.start();
    await aborted(signal);
  } finally {
    watched.stop();
    remotes?.stop();
    await Promise.all(controllers.map(([, controller]: readonly [string, Controller]) => controller.stop()));
    await events.stop();
  }
}

/** The other clusters of a road that has to do with any. */
function remotesOf<V extends object, R extends object>(
  { remoteWatches: table, everyRemoteKey = {} }: Road<V, R>,
  watched: Watched<V>,
  options: RoadOptions & Required<Pick<RoadOptions, 'log' | 'clock'>>,
  wake: (controller: string, key: string) => void,
): Remotes<R> | undefined {
  const { elsewhere, cluster: local, namespaces = [], log, clock } = options;
  if (!table || !elsewhere) return undefined;
  const { clusters } = elsewhere;
  const namespacesOf = (name: string) => within(namespaces, elsewhere.namespacesOf(name));
  const onChange = (name: string) => {
    for (const [controller, keysOf] of Object.entries(everyRemoteKey))
      for (const key of keysOf(watched.views, name)) wake(controller, key);
  };
  return openRemotes({ clusters, local, table, namespacesOf, wake, onChange, log, clock });
}

/** Where both may look; no namespaces are all of them. */
const within = (own: readonly string[], theirs: readonly string[]): readonly string[] =>
  own.length === 0 ? theirs : theirs.length === 0 ? own : own.filter((name) => theirs.includes(name));

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
  { watches, everyKey = {} }: Pick<Road<V>, 'watches' | 'everyKey'>,
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
