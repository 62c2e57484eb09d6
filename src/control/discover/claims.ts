/**
 * Who gets a name that several objects want. The older object does, whatever the order in which they were heard of, so that all
 * replicas answer the same; the others wait, and get it when it is free. It is decided here and nowhere else: the DNS server
 * joins what it is given.
 */
import type { DnsRecord } from './records.ts';

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
  return `${name} ${type === 'A' || type === 'AAAA' || type === 'CNAME' ? 'address' : type}`;
}

/** The claim that counts among those on one slot. */
export function winnerOf(claims: Iterable<Claim>): Claim | undefined {
  let best: Claim | undefined;
  for (const claim of claims) if (!best || isBefore(claim, best)) best = claim;
  return best;
}

function isBefore(a: Claim, b: Claim): boolean {
  if (a.since !== b.since) return a.since < b.since;
  return a.party === b.party ? a.source < b.source : a.party < b.party;
}

/**
 * `publish` is told of all sources of which something may have changed. Who was refused something comes last: for a moment a name
 * leads to both, rather than nowhere, which resolvers would remember.
 */
export function createClaims(publish: (verdicts: readonly Verdict[]) => void): Claims {
  const claims = new Map<string, Claim>();
  const slots = new Map<string, Map<string, Claim>>();

  const holderOf = (slot: string) => winnerOf(slots.get(slot)?.values() ?? []);

  function judge(source: string): Verdict {
    const claim = claims.get(source);
    const granted: DnsRecord[] = [];
    const refused = new Map<string, Refusal>();
    for (const record of claim?.records ?? []) {
      const holder = holderOf(slotOf(record))!;
      if (holder.party === claim!.party) granted.push(record);
      else refused.set(record.name, { name: record.name, winner: holder.source });
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

  function replace(source: string, claim: Claim | undefined): void {
    const touched = new Set([...slotsOf(claims.get(source)), ...slotsOf(claim)]);
    const before = new Map([...touched].map((slot) => [slot, holderOf(slot)]));
    place(source, claim, touched);
    const concerned = new Set([source]);
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
