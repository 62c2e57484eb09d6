import { isIPv4, isIPv6 } from 'node:net';

/** A DNS record as the DNS server takes it; declared on both sides, since `control` and `dns` never import each other. */
export interface DnsRecord {
  name: string;
  type: 'A' | 'AAAA' | 'CNAME' | 'SRV' | 'TXT' | 'PTR' | 'NS';
  data: string;
  ttl?: number | undefined;
}

/** Where records go: the DNS server. */
export interface RecordSink {
  /** Replaces all records of a source; an empty list removes it. Returns the records that cannot be served, and why. */
  upsert(source: string, records: readonly DnsRecord[]): readonly { record: DnsRecord; reason: string }[];
  setReady(ready: boolean): void;
}

/** The records of an object, and what is invalid in it. */
export interface RecordResult {
  records: DnsRecord[];
  problems: string[];
  /** Names that the object claims even while it has no records there. */
  names?: string[];
}

/** The most records of one object: one object must not be able to fill the memory. */
export const MAX_RECORDS = 5000;

export const NO_RECORDS: Readonly<RecordResult> = { records: [], problems: [] };

/** The result of an object that has a problem and no records. */
export function onlyProblem(problem: string): RecordResult {
  return { records: [], problems: [problem] };
}

/** The A or AAAA record of an address. */
export function addressRecord(name: string, address: string): DnsRecord[] {
  if (isIPv4(address)) return [{ name, type: 'A', data: address }];
  return isIPv6(address) ? [{ name, type: 'AAAA', data: address }] : [];
}

/** The CNAME record of a name. There can be only one, so all replicas choose the first target in alphabetical order. */
export function aliasRecord(name: string, targets: readonly string[]): DnsRecord[] {
  const [target] = targets.toSorted();
  return target === undefined ? [] : [{ name, type: 'CNAME', data: target }];
}

/** Removes duplicates, and what exceeds the limit. */
export function limitRecords({ records, problems, ...rest }: RecordResult): RecordResult {
  const unique = new Map(records.map((record) => [`${record.name} ${record.type} ${record.data}`, record]));
  if (unique.size <= MAX_RECORDS) return { records: [...unique.values()], problems, ...rest };
  const excess = `it has ${unique.size} records, of which ${MAX_RECORDS} are served`;
  return { records: [...unique.values()].slice(0, MAX_RECORDS), problems: [...problems, excess], ...rest };
}
