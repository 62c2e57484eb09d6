import { randomBytes } from 'node:crypto';
import type { Name } from './name.ts';

const MAX_LABELS = 128;

/**
 * A name being looked up: lower-cased bytes, where each label starts, and the hash of the suffix from there on.
 * Hashing runs from the root towards the left, so one pass gives the hash of the name and of every ancestor of it.
 */
export interface SearchName {
  readonly bytes: Uint8Array;
  length: number;
  /** Number of labels without the root. */
  labels: number;
  readonly starts: Uint8Array;
  /** `hashes[i]` belongs to the suffix from label i; `hashes[labels]` to the root. */
  readonly hashes: Int32Array;
}

export function createSearchName(): SearchName {
  return {
    bytes: new Uint8Array(256),
    length: 0,
    labels: 0,
    starts: new Uint8Array(MAX_LABELS + 1),
    hashes: new Int32Array(MAX_LABELS + 1),
  };
}

// Differs from process to process, so that whoever may choose names does not know which of them collide.
const SEED = randomBytes(4).readInt32LE();

/** Fills in the hashes once bytes, starts, labels and length are there. */
export function hashSearchName(name: SearchName): void {
  const { bytes, starts, hashes } = name;
  let hash = SEED;
  let end = name.length - 1; // the root label carries no information
  hashes[name.labels] = hash;
  for (let label = name.labels - 1; label >= 0; label--) {
    const start = starts[label]!;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    hash ^= hash >>> 15;
    hashes[label] = hash;
    end = start;
  }
}

/** Makes a stored name searchable. */
export function setSearchName(search: SearchName, name: Name): void {
  search.length = name.length;
  for (let i = 0; i < name.length; i++) search.bytes[i] = name.charCodeAt(i);
  let at = 0;
  let labels = 0;
  for (let length = name.charCodeAt(0); length !== 0; length = name.charCodeAt(at)) {
    search.starts[labels++] = at;
    at += 1 + length;
  }
  search.starts[labels] = at;
  search.labels = labels;
  hashSearchName(search);
}

/** The searched name, or its suffix from a label on, as a stored name. */
export function toName(search: SearchName, label = 0): Name {
  let name = '';
  for (let i = search.starts[label]!; i < search.length; i++) name += String.fromCharCode(search.bytes[i]!);
  return name;
}

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
