/**
 * Who gets a name that several objects want. The older object does, whatever the order in which they were heard of, so that all
 * replicas answer the same; the others wait, and get it when it is free. It is decided here and nowhere else: the DNS server
 * joins what it is given.
 */
import { isInZone } from '../names.ts';
import type { DnsRecord } from './dns-record.ts';

export interface Claim {
  /** `<kind> <which>`, as the DNS server names it. */
  source: string;
  /** Claims of one party stand together: slices of one name in one namespace are pieces of one whole. */
  party: string;
  /** When the object was made, as Kubernetes writes it. */
  since: string;
  records: readonly DnsRecord[];
}

/** A name that went to another. */
export interface Refusal {
  name: string;
  winner: string;
}

export interface Claims {
  set(claim: Claim): void;
  remove(source: string): void;
}

/** What a source has been granted, and what it has not. */
export interface Verdict {
  source: string;
  granted: readonly DnsRecord[];
  refused: readonly Refusal[];
}

/** What is contended for: where a name leads to is one thing, and each other type of record another. */
export function slotOf({ name, type }: Pick<DnsRecord, 'name' | 'type'>): string {
  return `${name} ${kindOf(type)}`;
}

const KINDS = ['address', 'SRV', 'TXT', 'PTR', 'NS'] as const;

function kindOf(type: DnsRecord['type']): (typeof KINDS)[number] {
  return type === 'A' || type === 'AAAA' || type === 'CNAME' ? 'address' : type;
}

/** The claim that counts among those on one slot. */
export function winnerOf(claims: Iterable<Claim>): Claim | undefined {
  let best: Claim | undefined;
  for (const claim of claims) if (!best || isBefore(claim, best)) best = claim;
  return best;
}

function isOlderRival(other: Claim, claim: Claim): boolean {
  return other.party !== claim.party && isBefore(other, claim);
}

function isBefore(a: Claim, b: Claim): boolean {
  if (a.since !== b.since) return a.since < b.since;
  return a.party === b.party ? a.source < b.source : a.party < b.party;
}

/**
 * `publish` is told of all sources of which something may have changed. Who was refused something comes last: for a moment a name
 * leads to both, rather than nowhere, which resolvers would remember.
 *
 * Two types of record reach beyond their own slot: nothing can stand beside an alias, and a delegation takes everything at and below
 * its name away. Neither may do that to what is older, nor may what is younger push an alias out.
 */
export function createClaims(publish: (verdicts: readonly Verdict[]) => void): Claims {
  const claims = new Map<string, Claim>();
  const slots = new Map<string, Map<string, Claim>>();
  /** Who delegates what. */
  const cuts = new Map<string, Set<string>>();

  const claimsOn = (slot: string): Iterable<Claim> => slots.get(slot)?.values() ?? [];
  const holderOf = (slot: string) => winnerOf(claimsOn(slot));

  /** The claim that keeps a record of another from being served. */
  function rivalOf(claim: Claim, record: DnsRecord): Claim | undefined {
    const holder = holderOf(slotOf(record));
    if (holder && holder.party !== claim.party) return holder;
    if (record.type === 'CNAME') return olderBeside(record.name, claim);
    if (record.type === 'NS') return olderBelow(record.name, claim);
    return kindOf(record.type) === 'address' ? undefined : aliasBefore(record.name, claim);
  }

  /** Who has records of other sorts there already. */
  function olderBeside(name: string, claim: Claim): Claim | undefined {
    const all = KINDS.flatMap((kind) => (kind === 'address' ? [] : [...claimsOn(`${name} ${kind}`)]));
    return winnerOf(all.filter((other) => isOlderRival(other, claim)));
  }

  /** Looks through everything: delegations are few. */
  function olderBelow(name: string, claim: Claim): Claim | undefined {
    const older = [...claims.values()].filter((other) => isOlderRival(other, claim));
    return winnerOf(older.filter(({ records }) => records.some((record) => isInZone(record.name, name))));
  }

  function aliasBefore(name: string, claim: Claim): Claim | undefined {
    const slot = `${name} address`;
    const holder = holderOf(slot);
    if (!holder || holder.party === claim.party) return undefined;
    const isServed = (other: Claim) =>
      other.party === holder.party &&
      isOlderRival(other, claim) &&
      other.records.some((one) => one.type === 'CNAME' && one.name === name) &&
      !olderBeside(name, other);
    return winnerOf([...claimsOn(slot)].filter(isServed));
  }

  function judge(source: string): Verdict {
    const claim = claims.get(source);
    const granted: DnsRecord[] = [];
    const refused = new Map<string, Refusal>();
    for (const record of claim?.records ?? []) {
      const rival = rivalOf(claim!, record);
      if (!rival) granted.push(record);
      else refused.set(record.name, { name: record.name, winner: rival.source });
    }
    return { source, granted, refused: [...refused.values()] };
  }

  function place(source: string, claim: Claim | undefined, touched: ReadonlySet<string>): void {
    for (const slot of touched) {
      const entry = slots.get(slot);
      entry?.delete(source);
      if (entry?.size === 0) slots.delete(slot);
    }
    if (claim) claims.set(source, claim);
    else claims.delete(source);
    for (const slot of slotsOf(claim)) {
      const entry = slots.get(slot) ?? new Map<string, Claim>();
      slots.set(slot, entry.set(source, claim!));
    }
  }

  function noteCuts(source: string, claim: Claim | undefined): void {
    for (const [name, sources] of cuts) if (sources.delete(source) && sources.size === 0) cuts.delete(name);
    for (const { name, type } of claim?.records ?? [])
      if (type === 'NS') cuts.set(name, (cuts.get(name) ?? new Set()).add(source));
  }

  /** Whose records may have to give way, or need not any more, since something changed at a name. */
  function* concernedAt(name: string): Generator<string> {
    const kinds = KINDS.map((kind) => slots.get(`${name} ${kind}`)).filter((slot) => slot !== undefined);
    if (kinds.length > 1) for (const slot of kinds) yield* slot.keys();
    for (const [cut, sources] of cuts) if (isInZone(name, cut)) yield* sources;
  }

  function replace(source: string, claim: Claim | undefined): void {
    const changed = [...(claims.get(source)?.records ?? []), ...(claim?.records ?? [])];
    const touched = new Set(changed.map(slotOf));
    const before = new Map([...touched].map((slot) => [slot, holderOf(slot)]));
    const names = new Set(changed.map(({ name }) => name));
    const concerned = new Set([source, ...[...names].flatMap((name) => [...concernedAt(name)])]);
    place(source, claim, touched);
    noteCuts(source, claim);
    for (const name of names) for (const other of concernedAt(name)) concerned.add(other);
    for (const [slot, held] of before) {
      if (held?.source === holderOf(slot)?.source && held?.party === holderOf(slot)?.party) continue;
      for (const other of slots.get(slot)?.keys() ?? []) concerned.add(other);
    }
    publish([...concerned].map(judge).toSorted((a, b) => a.refused.length - b.refused.length));
  }

  return {
    set: (claim) => replace(claim.source, claim),
    remove: (source) => replace(source, undefined),
  };
}

function slotsOf(claim: Claim | undefined): Set<string> {
  return new Set(claim?.records.map(slotOf));
}
