import { TYPE } from '../wire/constants.ts';
import { isWildcard, parentOf } from '../wire/name.ts';
import { createNameTable } from './name-table.ts';
import type { Name } from '../wire/name.ts';
import type { Named, NameTable } from './name-table.ts';
import type { RRset } from '../wire/record.ts';

/** One name of a zone. A node without RRsets is an empty non-terminal: it exists because something below it does. */
export interface ZoneNode extends Named {
  readonly parent: ZoneNode | undefined;
  /** Few types a name: a short array is smaller and quicker than a map. */
  rrsets: RRset[];
  /** Number of child nodes; a node without any and without RRsets is removed. */
  children: number;
  /** The child `*`, if there is one (RFC 4592: the source of synthesis). */
  wildcard: ZoneNode | undefined;
}

/** One zone: the names at and below its apex. It always has a SOA record; its nodes form a tree without gaps. */
export interface Zone extends Named {
  readonly nodes: NameTable<ZoneNode>;
  readonly apex: ZoneNode;
  /** Number of zone cuts, i.e. of names below the apex with NS records; without any, no lookup has to search for them. */
  cuts: number;
}

/** Makes a zone with its SOA record alone. */
export function createZone(name: Name, soa: RRset): Zone {
  const apex = createNode(name, undefined);
  apex.rrsets = [soa];
  const nodes = createNameTable<ZoneNode>();
  nodes.add(apex);
  return { name, hash: 0, next: undefined, nodes, apex, cuts: 0 };
}

function createNode(name: Name, parent: ZoneNode | undefined): ZoneNode {
  return { name, hash: 0, next: undefined, parent, rrsets: [], children: 0, wildcard: undefined };
}

/** The RRset of a type at a node. */
export function rrsetOf(node: ZoneNode, type: number): RRset | undefined {
  const { rrsets } = node;
  for (let i = 0; i < rrsets.length; i++) if (rrsets[i]!.type === type) return rrsets[i];
  return undefined;
}

/** The zone's SOA RRset. */
export function soaOf(zone: Zone): RRset {
  return rrsetOf(zone.apex, TYPE.SOA)!;
}

/** Sets or removes one RRset. The name must be in the zone. */
export function setRRset(zone: Zone, name: Name, type: number, rrset: RRset | undefined): void {
  const node = rrset ? ensureNode(zone, name) : zone.nodes.get(name);
  if (!node) return;
  const before = rrsetOf(node, type);
  if (before || rrset) {
    const others = node.rrsets.filter((other) => other.type !== type);
    // A fixed order makes the same answers (ANY takes the first) in every process. Not grown by push,
    // which would leave spare capacity for sixteen more.
    node.rrsets = rrset ? [...others, rrset].toSorted((a, b) => a.type - b.type) : others;
  }
  if (type === TYPE.NS && node !== zone.apex) zone.cuts += Number(Boolean(rrset)) - Number(Boolean(before));
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
  while (node?.parent && node.rrsets.length === 0 && node.children === 0) {
    const parent: ZoneNode = node.parent;
    zone.nodes.remove(node);
    parent.children -= 1;
    if (parent.wildcard === node) parent.wildcard = undefined;
    node = parent;
  }
}
