import { reverseName } from '../wire/address.ts';
import { TYPE } from '../wire/constants.ts';
import { formatName, isWildcard, parseName } from '../wire/name.ts';
import { parseRdata } from '../wire/rdata.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord, Parsed, Rdata, RRset } from '../wire/record.ts';

/** One record and the object it came from. Several objects may claim records of one name. */
export interface Claim {
  source: string;
  type: number;
  /** Undefined: the zone's. */
  ttl: number | undefined;
  data: Rdata;
}

export interface NamedClaim extends Claim {
  name: Name;
}

/** A record that is not served, and why: for an event on the object it came from. */
export interface Problem {
  record: DnsRecord;
  reason: string;
}

const MAX_TTL = 0x7fff_ffff; // RFC 2181 section 8

/** Reads one record of a source: its claim, and that of the PTR record if it asks for one. */
export function readRecord(source: string, record: DnsRecord): Parsed<NamedClaim[]> {
  const name = parseName(record.name);
  if (name === undefined) return { problem: `"${record.name}" is not a domain name` };
  const { ttl } = record;
  if (ttl !== undefined && !(Number.isInteger(ttl) && ttl >= 0 && ttl <= MAX_TTL)) {
    return { problem: `the TTL ${ttl} is not a number of seconds` };
  }
  const data = parseRdata(record.type, record.data);
  if ('problem' in data) return data;
  if (record.type === 'NS' && isWildcard(name)) {
    return { problem: 'a wildcard cannot be delegated (RFC 4592 section 4.2)' };
  }
  const claim: NamedClaim = { source, name, type: TYPE[record.type], ttl, data: data.value };
  if (!record.ptr) return { value: [claim] };
  const reverse = record.type === 'A' || record.type === 'AAAA' ? reverseName(record.data) : undefined;
  if (reverse === undefined) return { problem: 'only an address can have a PTR record' };
  return { value: [claim, { source, name: reverse, type: TYPE.PTR, ttl, data: name }] };
}

/** What a name answers with, given all claims on it, and which of them are not honoured. */
export interface Merged {
  rrsets: RRset[];
  losers: { claim: Claim; reason: string }[];
}

/**
 * Merges the claims on one name. The outcome depends on the claims alone, never on the order they came in, so that
 * every replica serves the same: records of a type are joined, with the smallest TTL; a CNAME cannot stand beside
 * anything else (RFC 2181 section 10.1), so other data win over it, and of two CNAMEs the source that sorts first.
 */
export function mergeClaims(name: Name, claims: readonly Claim[], defaultTtl: number): Merged {
  const aliases = claims.filter(({ type }) => type === TYPE.CNAME);
  const others = claims.filter(({ type }) => type !== TYPE.CNAME);
  if (others.length > 0 || aliases.length === 0) {
    const reason = `${formatName(name)} has other records, so it cannot be an alias`;
    return { rrsets: toRRsets(others, defaultTtl), losers: aliases.map((claim) => ({ claim, reason })) };
  }
  const winner = aliases.reduce((a, b) => (compareAliases(b, a) < 0 ? b : a));
  const agreeing = aliases.filter(({ data }) => data === winner.data);
  const reason = `${formatName(name)} is an alias already, by ${winner.source}`;
  const losers = aliases.filter(({ data }) => data !== winner.data).map((claim) => ({ claim, reason }));
  return { rrsets: toRRsets(agreeing, defaultTtl), losers };
}

function compareAliases(a: Claim, b: Claim): number {
  if (a.source !== b.source) return a.source < b.source ? -1 : 1;
  return a.data < b.data ? -1 : 1;
}

function toRRsets(claims: readonly Claim[], defaultTtl: number): RRset[] {
  const byType = new Map<number, Claim[]>();
  for (const claim of claims) {
    const same = byType.get(claim.type);
    if (same) same.push(claim);
    else byType.set(claim.type, [claim]);
  }
  return [...byType].map(([type, same]) => ({
    type,
    ttl: Math.min(...same.map(({ ttl }) => ttl ?? defaultTtl)),
    data: same.length === 1 ? [same[0]!.data] : [...new Set(same.map(({ data }) => data))].toSorted(),
  }));
}

/** Whether two RRsets answer the same. */
export function sameRRset(a: RRset, b: RRset): boolean {
  return (
    a.type === b.type &&
    a.ttl === b.ttl &&
    a.data.length === b.data.length &&
    a.data.every((data, i) => data === b.data[i])
  );
}
