/**
 * Decides which object holds a DNS name that several objects claim: the oldest object, whatever the order in which the watch events
 * arrived, so that all replicas answer alike. The others get the name when it is free. The DNS server merges what it is given, so
 * this is the only place where a conflict is decided.
 */
import { isInZone } from '../names.ts';
import type { DnsRecord } from './dns-record.ts';

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
  /** The source that holds it. */
  holder: string;
}

/** Which records of a claim are granted, and which names are not. */
export interface Evaluation {
  source: string;
  granted: readonly DnsRecord[];
  refused: readonly NameConflict[];
}

/**
 * All claims by name. A change returns the evaluations of all sources that it may affect, in the order in which they are to be served:
 * those with refused names come last. For a moment a name then resolves to both, rather than to nothing, which resolvers would cache.
 */
export interface Claims {
  set(claim: Claim): Evaluation[];
  remove(source: string): Evaluation[];
}

/** What claims compete for: A, AAAA and CNAME of a name are one slot, each other record type is another. */
export function slotOf({ name, type }: Pick<DnsRecord, 'name' | 'type'>): string {
  return `${name} ${slotTypeOf(type)}`;
}

const SLOT_TYPES = ['address', 'SRV', 'TXT', 'PTR', 'NS'] as const;

function slotTypeOf(type: DnsRecord['type']): (typeof SLOT_TYPES)[number] {
  return type === 'A' || type === 'AAAA' || type === 'CNAME' ? 'address' : type;
}

/** The oldest of some claims. */
export function oldestOf(claims: Iterable<Claim>): Claim | undefined {
  let oldest: Claim | undefined;
  for (const claim of claims) if (!oldest || isBefore(claim, oldest)) oldest = claim;
  return oldest;
}

function isBefore(a: Claim, b: Claim): boolean {
  if (a.since !== b.since) return a.since < b.since;
  return a.claimGroup === b.claimGroup ? a.source < b.source : a.claimGroup < b.claimGroup;
}

function isOlderInOtherGroup(other: Claim, claim: Claim): boolean {
  return other.claimGroup !== claim.claimGroup && isBefore(other, claim);
}

/**
 * Two record types conflict with more than their own slot: no other record may stand beside a CNAME, and an NS record takes
 * everything at and below its name out of the zone. Neither may do that to an older claim, nor may a younger claim displace a CNAME.
 */
export function createClaims(): Claims {
  const claims = new Map<string, Claim>();
  const slots = new Map<string, Map<string, Claim>>();
  /** The sources of NS records, by name. */
  const zoneCuts = new Map<string, Set<string>>();

  const claimsOn = (slot: string): Iterable<Claim> => slots.get(slot)?.values() ?? [];
  const holderOf = (slot: string) => oldestOf(claimsOn(slot));

  /** The claim that keeps a record of another claim from being served. */
  function conflictOf(claim: Claim, record: DnsRecord): Claim | undefined {
    const holder = holderOf(slotOf(record));
    if (holder && holder.claimGroup !== claim.claimGroup) return holder;
    if (record.type === 'CNAME') return olderBeside(record.name, claim);
    if (record.type === 'NS') return olderBelow(record.name, claim);
    return slotTypeOf(record.type) === 'address' ? undefined : olderCname(record.name, claim);
  }

  /** The oldest claim on records of other types at the name of a CNAME. */
  function olderBeside(name: string, claim: Claim): Claim | undefined {
    const others = SLOT_TYPES.flatMap((type) => (type === 'address' ? [] : [...claimsOn(`${name} ${type}`)]));
    return oldestOf(others.filter((other) => isOlderInOtherGroup(other, claim)));
  }

  /** Searches all claims: NS records are few. */
  function olderBelow(name: string, claim: Claim): Claim | undefined {
    const older = [...claims.values()].filter((other) => isOlderInOtherGroup(other, claim));
    return oldestOf(older.filter(({ records }) => records.some((record) => isInZone(record.name, name))));
  }

  function olderCname(name: string, claim: Claim): Claim | undefined {
    const slot = `${name} address`;
    const holder = holderOf(slot);
    if (!holder || holder.claimGroup === claim.claimGroup) return undefined;
    const isServed = (other: Claim) =>
      other.claimGroup === holder.claimGroup &&
      isOlderInOtherGroup(other, claim) &&
      other.records.some((one) => one.type === 'CNAME' && one.name === name) &&
      !olderBeside(name, other);
    return oldestOf([...claimsOn(slot)].filter(isServed));
  }

  function evaluate(source: string): Evaluation {
    const claim = claims.get(source);
    const granted: DnsRecord[] = [];
    const refused = new Map<string, NameConflict>();
    for (const record of claim?.records ?? []) {
      const other = conflictOf(claim!, record);
      if (!other) granted.push(record);
      else refused.set(record.name, { name: record.name, holder: other.source });
    }
    return { source, granted, refused: [...refused.values()] };
  }

  function index(source: string, claim: Claim | undefined, touched: ReadonlySet<string>): void {
    for (const slot of touched) {
      const entry = slots.get(slot);
      entry?.delete(source);
      if (entry?.size === 0) slots.delete(slot);
    }
    if (claim) claims.set(source, claim);
    else claims.delete(source);
    for (const slot of new Set(claim?.records.map(slotOf))) {
      const entry = slots.get(slot) ?? new Map<string, Claim>();
      slots.set(slot, entry.set(source, claim!));
    }
  }

  function indexZoneCuts(source: string, claim: Claim | undefined): void {
    for (const [name, sources] of zoneCuts)
      if (sources.delete(source) && sources.size === 0) zoneCuts.delete(name);
    for (const { name, type } of claim?.records ?? [])
      if (type === 'NS') zoneCuts.set(name, (zoneCuts.get(name) ?? new Set()).add(source));
  }

  /** The sources whose evaluation depends on other slots of a name, or on names below theirs. */
  function* affectedAt(name: string): Generator<string> {
    const taken = SLOT_TYPES.map((type) => slots.get(`${name} ${type}`)).filter((slot) => slot !== undefined);
    if (taken.length > 1) for (const slot of taken) yield* slot.keys();
    for (const [cut, sources] of zoneCuts) if (isInZone(name, cut)) yield* sources;
  }

  function replace(source: string, claim: Claim | undefined): Evaluation[] {
    const changed = [...(claims.get(source)?.records ?? []), ...(claim?.records ?? [])];
    const touched = new Set(changed.map(slotOf));
    const before = new Map([...touched].map((slot) => [slot, holderOf(slot)]));
    const names = new Set(changed.map(({ name }) => name));
    const affected = new Set([source, ...[...names].flatMap((name) => [...affectedAt(name)])]);
    index(source, claim, touched);
    indexZoneCuts(source, claim);
    for (const name of names) for (const other of affectedAt(name)) affected.add(other);
    for (const [slot, held] of before) {
      const holder = holderOf(slot);
      if (held?.source === holder?.source && held?.claimGroup === holder?.claimGroup) continue;
      for (const other of slots.get(slot)?.keys() ?? []) affected.add(other);
    }
    return [...affected].map(evaluate).toSorted((a, b) => a.refused.length - b.refused.length);
  }

  return {
    set: (claim) => replace(claim.source, claim),
    remove: (source) => replace(source, undefined),
  };
}
