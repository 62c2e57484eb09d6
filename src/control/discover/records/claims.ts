/**
 * Decides which object has a DNS name that several objects claim: the one that it was granted to, for as long as it claims it. Grants
 * are written down by the leader; a replica follows them, and until a name is in them, whoever got it here keeps it. Among those who claim a name
 * that nobody has, the oldest object gets it, so that replicas choose alike. The others get it when it is free. The DNS server merges what it
 * is given, so this is the only place where a conflict is decided.
 */
import { createShardedMap } from '../../../ops/sharded-map.ts';
import type { DnsRecord } from './dns-record.ts';
import type { Grant, GrantsAt } from './grants.ts';
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
  /** Names that it claims even while it has no records there, e.g. because no endpoint is ready. */
  names?: readonly string[];
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
  /** Decides anew about a name whose grants have been written down, or taken out. */
  regrant(name: string): Steps;
  /** What is to be written down about a name. */
  grantsOf(name: string): Grant[];
  /** All names at which something is granted. */
  grantedNames(): Iterable<string>;
}

export interface ClaimsOptions {
  grantsAt?: GrantsAt;
  /** The time, as in a creationTimestamp. */
  now?: () => string;
  /** Hears of each name at which grants may have changed. */
  onGranted?: (name: string) => void;
}

/**
 * An entry is granted unless one that goes before it, and that it conflicts with, is. What a change may affect is decided anew in
 * the order of ranks, so that each entry is looked at once: it depends on entries before it alone.
 */
export function createClaims(options: ClaimsOptions = {}): Claims {
  const { grantsAt = () => [], now = () => new Date().toISOString(), onGranted = () => {} } = options;
  const claims = createShardedMap<Claim>();
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
      if (other) touch(other);
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

  function rankOf({ node, kind, group, sources, isGranted, rank }: Entry): Rank {
    const grant = grantsAt(node.name).find((one) => one.kind === kind && one.group === group);
    if (grant) return { tier: 0, at: grant.since };
    return isGranted && rank.tier < 2 ? { tier: 1, at: rank.at } : ageOf(sources);
  }

  function ageOf(sources: readonly string[]): Rank {
    const ages = sources.map((source) => claims.get(source)?.since ?? '');
    return { tier: 2, at: ages.length === 1 ? ages[0]! : (ages.toSorted()[0] ?? '') };
  }

  function* join(source: string, group: string, { name, kind }: Slot): Generator<undefined> {
    const rank = ageOf([source]);
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
      entry.blocker = yield* blockerOf(entry);
      const isGranted = !entry.blocker;
      if (isGranted === entry.isGranted) continue;
      tree.setGranted(entry, isGranted);
      // A new grant ends those after it that it conflicts with; the end of one lets others in.
      for (const other of tree.conflicting(entry, isGranted ? 'granted' : 'waiting')) {
        if (other && isBefore(entry, other)) queue.add(touch(other));
        yield;
      }
    }
  }

  function* blockerOf(entry: Entry): Generator<undefined, Entry | undefined> {
    for (const other of tree.conflicting(entry, 'granted')) {
      if (other && isBefore(other, entry)) return other;
      yield;
    }
    return undefined;
  }

  function* evaluate(source: string, isChanged: boolean): Generator<undefined, Evaluation> {
    const claim = claims.get(source);
    const granted: DnsRecord[] = [];
    const refused = new Map<string, NameConflict>();
    const isGranted = (name: string, kind: EntryKind) => {
      const entry = tree.find(name, kind, claim!.claimGroup)!;
      if (!entry.isGranted) refused.set(name, { name, holder: entry.blocker?.group ?? '' });
      return entry.isGranted;
    };
    for (const [at, record] of (claim?.records ?? []).entries()) {
      if (isGranted(record.name, kindOf(record.type))) granted.push(record);
      if (at % A_STEP === A_STEP - 1) yield;
    }
    for (const name of claim?.names ?? []) isGranted(name, 'address');
    return { source, granted, refused: [...refused.values()], isChanged };
  }

  /** What is granted stays so, whoever comes; what lost to a grant that is written down has none. */
  function settle(entry: Entry): void {
    const { node, sources, isGranted, rank } = entry;
    if (isGranted && rank.tier === 2) entry.rank = { tier: 1, at: now() };
    if (!isGranted && rank.tier === 1) entry.rank = ageOf(sources);
    onGranted(node.name);
  }

  /** The sources of entries that a change has affected, and whether other records are granted to them now. */
  function* affectedSources(): Generator<undefined, Map<string, boolean>> {
    const sources = new Map<string, boolean>();
    for (const [entry, before] of dirty) {
      yield;
      settle(entry);
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
    const [wanted, left] = [yield* slotsOf(claim), yield* slotsOf(before)];
    for (const [key, slot] of wanted) {
      yield* join(source, claim!.claimGroup, slot);
      if (before?.claimGroup === claim!.claimGroup) left.delete(key);
      yield;
    }
    for (const slot of left.values()) {
      yield* leave(source, before!.claimGroup, slot);
      yield;
    }
    return yield* conclude(source);
  }

  function* regrant(name: string): Steps {
    const node = tree.nodeOf(name);
    for (const entry of [...(node?.granted ?? []), ...(node?.waiting?.values() ?? [])])
      yield* setSources(entry, entry.sources);
    return yield* conclude();
  }

  function* conclude(source?: string): Steps {
    yield* decide();
    const affected = yield* affectedSources();
    if (source !== undefined) affected.set(source, true);
    const [fine, refused]: [Evaluation[], Evaluation[]] = [[], []];
    for (const [one, isChanged] of affected) {
      const evaluation = yield* evaluate(one, isChanged);
      (evaluation.refused.length === 0 ? fine : refused).push(evaluation);
      yield;
    }
    return [...fine, ...refused];
  }

  /** What is granted, and what was, to somebody who still claims it: it may be in the way of nobody for a while. */
  function grantsOf(name: string): Grant[] {
    const node = tree.nodeOf(name);
    const kept = [...(node?.waiting?.values() ?? [])].filter(({ rank }) => rank.tier === 0);
    const grants = new Map<string, Grant>();
    for (const { kind, group, rank } of [...(node?.granted ?? []), ...kept])
      if (!grants.has(kind)) grants.set(kind, { kind, group, since: rank.at });
    return [...grants.values()];
  }

  return {
    set: (claim) => replace(claim.source, claim),
    remove: (source) => replace(source, undefined),
    regrant,
    grantsOf,
    grantedNames: () => tree.grantedNames(),
  };
}

/** Records of one claim that are looked at in one step. */
const A_STEP = 64;

/** One kind of records at one name. */
interface Slot {
  name: string;
  kind: EntryKind;
}

/** Whoever claims an alias claims the addresses, too: the one may take the place of the other. */
function* slotsOf(claim: Claim | undefined): Generator<undefined, Map<string, Slot>> {
  const slots = new Map<string, Slot>();
  const add = (name: string, kind: EntryKind) => slots.set(`${kind} ${name}`, { name, kind });
  for (const [at, { name, type }] of (claim?.records ?? []).entries()) {
    add(name, kindOf(type));
    if (type === 'CNAME') add(name, 'address');
    if (at % A_STEP === A_STEP - 1) yield;
  }
  for (const name of claim?.names ?? []) add(name, 'address');
  return slots;
}
