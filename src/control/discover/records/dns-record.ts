import { isIPv4, isIPv6 } from 'node:net';

/** A DNS record as the DNS server takes it; it is defined on both sides, since neither may know the other. */
export interface DnsRecord {
  name: string;
  type: 'A' | 'AAAA' | 'CNAME' | 'SRV' | 'TXT' | 'PTR' | 'NS';
  data: string;
  ttl?: number | undefined;
}

/** Where records go: the DNS server. */
export interface RecordSink {
  /** Replaces all records of a source, with none to take it out; what cannot be served comes back with the reason. */
  upsert(source: string, records: readonly DnsRecord[]): readonly { record: DnsRecord; reason: string }[];
  setReady(ready: boolean): void;
}

/** What an object says, and what in it makes no sense. */
export interface Told {
  records: DnsRecord[];
  problems: string[];
}

/** More than this of one object is not taken in: one object must not be able to fill the memory. */
export const MAX_RECORDS = 5000;

export function problem(text: string): Told {
  return { records: [], problems: [text] };
}

/** The record that leads a name to an address, of whichever family. */
export function addressRecord(name: string, address: string): DnsRecord[] {
  if (isIPv4(address)) return [{ name, type: 'A', data: address }];
  return isIPv6(address) ? [{ name, type: 'AAAA', data: address }] : [];
}

/** Leads a name to other names: a name can be an alias of one only, so that all replicas take the same. */
export function aliasRecord(name: string, targets: readonly string[]): DnsRecord[] {
  const [target] = targets.toSorted();
  return target === undefined ? [] : [{ name, type: 'CNAME', data: target }];
}

/** Leaves out what is said twice, and what is too much. */
export function bounded({ records, problems }: Told): Told {
  const unique = new Map(records.map((record) => [`${record.name} ${record.type} ${record.data}`, record]));
  if (unique.size <= MAX_RECORDS) return { records: [...unique.values()], problems };
  const excess = `it has ${unique.size} records, of which ${MAX_RECORDS} are served`;
  return { records: [...unique.values()].slice(0, MAX_RECORDS), problems: [...problems, excess] };
}
