import { keyOf } from '../object.ts';
import type { KubeObject } from '../object.ts';

/** What changed: before and after, of which either may be absent. */
export interface Change<T> {
  key: string;
  before: T | undefined;
  after: T | undefined;
}

/** Values under which an object is to be found again. */
export type IndexFunction<T> = (object: T) => Iterable<string>;

/** Objects by key, with indexes. No clock, no network. */
export interface Store<T extends KubeObject> {
  readonly size: number;
  get(key: string): T | undefined;
  values(): Iterable<T>;
  keys(): Iterable<string>;
  find(index: string, value: string): T[];
  /** A name that exists already stays what it is. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void;
  /** Undefined if nothing changed. */
  set(object: T): Change<T> | undefined;
  delete(key: string): Change<T> | undefined;
}

interface Index<T> {
  valuesOf: IndexFunction<T>;
  keysOf: Map<string, Set<string>>;
}

export function createStore<T extends KubeObject>(): Store<T> {
  const objects = new Map<string, T>();
  const indexes = new Map<string, Index<T>>();

  function link(index: Index<T>, key: string, values: readonly string[]): void {
    for (const value of values) {
      const keys = index.keysOf.get(value);
      if (keys) keys.add(key);
      else index.keysOf.set(value, new Set([key]));
    }
  }

  function unlink({ keysOf }: Index<T>, key: string, values: readonly string[]): void {
    for (const value of values) {
      const keys = keysOf.get(value);
      keys?.delete(key);
      if (keys?.size === 0) keysOf.delete(value);
    }
  }

  function replace(key: string, before: T | undefined, after: T | undefined): Change<T> {
    // All functions of strangers run before anything is changed: they may throw.
    const links = [...indexes.values()].map((index) => ({
      index,
      old: before ? [...index.valuesOf(before)] : [],
      new: after ? [...index.valuesOf(after)] : [],
    }));
    if (after) objects.set(key, after);
    else objects.delete(key);
    for (const { index, old, new: values } of links) {
      unlink(index, key, old);
      link(index, key, values);
    }
    return { key, before, after };
  }

  return {
    get size() {
      return objects.size;
    },
    get: (key) => objects.get(key),
    values: () => objects.values(),
    keys: () => objects.keys(),
    find(name, value) {
      const index = indexes.get(name);
      if (!index) throw new Error(`there is no index ${name}`);
      return [...(index.keysOf.get(value) ?? [])].map((key) => objects.get(key)!);
    },
    addIndex(name, valuesOf) {
      if (indexes.has(name)) return;
      const index: Index<T> = { valuesOf, keysOf: new Map() };
      for (const [key, object] of objects) link(index, key, [...valuesOf(object)]);
      indexes.set(name, index);
    },
    set(object) {
      const key = keyOf(object.metadata);
      const before = objects.get(key);
      const { uid, resourceVersion } = object.metadata;
      const same = before?.metadata.uid === uid && before?.metadata.resourceVersion === resourceVersion;
      return before && same ? undefined : replace(key, before, object);
    },
    delete(key) {
      const before = objects.get(key);
      return before && replace(key, before, undefined);
    },
  };
}
