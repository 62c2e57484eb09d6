import { TYPE } from '../wire/constants.ts';
import { formatName } from '../wire/name.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { SourceRecord } from './source-record.ts';

/** The RRsets of a name, and the records of its sources that are in none of them. */
export interface Merged {
  rrsets: RRset[];
  rejected: { record: SourceRecord; reason: string }[];
}

/** Sources of records that are served only where, and as long as, nobody else has any at their name. That of the snapshot is in parts. */
export const SNAPSHOT_SOURCE = 'snapshot ';
export const DEFAULT_SOURCE = 'default';
const givesWay = (source: string) => source === DEFAULT_SOURCE || source.startsWith(SNAPSHOT_SOURCE);

/**
 * Merges the records that all sources have at one name. The result depends on the records alone, never on the order
 * they came in, so that every replica serves the same: records of a type are joined, with the smallest TTL; a CNAME
 * cannot stand beside anything else (RFC 2181 section 10.1), so other records win over it, and of two CNAMEs the
 * source that sorts first.
 */
export function mergeRecords(name: Name, all: readonly SourceRecord[], defaultTtl: number): Merged {
  const live = all.filter(({ source }) => !givesWay(source));
  const records = live.length > 0 ? live : all;
  const cnames = records.filter(({ type }) => type === TYPE.CNAME);
  const others = records.filter(({ type }) => type !== TYPE.CNAME);
  if (others.length > 0 || cnames.length === 0) {
    const reason = () => `${formatName(name)} has other records, so it cannot have a CNAME record`;
    const rejected = cnames.map((record) => ({ record, reason: reason() }));
    return { rrsets: toRRsets(others, defaultTtl), rejected };
  }
  const winner = cnames.reduce((a, b) => (compareCnames(b, a) < 0 ? b : a));
  const agreeing = cnames.filter(({ data }) => data === winner.data);
  const reason = () => `${formatName(name)} already has another CNAME record, from ${winner.source}`;
  const losers = cnames.filter(({ data }) => data !== winner.data);
  const rejected = losers.map((record) => ({ record, reason: reason() }));
  return { rrsets: toRRsets(agreeing, defaultTtl), rejected };
}

function compareCnames(a: SourceRecord, b: SourceRecord): number {
  if (a.source !== b.source) return a.source < b.source ? -1 : 1;
  return a.data < b.data ? -1 : 1;
}

function toRRsets(records: readonly SourceRecord[], defaultTtl: number): RRset[] {
  const byType = new Map<number, SourceRecord[]>();
  for (const record of records) {
    const same = byType.get(record.type);
    if (same) same.push(record);
    else byType.set(record.type, [record]);
  }
  return [...byType].map(([type, same]) => ({
    type,
    ttl: Math.min(...same.map(({ ttl }) => ttl ?? defaultTtl)),
    data: same.length === 1 ? [same[0]!.data] : [...new Set(same.map(({ data }) => data))].toSorted(),
  }));
}
