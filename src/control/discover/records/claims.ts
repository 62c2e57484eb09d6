/**
 * Decides which object holds a DNS name that several objects claim: the oldest object, whatever the order in which the watch events
 * arrived, so that all replicas answer alike. The others get the name when it is free. The DNS server merges what it is given, so
 * this is the only place where a conflict is decided.
 */
import type { DnsRecord } from './dns-record.ts';
import { createNameTree, isBefore, kindOf } from './name-tree.ts';
import type { Entry, EntryKind, Rank } from './name-tree.ts';
import { createRankQueue } from './rank-queue.ts';

/** The records that one object asks for. */
export interface Claim {
  /** `<kind> <key>`, the name of the record source in the DNS server. */
  source: string;
  /** Claims of one group never conflict: the EndpointSlices of one name in one namespace are parts of one whole. */
  claimGroup: string;
  /** The object's creationTimestamp. */
  since: string;
  records: readonly DnsRecord[];
}

/** A claimed name that another object holds. */
export interface NameConflict {
  name: string;
  /** The group that holds it. */
  holder: string;
}

/** Which records of a claim are granted, and which names are not. */
export interface Evaluation {
  source: string;
  granted: readonly DnsRecord[];
  refused: readonly NameConflict[];
  /** False if only the holder of a refused name has changed. */
  isChanged: boolean;
}

/** The steps of a change, which may be many: a pause is possible after each, but no other change before the last. */
export type Steps = Generator<undefined, Evaluation[]>;

/**
 * All claims by name. A change returns the evaluations of all sources that it affects, in the order in which they are to be served:
 * those with refused names come last. For a moment a name then resolves to both, rather than to nothing, which resolvers would cache.
 */
export interface Claims {
  set(claim: Claim): Steps;
  remove(source: string): Steps;
}

/**
 * An entry is granted unless one that goes before it, and that it conflicts with, is. What a change may affect is decided anew in
 * the order of ranks, so that each entry is looked at once: it depends on entries before it alone.
 */
export function createClaims(): Claims {
  const claims = new Map<string, Claim>();
  const tree = createNameTree();
  /** Entries to be decided anew, with their state before the change. */
  const dirty = new Map<Entry, { isGranted: boolean; blocker: Entry | undefined }>();

  function touch(entry: Entry): Entry {
    const { isGranted, blocker } = entry;
    if (!dirty.has(entry)) dirty.set(entry, { isGranted, blocker });
    return entry;
  }

  /** Takes an entry's grant away, so that it and those that wait for it are decided anew. */
  function* release(entry: Entry): Generator<undefined> {
    touch(entry);
    if (!entry.isGranted) return;
    for (const other of tree.conflicting(entry, 'waiting')) {
      touch(other);
      yield;
    }
    tree.setGranted(entry, false);
  }

  function* setSources(entry: Entry, sources: readonly string[]): Generator<undefined> {
    entry.sources = sources;
    const rank = rankOf(entry);
    if (rank.tier === entry.rank.tier && rank.at === entry.rank.at) return;
    yield* release(entry);
    entry.rank = rank;
  }

  function rankOf({ sources }: Pick<Entry, 'sources'>): Rank {
    const ages = sources.map((source) => claims.get(source)?.since ?? '');
    return { tier: 2, at: ages.length === 1 ? ages[0]! : (ages.toSorted()[0] ?? '') };
  }

  function* join(source: string, group: string, { name, kind }: Slot): Generator<undefined> {
    const rank = rankOf({ sources: [source] });
    const entry = tree.find(name, kind, group) ?? touch(tree.add(name, { kind, group, rank }));
    const { sources } = entry;
    yield* setSources(entry, sources.includes(source) ? sources : [...sources, source]);
  }

  function* leave(source: string, group: string, { name, kind }: Slot): Generator<undefined> {
    const entry = tree.find(name, kind, group);
    if (!entry) return;
    const rest = entry.sources.filter((other) => other !== source);
    if (rest.length > 0) yield* setSources(entry, rest);
    else {
      yield* release(entry);
      entry.sources = [];
      tree.remove(entry);
    }
  }

  function* decide(): Generator<undefined> {
    const queue = createRankQueue();
    for (const entry of dirty.keys()) {
      queue.add(entry);
      yield;
    }
    for (let entry = queue.take(); entry; entry = queue.take()) {
      yield;
      if (entry.sources.length === 0) continue;
      entry.blocker = blockerOf(entry);
      const isGranted = !entry.blocker;
      if (isGranted === entry.isGranted) continue;
      tree.setGranted(entry, isGranted);
      // A new grant ends those after it that it conflicts with; the end of one lets others in.
      for (const other of tree.conflicting(entry, isGranted ? 'granted' : 'waiting')) {
        if (isBefore(entry, other)) queue.add(touch(other));
        yield;
      }
    }
  }

  function blockerOf(entry: Entry): Entry | undefined {
    for (const other of tree.conflicting(entry, 'granted')) if (isBefore(other, entry)) return other;
    return undefined;
  }

  function evaluate(source: string, isChanged: boolean): Evaluation {
    const claim = claims.get(source);
    const granted: DnsRecord[] = [];
    const refused = new Map<string, NameConflict>();
    for (const record of claim?.records ?? []) {
      const { name } = record;
      const entry = tree.find(name, kindOf(record.type), claim!.claimGroup)!;
      if (entry.isGranted) granted.push(record);
      else refused.set(name, { name, holder: entry.blocker?.group ?? '' });
    }
    return { source, granted, refused: [...refused.values()], isChanged };
  }

  /** The sources of entries that a change has affected, and whether other records are granted to them now. */
  function* affectedSources(): Generator<undefined, Map<string, boolean>> {
    const sources = new Map<string, boolean>();
    for (const [entry, before] of dirty) {
      yield;
      const isChanged = entry.isGranted !== before.isGranted;
      if (!isChanged && entry.blocker === before.blocker) continue;
      for (const source of entry.sources) sources.set(source, isChanged || sources.get(source) === true);
    }
    dirty.clear();
    return sources;
  }

  function* replace(source: string, claim: Claim | undefined): Steps {
    const before = claims.get(source);
    if (claim) claims.set(source, claim);
    else claims.delete(source);
    const [wanted, left] = [slotsOf(claim), slotsOf(before)];
    for (const [key, slot] of wanted) {
      yield* join(source, claim!.claimGroup, slot);
      if (before?.claimGroup === claim!.claimGroup) left.delete(key);
      yield;
    }
    for (const slot of left.values()) {
      yield* leave(source, before!.claimGroup, slot);
      yield;
    }
    yield* decide();
    const affected = (yield* affectedSources()).set(source, true);
    const [fine, refused]: [Evaluation[], Evaluation[]] = [[], []];
    for (const [one, isChanged] of affected) {
      const evaluation = evaluate(one, isChanged);
      (evaluation.refused.length === 0 ? fine : refused).push(evaluation);
      yield;
    }
    return [...fine, ...refused];
  }

  return {
    set: (claim) => replace(claim.source, claim),
    remove: (source) => replace(source, undefined),
  };
}

/** One kind of records at one name. */
interface Slot {
  name: string;
  kind: EntryKind;
}

function slotsOf(claim: Claim | undefined): Map<string, Slot> {
  const slots = new Map<string, Slot>();
  for (const { name, type } of claim?.records ?? []) {
    const kind = kindOf(type);
    slots.set(`${kind} ${name}`, { name, kind });
  }
  return slots;
}
