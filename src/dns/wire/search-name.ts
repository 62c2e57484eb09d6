import { randomBytes } from 'node:crypto';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
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

// Random, so that nobody who may choose names knows which of them collide; the same in all threads, which share an index.
const SEED_KEY = 'isthmus.dns.hashSeed';
const SEED = (getEnvironmentData(SEED_KEY) as number | undefined) ?? randomBytes(4).readInt32LE();
setEnvironmentData(SEED_KEY, SEED);

const PRIME = 0x01000193;

/** Fills in the hashes once bytes, starts, labels and length are there. */
export function hashSearchName(name: SearchName): void {
  const { bytes, starts, hashes } = name;
  let hash = SEED;
  let end = name.length - 1; // the root label carries no information
  hashes[name.labels] = hash;
  for (let label = name.labels - 1; label >= 0; label--) {
    const start = starts[label]!;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, PRIME);
    hash ^= hash >>> 15;
    hashes[label] = hash;
    end = start;
  }
}

/** The hash of a suffix with a label of one byte before it, from the hash of the suffix. */
export function extendHash(suffix: number, length: number, byte: number): number {
  const hash = Math.imul(Math.imul(suffix ^ length, PRIME) ^ byte, PRIME);
  return hash ^ (hash >>> 15);
}

/** Sets a search name from a stored one. */
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

/** A searched name as a stored one. */
export function toName(search: SearchName): Name {
  let name = '';
  for (let i = 0; i < search.length; i++) name += String.fromCharCode(search.bytes[i]!);
  return name;
}
