/**
 * What is claimed, as a tree of names. Whether a claim conflicts with others is found at its own name, above it and, for a delegation,
 * below it, so that the cost does not depend on how much is claimed elsewhere.
 */
import { createShardedMap } from '../../../ops/sharded-map.ts';
import type { DnsRecord } from './dns-record.ts';
import { namesAbove } from './reserved.ts';

/** What is claimed at a name: addresses count as one kind. */
export type EntryKind = 'address' | Exclude<DnsRecord['type'], 'A' | 'AAAA'>;

/** Where an entry stands among those that it conflicts with; see `isBefore`. */
export interface Rank {
  /** 0: a grant that is written down; 1: one that is not yet; 2: none. */
  tier: 0 | 1 | 2;
  /** The time of the grant; without one, the age of the oldest claiming object. */
  at: string;
}

/** One kind of records that one group claims at one name. */
export interface Entry {
  readonly node: NameNode;
  readonly kind: EntryKind;
  readonly group: string;
  /** The sources of the group that claim it. */
  sources: readonly string[];
  rank: Rank;
  isGranted: boolean;
  /** A granted entry that keeps this one from being granted. */
  blocker: Entry | undefined;
}

/** A name at which, or below which, something is claimed. */
export interface NameNode {
  readonly name: string;
  readonly parent: NameNode | undefined;
  children: Set<NameNode> | undefined;
  /** The granted entries: at most one group for each kind, except while a change is worked through. */
  granted: readonly Entry[];
  /** The others, by kind and group. */
  waiting: Map<string, Entry> | undefined;
  /** How many entries are at or below this name, and how many of them are granted. */
  entries: number;
  grantedEntries: number;
}

export interface NameTree {
  find(name: string, kind: EntryKind, group: string): Entry | undefined;
  nodeOf(name: string): NameNode | undefined;
  /** All names at which an entry is granted. */
  grantedNames(): Generator<string>;
  /** Adds an entry, which waits at first. */
  add(name: string, entry: Pick<Entry, 'kind' | 'group' | 'rank'>): Entry;
  remove(entry: Entry): void;
  setGranted(entry: Entry, isGranted: boolean): void;
  /** The entries of other groups that cannot be granted beside this one, step by step; a step may have none. */
  conflicting(entry: Entry, which: 'granted' | 'waiting'): Generator<Entry | undefined>;
}

/** Whether an entry goes before another that it conflicts with. */
export function isBefore(a: Entry, b: Entry): boolean {
  if (a.rank.tier !== b.rank.tier) return a.rank.tier < b.rank.tier;
  if (a.rank.at !== b.rank.at) return a.rank.at < b.rank.at;
  return a.group < b.group;
}

/** A record of another kind may stand beside one, except for an alias (RFC 2181, 10.1) and a delegation. */
export function excludes(a: EntryKind, b: EntryKind): boolean {
  return a === b || [a, b].some((kind) => kind === 'CNAME' || kind === 'NS');
}

export function kindOf(type: DnsRecord['type']): EntryKind {
  return type === 'A' || type === 'AAAA' ? 'address' : type;
}

const NONE: readonly Entry[] = [];

export function createNameTree(): NameTree {
  const nodes = createShardedMap<NameNode>();

  function ensureNode(name: string): NameNode {
    const existing = nodes.get(name);
    if (existing) return existing;
    const [above] = namesAbove(name);
    const parent = above === undefined ? undefined : ensureNode(above);
    const counts = { entries: 0, grantedEntries: 0 };
    const node: NameNode = {
      name,
      parent,
      children: undefined,
      granted: NONE,
      waiting: undefined,
      ...counts,
    };
    if (parent) (parent.children ??= new Set()).add(node);
    nodes.set(name, node);
    return node;
  }

  function prune(node: NameNode | undefined): void {
    if (!node || node.entries > 0) return;
    nodes.delete(node.name);
    const { parent } = node;
    if (!parent) return;
    parent.children?.delete(node);
    if (parent.children?.size === 0) parent.children = undefined;
    prune(parent);
  }

  return {
    find(name, kind, group) {
      const node = nodes.get(name);
      const granted = node?.granted.find((entry) => entry.kind === kind && entry.group === group);
      return granted ?? node?.waiting?.get(waitingKey(kind, group));
    },
    nodeOf: (name) => nodes.get(name),
    *grantedNames() {
      for (const { name, granted } of nodes.values()) if (granted.length > 0) yield name;
    },
    add(name, { kind, group, rank }) {
      const node = ensureNode(name);
      const state = { isGranted: false, blocker: undefined };
      const entry: Entry = { node, kind, group, sources: [], rank, ...state };
      (node.waiting ??= new Map()).set(waitingKey(kind, group), entry);
      for (let each: NameNode | undefined = node; each; each = each.parent) each.entries += 1;
      return entry;
    },
    remove(entry) {
      if (entry.isGranted) this.setGranted(entry, false);
      dropWaiting(entry);
      for (let each: NameNode | undefined = entry.node; each; each = each.parent) each.entries -= 1;
      prune(entry.node);
    },
    setGranted(entry, isGranted) {
      if (entry.isGranted === isGranted) return;
      const { node, kind, group } = entry;
      entry.isGranted = isGranted;
      if (isGranted) {
        dropWaiting(entry);
        node.granted = [...node.granted, entry];
      } else {
        node.granted = node.granted.length === 1 ? NONE : node.granted.filter((other) => other !== entry);
        (node.waiting ??= new Map()).set(waitingKey(kind, group), entry);
      }
      const by = isGranted ? 1 : -1;
      for (let each: NameNode | undefined = node; each; each = each.parent) each.grantedEntries += by;
    },
    *conflicting({ node, kind, group }, which) {
      for (const other of entriesAt(node, which))
        if (other.group !== group && excludes(kind, other.kind)) yield other;
      for (let above = node.parent; above; above = above.parent)
        for (const other of entriesAt(above, which))
          if (other.group !== group && other.kind === 'NS') yield other;
      if (kind === 'NS')
        for (const other of entriesBelow(node, which)) yield other?.group === group ? undefined : other;
    },
  };
}

function waitingKey(kind: EntryKind, group: string): string {
  return `${kind} ${group}`;
}

function dropWaiting({ node, kind, group }: Entry): void {
  node.waiting?.delete(waitingKey(kind, group));
  if (node.waiting?.size === 0) node.waiting = undefined;
}

function entriesAt(node: NameNode, which: 'granted' | 'waiting'): Iterable<Entry> {
  return which === 'granted' ? node.granted : (node.waiting?.values() ?? NONE);
}

/** Skips the parts of the tree that have none. A name may have a hundred thousand below it of which none counts. */
function* entriesBelow(node: NameNode, which: 'granted' | 'waiting'): Generator<Entry | undefined> {
  const open: Iterator<NameNode>[] = [below(node)];
  for (let last = open.at(-1); last; last = open.at(-1)) {
    const { value: next, done } = last.next();
    if (done) open.pop();
    else {
      const count = which === 'granted' ? next.grantedEntries : next.entries - next.grantedEntries;
      if (count === 0) yield;
      else {
        yield* entriesAt(next, which);
        open.push(below(next));
      }
    }
  }
}

function below({ children }: NameNode): Iterator<NameNode> {
  return (children ?? []).values();
}
