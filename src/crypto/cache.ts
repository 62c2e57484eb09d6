import { BoundedMap } from '../ops/bounded-map.ts';

/** A bounded cache that loads what it lacks, once however many ask at the same time, and lets go of what has expired. */
export interface LoadingCache<V> {
  /** The value, at once if it is there and fresh. */
  get(key: string): V | Promise<V>;
  /** Forgets a value, if it is still this one. */
  drop(key: string, value: V): void;
  /** Lets go of everything that has expired. */
  sweep(): void;
  clear(): void;
}

export interface CacheOptions<V> {
  load: (key: string) => Promise<V>;
  /** How long a value may be used, counted from its loading, or from its last use if `fromLastUse`. */
  lifetimeMs: (value: V) => number;
  fromLastUse?: boolean;
  /** From this age on, a value is still given out but a new one is fetched meanwhile. */
  refreshAfterMs?: (value: V) => number;
  /** How long whoever asks gets the error of a load that failed, instead of another load. */
  failureMs?: number;
  maxSize: number;
  onEvict?: (value: V) => void;
  now?: () => number;
}

interface Entry<V> {
  value: V;
  loadedAt: number;
  usedAt: number;
}

export function createCache<V>(options: CacheOptions<V>): LoadingCache<V> {
  const { load, lifetimeMs, fromLastUse = false, refreshAfterMs, failureMs = 0 } = options;
  const { maxSize, onEvict, now = Date.now } = options;
  const entries = new Map<string, Entry<V>>(); // in the order of last use
  const loading = new Map<string, Promise<V>>();
  const failed = new BoundedMap<string, { error: unknown; at: number }>(maxSize);

  function evict(key: string, entry: Entry<V>): void {
    entries.delete(key);
    onEvict?.(entry.value);
  }

  function hasExpired(entry: Entry<V>): boolean {
    return now() - (fromLastUse ? entry.usedAt : entry.loadedAt) >= lifetimeMs(entry.value);
  }

  function keep(key: string, value: V): void {
    const before = entries.get(key);
    if (before) evict(key, before);
    entries.set(key, { value, loadedAt: now(), usedAt: now() });
    for (const [oldest, entry] of entries) {
      if (entries.size <= maxSize) break;
      evict(oldest, entry);
    }
  }

  async function loadAndKeep(key: string): Promise<V> {
    try {
      const value = await load(key);
      keep(key, value);
      return value;
    } catch (error) {
      if (failureMs > 0) failed.set(key, { error, at: now() });
      throw error;
    }
  }

  function fetchOnce(key: string): Promise<V> {
    const pending = loading.get(key);
    if (pending) return pending;
    const failure = failed.get(key);
    if (failure && now() - failure.at < failureMs) return Promise.reject(failure.error);
    failed.delete(key);
    const started = loadAndKeep(key).finally(() => loading.delete(key));
    loading.set(key, started);
    return started;
  }

  function use(key: string, entry: Entry<V>): V {
    entry.usedAt = now();
    entries.delete(key);
    entries.set(key, entry);
    if (refreshAfterMs !== undefined && entry.usedAt - entry.loadedAt >= refreshAfterMs(entry.value)) {
      fetchOnce(key).catch(() => {}); // the old value serves until it expires; whoever asks then sees the error
    }
    return entry.value;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry && !hasExpired(entry)) return use(key, entry);
      if (entry) evict(key, entry);
      return fetchOnce(key);
    },
    drop(key, value) {
      const entry = entries.get(key);
      if (entry?.value === value) evict(key, entry);
    },
    sweep() {
      for (const [key, entry] of entries) if (hasExpired(entry)) evict(key, entry);
    },
    clear() {
      for (const [key, entry] of entries) evict(key, entry);
    },
  };
}
