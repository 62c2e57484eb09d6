/** One cache over some namespaces, or over all: whoever reads need not know how many there are. */
import type { Cache, CacheOptions, Subscription } from '../../kube/cache/cache.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { nameOfKey } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';

/** The cache of a kind in the namespaces that are watched; in all if none are named. */
export function namespacedCache(
  cluster: Cluster,
  options: Omit<CacheOptions<AnyObject>, 'namespace'>,
  namespaces: readonly string[],
): Cache {
  if (namespaces.length === 0) return cluster.cache(options);
  const members = new Map(
    namespaces.map((namespace) => [namespace, cluster.cache({ ...options, namespace })] as const),
  );
  return unionOf(options.type, members);
}

function unionOf(type: Cache['type'], members: ReadonlyMap<string, Cache>): Cache {
  const all = [...members.values()];
  const sum = (of: (cache: Cache) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    type,
    synced: Promise.all(all.map(({ synced }) => synced)).then(() => undefined),
    get isSynced() {
      return all.every(({ isSynced }) => isSynced);
    },
    answered: Promise.all(all.map(({ answered }) => answered)).then(() => undefined),
    get isForbidden() {
      return all.some(({ isForbidden }) => isForbidden);
    },
    get size() {
      return sum(({ size }) => size);
    },
    get lastEventAt() {
      const times = all.flatMap(({ lastEventAt }) => lastEventAt ?? []);
      return times.length > 0 ? Math.max(...times) : undefined;
    },
    get problem() {
      return all.find(({ problem }) => problem !== undefined)?.problem;
    },
    get lists() {
      return sum(({ lists }) => lists);
    },
    get: (key) => members.get(nameOfKey(key).namespace ?? '')?.get(key),
    list: (namespace) =>
      namespace === undefined ? all.flatMap((one) => one.list()) : (members.get(namespace)?.list() ?? []),
    find: (index, value) => all.flatMap((one) => one.find(index, value)),
    addIndex(name, valuesOf) {
      for (const one of all) one.addIndex(name, valuesOf);
    },
    subscribe(notify, subscription?: Subscription<AnyObject>) {
      const ends = all.map((one) => one.subscribe(notify, subscription));
      return () => {
        for (const end of ends) end();
      };
    },
    restart() {
      for (const one of all) one.restart();
    },
    async stop() {
      await Promise.all(all.map((one) => one.stop()));
    },
  };
}
