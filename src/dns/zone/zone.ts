import { TYPE } from '../wire/constants.ts';
import { extendHash } from '../wire/search-name.ts';
import { indexAt, UNIT } from './memory.ts';
import { findPacked, textOf, unpackRRsets } from '../wire/packed-rrset.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { SearchName } from '../wire/search-name.ts';
import type { ZoneMemory } from './memory.ts';
import type { Named } from './name-table.ts';
import type { PackedRRset } from '../wire/packed-rrset.ts';

/**
 * One name of a zone: the index of its first word in the memory. A node without RRsets is an empty non-terminal: it exists
 * because something below it does. Valid until the thread turns to its next query.
 *   words: hash | parent node | children | RRsets | length of the name, wildcard flag, zone id;  then the name
 */
export type ZoneNode = number;

export const NODE = { hash: 0, parent: 1, children: 2, rrsets: 3, tail: 4, words: 5 } as const;
/** In the word `tail`: bits 0-7 the length of the name, bit 8 whether there is a child `*`, bits 16-31 the zone's id. */
export const WILDCARD_FLAG = 0x100;
export const ZONE_SHIFT = 16;
/** No node, no RRsets. */
export const NONE = 0;

/** A part of the index of names: a word with its mask, then its slots, each a node and six bits of its hash. Linear probing. */
export const EMPTY = 0;
export const REMOVED = 1;
const TAG_BITS = 6;
const TAG_MASK = (1 << TAG_BITS) - 1;
const WORDS_PER_UNIT = UNIT / 4;

/** One zone: the names at and below its apex. It always has a SOA record; its nodes form a tree without gaps. */
export interface Zone extends Named {
  readonly memory: ZoneMemory;
  readonly id: number;
  readonly apex: ZoneNode;
  /** The word with the number of zone cuts, i.e. of names below the apex with NS records; without any, no lookup has to search for them. */
  readonly cutsAt: number;
}

/** What an index slot holds for a node. */
export function slotOf(node: ZoneNode, hash: number): number {
  return ((node / WORDS_PER_UNIT) << TAG_BITS) | (hash >>> (32 - TAG_BITS));
}

/** The node in an index slot; NONE if there is none. */
export function nodeIn(slot: number): ZoneNode {
  return (slot >>> TAG_BITS) * WORDS_PER_UNIT;
}

/** The node with the suffix of `search` that begins at a label. */
export function findNode(zone: Zone, search: SearchName, label: number): ZoneNode {
  return probe(zone, search, search.starts[label]!, search.hashes[label]!, false);
}

/** The node of the wildcard below the suffix of `search` that begins at a label, which has the node `encloser`. */
export function findWildcard(zone: Zone, encloser: ZoneNode, search: SearchName, label: number): ZoneNode {
  if ((zone.memory.words[encloser + NODE.tail]! & WILDCARD_FLAG) === 0) return NONE;
  return probe(zone, search, search.starts[label]!, extendHash(search.hashes[label]!, 1, 42), true);
}

function probe(
  { memory, id }: Zone,
  search: SearchName,
  start: number,
  hash: number,
  wildcard: boolean,
): ZoneNode {
  const { words } = memory;
  const index = words[indexAt(hash)]!;
  const mask = words[index]!;
  const tag = hash >>> (32 - TAG_BITS);
  for (let at = hash & mask; ; at = (at + 1) & mask) {
    const slot = words[index + 1 + at]!;
    if (slot === EMPTY) return NONE;
    if ((slot & TAG_MASK) !== tag) continue;
    const node = nodeIn(slot);
    if (node === NONE || words[node] !== hash || words[node + NODE.tail]! >>> ZONE_SHIFT !== id) continue;
    if (hasName(memory, node, search, start, wildcard)) return node;
  }
}

function hasName(
  { words, bytes }: ZoneMemory,
  node: ZoneNode,
  search: SearchName,
  start: number,
  wildcard: boolean,
): boolean {
  const length = words[node + NODE.tail]! & 0xff;
  const skip = wildcard ? 2 : 0;
  if (length !== search.length - start + skip) return false;
  const at = 4 * (node + NODE.words);
  if (wildcard && (bytes[at] !== 1 || bytes[at + 1] !== 42)) return false;
  for (let i = skip; i < length; i++) if (bytes[at + i] !== search.bytes[start + i - skip]) return false;
  return true;
}

/** The name of a node. */
export function nameOf({ memory }: Zone, node: ZoneNode): Name {
  return textOf(memory.bytes, 4 * (node + NODE.words), memory.words[node + NODE.tail]! & 0xff);
}

/** The RRset of a type at a node; the first of all if the type is 0. */
export function rrsetOf({ memory }: Zone, node: ZoneNode, type: number): PackedRRset | undefined {
  const rrsets = memory.words[node + NODE.rrsets]!;
  return rrsets === NONE ? undefined : findPacked(memory.bytes, 4 * rrsets, type);
}

/** All RRsets of a node, in memory of their own. */
export function rrsetsOf({ memory }: Zone, node: ZoneNode): RRset[] {
  const rrsets = memory.words[node + NODE.rrsets]!;
  return rrsets === NONE ? [] : unpackRRsets(memory.bytes, 4 * rrsets);
}

/** The zone's SOA RRset. */
export function soaOf(zone: Zone): PackedRRset {
  return rrsetOf(zone, zone.apex, TYPE.SOA)!;
}
