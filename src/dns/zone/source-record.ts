import { reverseName } from '../wire/address.ts';
import { MAX_TTL, TYPE } from '../wire/constants.ts';
import { isWildcard, parseName } from '../wire/name.ts';
import { parseRdata } from '../wire/rdata.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord, Parsed, Rdata } from '../wire/record.ts';

/** One record of a source, i.e. of the object or file it came from. Several sources may have records at one name. */
export interface SourceRecord {
  source: string;
  type: number;
  /** Undefined: the zone's. */
  ttl: number | undefined;
  data: Rdata;
}

/** A source's record with its owner name. */
export interface OwnedRecord extends SourceRecord {
  name: Name;
}

/** A record that is not served, and why: for an event on the object it came from. */
export interface RejectedRecord {
  record: DnsRecord;
  reason: string;
}

/** Parses one record of a source; the result has its PTR record too, if it asks for one. */
export function parseRecord(source: string, record: DnsRecord): Parsed<OwnedRecord[]> {
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
  const parsed: OwnedRecord = { source, name, type: TYPE[record.type], ttl, data: data.value };
  if (!record.ptr) return { value: [parsed] };
  const reverse = record.type === 'A' || record.type === 'AAAA' ? reverseName(record.data) : undefined;
  if (reverse === undefined) return { problem: 'only an address can have a PTR record' };
  return { value: [parsed, { source, name: reverse, type: TYPE.PTR, ttl, data: name }] };
}
