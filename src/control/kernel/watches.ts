/** The kinds that a road has to do with: one row a kind, from which caches, triggers, prune kinds and rights are made. */
import { unlessAborted } from '../../ops/abort.ts';
import type { Log } from '../../ops/log.ts';
import { trimManagedFields } from '../../kube/cache/cache.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import { createContents } from '../../kube/cache/contents.ts';
import type { Contents } from '../../kube/cache/contents.ts';
import { openOptionalCache } from '../../kube/cache/optional-cache.ts';
import type { OptionalCache } from '../../kube/cache/optional-cache.ts';
import type { Change, IndexFunction } from '../../kube/cache/store.ts';
import { systemClock } from '../../kube/clock.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject, ResourceType } from '../../kube/object.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import { namespacedCache } from './namespaced-cache.ts';

/** Objects of one kind that can be looked up; a cache, or a folder of files. */
export type View<T extends AnyObject = AnyObject> = Pick<Cache<T>, 'get' | 'list' | 'find'>;

/** A kind as paths and Roles spell it. Its versions are those that may be served, oldest first. */
export interface WatchedKind {
  group: string;
  kind: string;
  plural: string;
  versions: readonly [string, ...string[]];
  scope: 'Namespaced' | 'Cluster';
}

/** One kind; `V` has the views of all kinds of the table, by name. */
export interface Watch<V> {
  kind: WatchedKind;
  /** Whether the cluster may lack it, or get it later. Its view is there when all of it has been read. */
  optional?: boolean;
  /** Of an optional kind: whether to have no right to it is as good as to have none of it; otherwise it is waited for. */
  dispensable?: boolean;
  /** Of an optional kind that is in no namespace: whether an operator of some namespaces follows it, too, and has a right to it. */
  everywhere?: boolean;
  labelSelector?: string;
  fieldSelector?: string;
  /**
   * Whether only the metadata of its objects is followed, and what they hold is read of those alone that a controller needs: for kinds
   * of which a cluster has many, large ones, or ones that are nobody else's business.
   */
  metadataOnly?: boolean;
  /** What is kept in memory; all but others' managed fields if left out. */
  trim?: (object: AnyObject) => AnyObject;
  /** Whether objects of it are made here: then those that are no longer wanted are deleted. */
  owned?: boolean;
  /** Whether what is made of it is never deleted here: it goes with its owner, or stays for good. */
  kept?: boolean;
  /** Whether the cache holds every object of the kind, so that one that is not in it does not exist. */
  complete?: boolean;
  indexes?: Readonly<Record<string, IndexFunction<AnyObject>>>;
  /** By controller: the keys to look at again when an object comes, changes or goes. */
  wakes?: Readonly<Record<string, (object: AnyObject, views: V) => Iterable<string>>>;
  /** Which changes wake anybody; all if left out. */
  when?: (change: Change<AnyObject>) => boolean;
  writesStatus?: boolean;
  /** What else is done with objects of it than to follow them, make them, and write their status. */
  verbs?: readonly string[];
}

/** A row for each view; those that may be absent are of optional kinds. */
export type WatchTable<V> = {
  readonly [N in keyof V]-?: Watch<V> &
    (object extends Pick<V, N> ? { optional: true } : { optional?: false });
};

export type RowName<V> = keyof V & string;

/** The rows of a table with their names, in order. */
export const rowsOf = <V>(table: WatchTable<V>) => Object.entries(table) as [RowName<V>, Watch<V>][];

export const core = (kind: string, plural: string): WatchedKind => builtIn('', kind, plural);

export const builtIn = (group: string, kind: string, plural: string): WatchedKind => ({
  group,
  kind,
  plural,
  versions: ['v1'],
  scope: 'Namespaced',
});

const keepOthers = trimManagedFields<AnyObject>();
/** Keeps the entry of the managed fields by which the writer recognises its own work. */
export const keepOwned = trimManagedFields<AnyObject>(FIELD_MANAGER);

const isPruned = (row: Pick<Watch<never>, 'owned' | 'kept'> | undefined) =>
  row?.owned === true && row.kept !== true;

const trimOf = ({ owned, trim = owned ? keepOwned : keepOthers }: Pick<Watch<never>, 'owned' | 'trim'>) =>
  trim;

/** What a road sees of one cluster. */
export interface Watched<V> {
  readonly views: V;
  /** Optional kinds of which it is not known whether the cluster has them: nothing may be concluded from their absence. */
  readonly undiscovered: ReadonlySet<RowName<V>>;
  /** The version in which a kind is followed; undefined if it is not. */
  versionOf(name: RowName<V>): string | undefined;
  /** The kinds of which objects that were made here are deleted again. */
  ownedTypes(): ResourceType[];
  /** The cache that has all objects of a kind that were made here. */
  cacheOf(type: ResourceType): Cache | undefined;
  /** Whether an object that is not in the cache of its kind does not exist. */
  isComplete(type: ResourceType): boolean;
  /** All that are followed, by name: also an optional kind that may not be read. */
  caches(): Map<RowName<V>, Cache>;
  /**
   * Reads what a controller needs of kinds of which only metadata is followed; from then on the views have it. True if something had
   * to be read, so that the controller may need something else by now.
   */
  load(holder: string, needs: Needs<V>, signal: AbortSignal): Promise<boolean>;
  /** Takes what was written here into the views, where it would have to be read otherwise. See `Contents`. */
  wrote(object: AnyObject, before: string | undefined): void;
  /** Calls for each kind that is followed, at once and when one comes; what it returns ends a subscription. */
  onOpen(notify: (name: RowName<V>, cache: Cache) => () => void): void;
  /** Resolves when all has been read, and of every optional kind it is known whether the cluster has it. */
  readonly discovered: Promise<void>;
  /** The same, but optional kinds are waited for only for a while. */
  synced(signal: AbortSignal): Promise<void>;
  stop(): void;
}

/** By row: the keys of objects whose contents are needed. */
export type Needs<V> = { readonly [N in RowName<V>]?: Iterable<string> };

export interface WatchOptions {
  cluster: Cluster;
  /** The only namespaces to look into; all if there are none. */
  namespaces?: readonly string[];
  log: Log;
  clock?: Clock;
}

/** How long to wait until it is known which optional kinds there are. Who depends on one of which it is not is left alone. */
const DISCOVERY_MS = 15_000;

/** Begins to follow the kinds of a table in one cluster. */
export function openWatches<V extends object>(table: WatchTable<V>, options: WatchOptions): Watched<V> {
  const { cluster, namespaces = [], log, clock = systemClock } = options;
  const rows = new Map(rowsOf(table));
  const caches = new Map<RowName<V>, Cache>();
  const optional = new Map<RowName<V>, OptionalCache>();
  const contents = new Map<RowName<V>, Contents>();
  const views: Partial<Record<RowName<V>, View>> = {};
  const listeners: ((name: RowName<V>, cache: Cache) => () => void)[] = [];
  const ends: (() => void)[] = [];

  function open(row: Watch<V>, type: ResourceType): Cache {
    const { labelSelector, fieldSelector, metadataOnly } = row;
    const wanted = { type, labelSelector, fieldSelector, metadataOnly, trim: trimOf(row) };
    const cache = namespacedCache(cluster, wanted, row.kind.scope === 'Cluster' ? [] : namespaces);
    for (const [index, valuesOf] of Object.entries(row.indexes ?? {})) cache.addIndex(index, valuesOf);
    return cache;
  }

  function viewOf(name: RowName<V>, cache: Cache): View {
    const row = rows.get(name)!;
    if (!row.metadataOnly) return cache;
    const held = createContents(cache, {
      client: () => cluster.client,
      trim: trimOf(row),
      // To take what was made here for gone would be to make it anew.
      isDispensable: !row.owned,
      log,
    });
    contents.set(name, held);
    return {
      get: held.get,
      list: (namespace) => cache.list(namespace),
      find: (index, value) => cache.find(index, value),
    };
  }

  function register(name: RowName<V>, cache: Cache): void {
    views[name] = viewOf(name, cache);
    caches.set(name, cache);
    for (const listener of listeners) ends.push(listener(name, cache));
  }

  for (const [name, row] of rows) {
    const { group, kind, versions, scope } = row.kind;
    if (row.optional)
      optional.set(
        name,
        openOptionalCache({
          client: () => cluster.client,
          kind: row.kind,
          open: (type) => open(row, type),
          isDispensable: row.dispensable ?? false,
          onOpen: (cache) => register(name, cache),
          log,
          clock,
        }),
      );
    // With rights in some namespaces only, what is in none cannot be read.
    else if (scope === 'Cluster' && namespaces.length > 0) views[name] = NOTHING;
    else register(name, open(row, { group, kind, version: versions.at(-1)! }));
  }

  const required = Promise.all([...caches.values()].map(({ synced }) => synced));
  const discoveries = [...optional.values()].map((one) => one.discovered);
  const discovered = Promise.all([required, ...discoveries]).then(() => undefined);
  const opened = () =>
    [...optional].flatMap(([name, { opened: cache }]) => (cache ? [[name, cache] as const] : []));
  const owned = () => [...caches].flatMap(([name, cache]) => (rows.get(name)?.owned ? [cache] : []));
  const pruned = () => [...caches].flatMap(([name, cache]) => (isPruned(rows.get(name)) ? [cache] : []));
  return {
    views: views as V,
    get undiscovered() {
      return new Set([...optional].flatMap(([name, { isDiscovered }]) => (isDiscovered ? [] : [name])));
    },
    versionOf: (name) => caches.get(name)?.type.version,
    ownedTypes: () => pruned().map(({ type }) => type),
    cacheOf: ({ group, kind }) => owned().find(({ type }) => type.kind === kind && type.group === group),
    isComplete: ({ group, kind }) =>
      [...rows.values()].some((row) => row.complete && row.kind.kind === kind && row.kind.group === group),
    caches: () => new Map([...opened(), ...caches]),
    async load(holder, needs, signal) {
      const loads = [...contents].map(([name, held]) => held.load(holder, needs[name] ?? [], signal));
      return (await Promise.all(loads)).includes(true);
    },
    wrote(object, before) {
      for (const [name, held] of contents) {
        const { owned, kind } = rows.get(name)!;
        if (owned && kind.kind === object.kind) held.wrote(object, before);
      }
    },
    onOpen(notify) {
      listeners.push(notify);
      for (const [name, cache] of caches) ends.push(notify(name, cache));
    },
    discovered,
    async synced(signal) {
      if (!(await unlessAborted(required, signal))) return;
      await Promise.race([discovered, clock.wait(DISCOVERY_MS, signal)]);
    },
    stop() {
      for (const one of optional.values()) one.stop();
      for (const end of ends) end();
    },
  };
}

/** Where a controller is told what to look at again. */
export type Wake = (key: string) => void;

/** Has every change wake whom it concerns, by controller. */
export function wakeOnChange<V extends object>(
  table: WatchTable<V>,
  watched: Watched<V>,
  controllers: Readonly<Record<string, Wake>>,
): void {
  watched.onOpen((name, cache) => {
    const { wakes = {}, when = () => true } = table[name] as Watch<V>;
    const ends = Object.entries(wakes).flatMap(([controller, keysOf]) => {
      const wake = controllers[controller];
      if (!wake) return [];
      return [cache.subscribe(wake, { keysOf: (object) => keysOf(object, watched.views), when })];
    });
    return () => {
      for (const end of ends) end();
    };
  });
}

/** Wakes an object's own key. */
export const ownKey = ({ metadata }: AnyObject): string[] => [keyOf(metadata)];

const NOTHING: View = { get: () => undefined, list: () => [], find: () => [] };
