/**
 * A map for a hundred thousand keys and more. A Map that is full is copied at once into one of twice the size, which takes milliseconds then,
 * and maps with the same keys do so in the same moment; this one is in parts that grow one by one. It keeps no order.
 */
export interface ShardedMap<V> {
  readonly size: number;
  get(key: string): V | undefined;
  has(key: string): boolean;
  set(key: string, value: V): void;
  delete(key: string): boolean;
  /** It comes to an end however fast keys are added meanwhile; those that are may be left out. */
  keys(): Iterable<string>;
  values(): Iterable<V>;
  [Symbol.iterator](): Iterator<[string, V]>;
}

const SHARDS = 64;

export function createShardedMap<V>(): ShardedMap<V> {
  const shards = Array.from({ length: SHARDS }, () => new Map<string, V>());
  const shardOf = (key: string) => shards[hashOf(key) & (SHARDS - 1)]!;
  return {
    get size() {
      return shards.reduce((sum, shard) => sum + shard.size, 0);
    },
    get: (key) => shardOf(key).get(key),
    has: (key) => shardOf(key).has(key),
    set: (key, value) => void shardOf(key).set(key, value),
    delete: (key) => shardOf(key).delete(key),
    *keys() {
      for (const shard of shards) yield* Array.from(shard.keys());
    },
    *values() {
      for (const shard of shards) yield* shard.values();
    },
    *[Symbol.iterator]() {
      for (const shard of shards) yield* shard;
    },
  };
}

function hashOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash, 31) + key.charCodeAt(i);
  return hash ^ (hash >>> 11);
}
