import { createSearchName, setSearchName } from '../wire/search-name.ts';
import type { Name } from '../wire/name.ts';
import type { SearchName } from '../wire/search-name.ts';

/** What a name table holds: anything with a name; `hash` and `next` belong to the table. */
export interface Named {
  readonly name: Name;
  hash: number;
  next: Named | undefined;
}

/** A hash table of names that is searched with bytes off the wire, without making a string of them. */
export interface NameTable<T extends Named> {
  /** The entry for the suffix of `search` that begins at a label. */
  find(search: SearchName, label: number): T | undefined;
  get(name: Name): T | undefined;
  add(entry: T): void;
  remove(entry: T): void;
  values(): IterableIterator<T>;
  readonly size: number;
}

export function createNameTable<T extends Named>(): NameTable<T> {
  let buckets: (Named | undefined)[] = Array<undefined>(16).fill(undefined);
  let size = 0;
  const own = createSearchName();

  function grow(): void {
    const entries = [...values()];
    buckets = Array<undefined>(buckets.length * 2).fill(undefined);
    for (const entry of entries) link(entry);
  }

  function link(entry: T): void {
    const slot = entry.hash & (buckets.length - 1);
    entry.next = buckets[slot];
    buckets[slot] = entry;
  }

  function* values(): IterableIterator<T> {
    for (const first of buckets) {
      for (let entry = first; entry; entry = entry.next) yield entry as T;
    }
  }

  function find(search: SearchName, label: number): T | undefined {
    const hash = search.hashes[label]!;
    for (let entry = buckets[hash & (buckets.length - 1)]; entry; entry = entry.next) {
      if (entry.hash === hash && equals(entry.name, search, search.starts[label]!)) return entry as T;
    }
    return undefined;
  }

  return {
    find,
    get(name) {
      setSearchName(own, name);
      return find(own, 0);
    },
    add(entry) {
      setSearchName(own, entry.name);
      entry.hash = own.hashes[0]!;
      if (size >= buckets.length) grow();
      link(entry);
      size += 1;
    },
    remove(entry) {
      const slot = entry.hash & (buckets.length - 1);
      let before: Named | undefined;
      for (let at = buckets[slot]; at; before = at, at = at.next) {
        if (at !== entry) continue;
        if (before) before.next = at.next;
        else buckets[slot] = at.next;
        size -= 1;
        return;
      }
    },
    values,
    get size() {
      return size;
    },
  };
}

function equals(name: Name, search: SearchName, start: number): boolean {
  if (name.length !== search.length - start) return false;
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) !== search.bytes[start + i]) return false;
  return true;
}
