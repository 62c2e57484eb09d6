/**
 * Other clusters that a road follows: the same kinds in each of them, from when it is joined until it leaves. One that does not answer
 * keeps what was last seen of it, and holds up nobody.
 */
import type { Cache } from '../../kube/cache/cache.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Cluster } from '../../kube/cluster.ts';
import type { Clusters } from '../../kube/clusters.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { TargetCluster } from './targets.ts';
import { openWatches, rowsOf, wakeOnChange } from './watches.ts';
import type { Wake, WatchTable, Watched } from './watches.ts';

/** Whether a cluster can be worked with now; if not, since when and why. */
export type Sight =
  | { isSeen: true; since?: never; problem?: never }
  | { isSeen: false; since: number; problem: string };

export interface Remote<R> {
  readonly name: string;
  readonly cluster: Cluster;
  readonly watched: Watched<R>;
  readonly sight: Sight;
}

export interface Remotes<R> {
  /** By name; also those that cannot be followed. */
  names(): string[];
  get(name: string): Remote<R> | undefined;
  /** As a cluster that objects are made in. */
  targetOf(name: string): TargetCluster | undefined;
  stop(): void;
}

export interface RemotesOptions<R extends object> {
  /** Those that are joined; the one under `local` is not one of them. */
  clusters: Clusters;
  local: Cluster;
  table: WatchTable<R>;
  /** The only namespaces of a cluster to look into; all if there are none. */
  namespacesOf: (cluster: string) => readonly string[];
  /** Has a controller look at a key that changed there. */
  wake: (controller: string, key: string) => void;
  /** Called with the name of a cluster that has come, gone, been read, or become seen or unseen. */
  onChange: (name: string) => void;
  log: Log;
  clock: Clock;
}

/** A server that stands still is noticed within twice this time. */
const LOOK_EVERY_MS = 3000;
const PROBE_TIMEOUT_MS = 3000;
/** While it is waited for. */
const RETRY_MS = 500;

export function openRemotes<R extends object>(options: RemotesOptions<R>): Remotes<R> {
  const { clusters, local, onChange, log } = options;
  const members = new Map<string, Member<R>>();
  const update = (name: string): void => {
    const isThere = name !== local.name && clusters.names().includes(name);
    const known = members.get(name);
    if (known && !isThere) {
      members.delete(name);
      known.close();
    } else if (isThere && !known) {
      try {
        members.set(name, openMember(clusters.get(name), options));
      } catch (error) {
        // Its kubeconfig is of no use; a better one makes itself known here.
        log.warn({ cluster: name, problem: messageOf(error) }, 'cluster cannot be followed');
      }
    }
    onChange(name);
  };
  const end = clusters.subscribe(update);
  return {
    names: () => clusters.names().filter((name) => name !== local.name),
    get: (name) => members.get(name)?.remote,
    targetOf(name) {
      const { cluster, watched } = members.get(name)?.remote ?? {};
      return cluster && watched && targetClusterOf(cluster, watched);
    },
    stop() {
      end();
      for (const member of members.values()) member.close();
      members.clear();
    },
  };
}

/** A cluster that is followed, as writers see it. */
export const targetClusterOf = <V>(cluster: Cluster, watched: Watched<V>): TargetCluster => ({
  client: () => cluster.client,
  cacheOf: (type) => watched.cacheOf(type),
  wrote: (object, before) => watched.wrote(object, before),
  isComplete: (type) => watched.isComplete(type),
  ownedTypes: () => watched.ownedTypes(),
});

interface Member<R> {
  remote: Remote<R>;
  close(): void;
}

function openMember<R extends object>(
  cluster: Cluster,
  { table, namespacesOf, wake, onChange, clock, ...options }: RemotesOptions<R>,
): Member<R> {
  const log = options.log.child({ cluster: cluster.name });
  const watched = openWatches(table, { cluster, namespaces: namespacesOf(cluster.name), log, clock });
  const ended = new AbortController();
  const { signal } = ended;
  const followed = () =>
    [...watched.caches()].flatMap(([name, cache]) => (table[name].dispensable ? [] : [cache]));
  let isRead = false;
  /** How often each kind had been listed when the cluster answered again: what was seen before may be of another time. */
  let before: Map<Cache, number> | undefined;
  let sight: Sight = { isSeen: false, since: clock.wallTime(), problem: 'it has not answered yet' };
  wakeOnChange(table, watched, wakesOf(table, wake));
  void watched.discovered.then(() => (isRead = true));

  /** Why it cannot be worked with. */
  async function problemNow(): Promise<string | undefined> {
    const reached = await cluster.probe(PROBE_TIMEOUT_MS);
    const failing = followed().find(({ problem }) => problem !== undefined)?.problem;
    if (reached.state === 'unreachable') {
      before = undefined;
      return reached.problem;
    }
    if (!isRead) return failing ?? 'it is being read';
    if (!sight.isSeen && !before) {
      before = new Map(followed().map((cache) => [cache, cache.lists]));
      for (const cache of followed()) cache.restart();
    }
    const isOld = [...(before ?? [])].some(([cache, lists]) => cache.lists === lists);
    return failing ?? (isOld ? 'it is being read again' : undefined);
  }

  async function look(): Promise<void> {
    while (!signal.aborted) {
      const problem = await problemNow();
      if (signal.aborted) return;
      const wasSeen = sight.isSeen;
      if (problem === undefined) sight = { isSeen: true };
      else sight = { isSeen: false, since: sight.since ?? clock.wallTime(), problem };
      if (sight.isSeen) before = undefined;
      if (sight.isSeen !== wasSeen) {
        if (sight.isSeen) log.info('cluster can be worked with');
        else log.warn({ problem }, 'cluster cannot be worked with');
        onChange(cluster.name);
      }
      await clock.wait(sight.isSeen ? LOOK_EVERY_MS : RETRY_MS, signal);
    }
  }
  void look();
  return {
    remote: {
      name: cluster.name,
      cluster,
      watched,
      get sight() {
        return sight;
      },
    },
    close() {
      ended.abort();
      watched.stop();
    },
  };
}

/** By the controllers that the rows of a table name. */
function wakesOf<R>(
  table: WatchTable<R>,
  wake: (controller: string, key: string) => void,
): Record<string, Wake> {
  const names = rowsOf(table).flatMap(([, { wakes = {} }]) => Object.keys(wakes));
  return Object.fromEntries(names.map((name) => [name, (key: string) => wake(name, key)]));
}
