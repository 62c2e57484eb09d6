import { TYPE } from '../wire/constants.ts';
import { isWildcard, parentOf } from '../wire/name.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import { createAllocator, indexAt, indexParts } from './memory.ts';
import { packedSize, packedSizeAt, packRRsets } from '../wire/packed-rrset.ts';
import {
  EMPTY,
  findNode,
  NODE,
  nodeIn,
  NONE,
  REMOVED,
  rrsetsOf,
  slotOf,
  WILDCARD_FLAG,
  ZONE_SHIFT,
} from './zone.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { WhenUnread, ZoneMemory } from './memory.ts';
import type { Zone, ZoneNode } from './zone.ts';

/** A change of one RRset at a name; `rrset: undefined` removes it. */
export interface TypeChange {
  type: number;
  rrset: RRset | undefined;
}

/** Changes zones while other threads read them. One for each memory. */
export interface ZoneWriter {
  /** Makes a zone with its SOA record alone. */
  createZone(name: Name, soa: RRset): Zone;
  /** Applies the changes at one name, all at once for readers. The name must be in the zone. */
  change(zone: Zone, name: Name, changes: readonly TypeChange[]): void;
  /** Bytes of memory in use. */
  readonly used: number;
}

const FIRST_SLOTS = 16;

export function createZoneWriter(memory: ZoneMemory, whenUnread: WhenUnread): ZoneWriter {
  const { words, bytes } = memory;
  const allocator = createAllocator(memory, whenUnread);
  const search = createSearchName();
  let zones = 0;
  /** For each part of the index, by the word that says where it is: slots that are not EMPTY, and nodes. */
  const taken = new Map<number, number>();
  const nodes = new Map<number, number>();
  for (const part of indexParts()) {
    taken.set(part, 0);
    nodes.set(part, 0);
    openIndex(part, FIRST_SLOTS);
  }

  function openIndex(part: number, slots: number): void {
    const before = words[part]!;
    const index = allocator.allocate(4 * (slots + 1));
    words.fill(EMPTY, index + 1, index + 1 + slots);
    words[index] = slots - 1;
    if (before !== NONE) {
      for (let at = 0; at <= words[before]!; at++) {
        const node = nodeIn(words[before + 1 + at]!);
        if (node !== NONE) words[index + 1 + freeSlot(index, words[node]!)] = slotOf(node, words[node]!);
      }
    }
    Atomics.store(words, part, index);
    if (before !== NONE) allocator.retire(before, 4 * (words[before]! + 2));
    taken.set(part, nodes.get(part)!);
  }

  function freeSlot(index: number, hash: number): number {
    const mask = words[index]!;
    let at = hash & mask;
    while (words[index + 1 + at] !== EMPTY && words[index + 1 + at] !== REMOVED) at = (at + 1) & mask;
    return at;
  }

  function link(node: ZoneNode): void {
    const part = indexAt(words[node]!);
    const count = nodes.get(part)! + 1;
    const slots = words[words[part]!]! + 1;
    // At most two thirds are taken; removed ones alone do not make it larger.
    if (3 * (taken.get(part)! + 1) > 2 * slots) openIndex(part, 3 * count > slots ? 2 * slots : slots);
    const index = words[part]!;
    const at = index + 1 + freeSlot(index, words[node]!);
    if (words[at] === EMPTY) taken.set(part, taken.get(part)! + 1);
    nodes.set(part, count);
    Atomics.store(words, at, slotOf(node, words[node]!));
  }

  function unlink(node: ZoneNode): void {
    const part = indexAt(words[node]!);
    const index = words[part]!;
    const mask = words[index]!;
    const slot = slotOf(node, words[node]!);
    let at = words[node]! & mask;
    while (words[index + 1 + at] !== slot) at = (at + 1) & mask;
    Atomics.store(words, index + 1 + at, REMOVED);
    nodes.set(part, nodes.get(part)! - 1);
    allocator.retire(node, nodeSize(node));
  }

  function nodeSize(node: ZoneNode): number {
    return 4 * NODE.words + (words[node + NODE.tail]! & 0xff);
  }

  function makeNode(zone: number, name: Name, parent: ZoneNode): ZoneNode {
    setSearchName(search, name);
    const node = allocator.allocate(4 * NODE.words + name.length);
    words[node + NODE.hash] = search.hashes[0]!;
    words[node + NODE.parent] = parent;
    words[node + NODE.children] = 0;
    words[node + NODE.rrsets] = NONE;
    words[node + NODE.tail] = name.length | (zone << ZONE_SHIFT);
    const at = 4 * (node + NODE.words);
    for (let i = 0; i < name.length; i++) bytes[at + i] = name.charCodeAt(i);
    return node;
  }

  function find(zone: Zone, name: Name): ZoneNode {
    setSearchName(search, name);
    return findNode(zone, search, 0);
  }

  /** The node of a name, made with all that are missing above it. `rrsets` go into a new one before anybody can see it. */
  function ensureNode(zone: Zone, name: Name, rrsets: readonly RRset[]): ZoneNode {
    const existing = find(zone, name);
    if (existing !== NONE) return existing;
    const parent = ensureNode(zone, parentOf(name)!, []);
    const node = makeNode(zone.id, name, parent);
    if (rrsets.length > 0) words[node + NODE.rrsets] = pack(rrsets);
    link(node);
    words[parent + NODE.children]! += 1;
    if (isWildcard(name)) Atomics.or(words, parent + NODE.tail, WILDCARD_FLAG);
    return node;
  }

  function pack(rrsets: readonly RRset[]): number {
    const at = allocator.allocate(packedSize(rrsets));
    packRRsets(bytes, 4 * at, rrsets);
    return at;
  }

  function setRRsets(node: ZoneNode, rrsets: readonly RRset[]): void {
    const before = words[node + NODE.rrsets]!;
    Atomics.store(words, node + NODE.rrsets, rrsets.length > 0 ? pack(rrsets) : NONE);
    if (before !== NONE) allocator.retire(before, packedSizeAt(bytes, 4 * before));
  }

  /** Removes nodes that hold up nothing, from the given one towards the apex. */
  function prune(zone: Zone, start: ZoneNode): void {
    let node = start;
    while (node !== zone.apex && words[node + NODE.rrsets] === NONE && words[node + NODE.children] === 0) {
      const parent = words[node + NODE.parent]!;
      const at = 4 * (node + NODE.words);
      if (bytes[at] === 1 && bytes[at + 1] === 42) Atomics.and(words, parent + NODE.tail, ~WILDCARD_FLAG);
      unlink(node);
      words[parent + NODE.children]! -= 1;
      node = parent;
    }
  }

  return {
    createZone(name, soa) {
      const id = zones++;
      const apex = makeNode(id, name, NONE);
      words[apex + NODE.rrsets] = pack([soa]);
      link(apex);
      const cutsAt = allocator.allocate(4);
      words[cutsAt] = 0;
      return { name, hash: 0, next: undefined, memory, id, apex, cutsAt };
    },
    change(zone, name, changes) {
      const existing = find(zone, name);
      const before = existing === NONE ? [] : rrsetsOf(zone, existing);
      const changed = new Set(changes.map(({ type }) => type));
      const added = changes.flatMap(({ rrset }) => rrset ?? []);
      // A fixed order makes the same answers (ANY takes the first) in every process.
      const after = [...before.filter(({ type }) => !changed.has(type)), ...added].toSorted(
        (a, b) => a.type - b.type,
      );
      if (existing === NONE && after.length === 0) return;
      const isCut = (rrsets: readonly RRset[]) => rrsets.some(({ type }) => type === TYPE.NS);
      const cuts = existing === zone.apex ? 0 : Number(isCut(after)) - Number(isCut(before));
      // A lookup searches for cuts as long as there may be one.
      if (cuts > 0) Atomics.add(words, zone.cutsAt, cuts);
      const node = ensureNode(zone, name, after);
      if (existing !== NONE) setRRsets(node, after);
      if (cuts < 0) Atomics.add(words, zone.cutsAt, cuts);
      prune(zone, node);
    },
    get used() {
      return allocator.used;
    },
  };
}
