import { TYPE } from '../wire/constants.ts';
import { isWildcard, parentOf } from '../wire/name.ts';
import { createNameTable } from './name-table.ts';
import type { Name } from '../wire/name.ts';
import type { Named, NameTable } from './name-table.ts';
import type { RecordSet } from '../wire/record.ts';

/** One name of a zone. A node without record sets is an empty non-terminal: it exists because something below it does. */
export interface ZoneNode extends Named {
  readonly parent: ZoneNode | undefined;
  /** Few types a name: a short array is smaller and quicker than a map. */
  sets: RecordSet[];
  /** How many nodes hang directly below; a node with none and no record sets goes. */
  children: number;
  /** The child `*`, if there is one (RFC 4592: the source of synthesis). */
  wildcard: ZoneNode | undefined;
}

/** One zone: the names at and below its apex. It always has a SOA; its names form a tree without holes. */
export interface Zone extends Named {
  readonly nodes: NameTable<ZoneNode>;
  readonly apex: ZoneNode;
  /** How many names below the apex have NS records; without any, no lookup needs to look for delegations. */
  cuts: number;
}

/** A change of one record set; `set: undefined` takes it away. */
export interface SetChange {
  zone: Name;
  name: Name;
  type: number;
  set: RecordSet | undefined;
}

/** Makes a zone that holds nothing but its SOA record. */
export function createZone(name: Name, soa: RecordSet): Zone {
  const apex = createNode(name, undefined);
  apex.sets = [soa];
  const nodes = createNameTable<ZoneNode>();
  nodes.add(apex);
  return { name, hash: 0, next: undefined, nodes, apex, cuts: 0 };
}

function createNode(name: Name, parent: ZoneNode | undefined): ZoneNode {
  return { name, hash: 0, next: undefined, parent, sets: [], children: 0, wildcard: undefined };
}

/** The record set of a type at a node. */
export function setOf(node: ZoneNode, type: number): RecordSet | undefined {
  const { sets } = node;
  for (let i = 0; i < sets.length; i++) if (sets[i]!.type === type) return sets[i];
  return undefined;
}

/** The zone's SOA record set. */
export function soaOf(zone: Zone): RecordSet {
  return setOf(zone.apex, TYPE.SOA)!;
}

/** Puts or takes away one record set. The name must lie within the zone. */
export function changeZone(zone: Zone, name: Name, type: number, set: RecordSet | undefined): void {
  const node = set ? ensureNode(zone, name) : zone.nodes.get(name);
  if (!node) return;
  const before = setOf(node, type);
  if (before || set) {
    const others = node.sets.filter((other) => other.type !== type);
    // A fixed order makes the same answers (ANY takes the first) in every process. Built in one piece: an array that
    // grew by push would keep room for sixteen more.
    node.sets = set ? [...others, set].toSorted((a, b) => a.type - b.type) : others;
  }
  if (type === TYPE.NS && node !== zone.apex) zone.cuts += Number(Boolean(set)) - Number(Boolean(before));
  prune(zone, node);
}

function ensureNode(zone: Zone, name: Name): ZoneNode {
  const existing = zone.nodes.get(name);
  if (existing) return existing;
  const parent = ensureNode(zone, parentOf(name)!);
  const node = createNode(name, parent);
  zone.nodes.add(node);
  parent.children += 1;
  if (isWildcard(name)) parent.wildcard = node;
  return node;
}

function prune(zone: Zone, start: ZoneNode): void {
  let node: ZoneNode | undefined = start;
  while (node?.parent && node.sets.length === 0 && node.children === 0) {
    const parent: ZoneNode = node.parent;
    zone.nodes.remove(node);
    parent.children -= 1;
    if (parent.wildcard === node) parent.wildcard = undefined;
    node = parent;
  }
}
