import type { Log } from '../../ops/log.ts';
import type { Client } from '../http/client.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { Selection } from '../http/list.ts';
import { keyOf } from '../object.ts';
import type { AnyObject, KubeObject, ResourceType } from '../object.ts';
import { runReflector } from './reflector.ts';
import type { Listener } from './reflector.ts';
import { createStore } from './store.ts';
import type { Change, IndexFunction } from './store.ts';

export interface CacheOptions<T extends KubeObject> extends Selection {
  type: ResourceType;
  /** What to keep of an object; memory is spent on what is kept. */
  trim?: ((object: T) => T) | undefined;
  /** See `watch.ts`; for networks that swallow connections faster or slower than usual. */
  silenceMs?: number | undefined;
  openTimeoutMs?: number | undefined;
}

export interface Subscription<T> {
  /** The keys to wake when an object changes: its own if not given. Called with the object before and after. */
  keysOf?: (object: T) => Iterable<string>;
  /** Whether a change is worth waking anybody for. */
  when?: (change: Change<T>) => boolean;
}

/**
 * The objects of one kind in one cluster, kept up to date. Objects handed out are shared: read them, never change them.
 * Whoever subscribes is told keys and nothing else, and must be quick: what to do is decided from the state, later.
 */
export interface Cache<T extends KubeObject = AnyObject> {
  readonly type: ResourceType;
  /** Resolves when the first list is complete; never rejects. */
  readonly synced: Promise<void>;
  readonly isSynced: boolean;
  /** Resolves when the first list is complete, or the server has refused it (403): for kinds that one can do without. */
  readonly answered: Promise<void>;
  /** Whether the server last said that we have no right to it. It is asked again all the same. */
  readonly isForbidden: boolean;
  readonly size: number;
  /** `clock.now()` when the server last said anything; bookmarks count. */
  readonly lastEventAt: number | undefined;
  /** Why the cache cannot be kept up to date at the moment. */
  readonly problem: string | undefined;
  /** How often the whole list was read. */
  readonly lists: number;
  get(key: string): T | undefined;
  list(namespace?: string): T[];
  find(index: string, value: string): T[];
  addIndex(name: string, valuesOf: IndexFunction<T>): void;
  /** Calls `notify` for what is there already, and from then on for what changes. Returns the way to end it. */
  subscribe(notify: (key: string) => void, subscription?: Subscription<T>): () => void;
  /** Reads the list again, e.g. because the client is a new one. */
  restart(): void;
  stop(): Promise<void>;
}

export interface CacheContext {
  /** Asked anew for each list and watch, so that a client may be replaced. */
  client: () => Client;
  log: Log;
  clock?: Clock;
  random?: () => number;
}

/** Drops what takes much memory and is of no use, except the entry of one field manager, by which its own writes are recognised. */
export function trimManagedFields<T extends KubeObject>(fieldManager?: string): (object: T) => T {
  return (object) => {
    const { managedFields, ...metadata } = object.metadata;
    const own = managedFields?.filter(({ manager }) => manager === fieldManager) ?? [];
    return { ...object, metadata: own.length > 0 ? { ...metadata, managedFields: own } : metadata };
  };
}

export function createCache<T extends KubeObject = AnyObject>(
  options: CacheOptions<T>,
  context: CacheContext,
): Cache<T> {
  const { type, trim = (object) => object } = options;
  const { clock = systemClock, random = Math.random, client } = context;
  const log = context.log.child({ kind: type.kind });
  const store = createStore<T>();
  const subscribers = new Set<(change: Change<T>) => void>();
  const synced = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const state = {
    isSynced: false,
    isForbidden: false,
    lists: 0,
    lastEventAt: 0,
    problem: undefined as string | undefined,
  };

  /** Indexes, trims and subscribers are others' code: an object they choke on must not stop the cache. */
  function guard(key: string, step: () => void): void {
    try {
      step();
    } catch (err) {
      log.error({ err, object: key }, 'an object could not be taken in');
    }
  }

  function change(key: string, step: () => Change<T> | undefined): void {
    guard(key, () => {
      const change = step();
      if (change) for (const subscriber of subscribers) guard(key, () => subscriber(change));
    });
  }

  let listed = new Set<string>();
  const listener: Listener<T> = {
    onListStart: () => void (listed = new Set()),
    onListed(object) {
      const key = keyOf(object.metadata);
      listed.add(key);
      change(key, () => store.set(trim(object)));
    },
    *onListEnd() {
      // What went while nobody was looking is not in the list: that is its delete event.
      for (const key of store.keys()) {
        if (!listed.has(key)) change(key, () => store.delete(key));
        yield;
      }
      listed = new Set();
      state.lists += 1;
      state.isSynced = true;
      synced.resolve();
      answered.resolve();
    },
    onEvent(event) {
      if (event.type === 'BOOKMARK') return;
      const key = keyOf(event.object.metadata);
      change(key, () => (event.type === 'DELETED' ? store.delete(key) : store.set(trim(event.object))));
    },
    onHeard: () => void (state.lastEventAt = clock.now()),
    onProblem(problem, isForbidden = false) {
      if (problem !== undefined && problem !== state.problem)
        log.warn({ problem }, 'cache is not up to date');
      if (problem === undefined && state.problem !== undefined) log.info('cache is up to date again');
      state.problem = problem;
      // A server that is gone for a while has not changed its mind.
      state.isForbidden = isForbidden || (state.isForbidden && problem !== undefined);
      if (isForbidden) answered.resolve();
    },
  };
  const reflector = runReflector(options, { client, clock, random, listener });

  return {
    type,
    synced: synced.promise,
    get isSynced() {
      return state.isSynced;
    },
    answered: answered.promise,
    get isForbidden() {
      return state.isForbidden;
    },
    get size() {
      return store.size;
    },
    get lastEventAt() {
      return state.lastEventAt === 0 ? undefined : state.lastEventAt;
    },
    get problem() {
      return state.problem;
    },
    get lists() {
      return state.lists;
    },
    get: (key) => store.get(key),
    list(namespace) {
      const all = [...store.values()];
      return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
    },
    find: (index, value) => store.find(index, value),
    addIndex: (name, valuesOf) => store.addIndex(name, valuesOf),
    subscribe(notify, subscription = {}) {
      const subscriber = subscriberOf(notify, subscription);
      for (const after of store.values())
        subscriber({ key: keyOf(after.metadata), before: undefined, after });
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
    restart: () => reflector.restart(),
    stop: () => reflector.stop(),
  };
}

/** An object that moves from one owner to another wakes both. */
function subscriberOf<T extends KubeObject>(
  notify: (key: string) => void,
  { keysOf, when = () => true }: Subscription<T>,
): (change: Change<T>) => void {
  return (change) => {
    if (!when(change)) return;
    if (!keysOf) return notify(change.key);
    const keys = new Set<string>();
    for (const object of [change.before, change.after])
      if (object) for (const key of keysOf(object)) keys.add(key);
    for (const key of keys) notify(key);
  };
}
