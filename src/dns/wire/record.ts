import type { RecordType } from './constants.ts';
import type { Name } from './name.ts';

/** One record as controllers and configuration give it; `data` as in a zone file, names absolute. */
export interface DnsRecord {
  name: string;
  type: RecordType;
  data: string;
  /** Seconds; the zone's if absent. */
  ttl?: number | undefined;
  /** For an address: also publish the PTR record that leads back to the name. */
  ptr?: boolean | undefined;
}

/** The data of one record: its wire form without compression, one character a byte. */
export type Rdata = string;

/** All records of one name and type: the unit that the DNS answers with. */
export interface RRset {
  type: number;
  ttl: number;
  /** Sorted and without duplicates, so that equal sets are equal in every process. */
  data: readonly Rdata[];
}

/** The start of a zone: what its SOA record says. */
export interface Soa {
  primary: Name;
  contact: Name;
  serial: number;
  refresh: number;
  retry: number;
  expire: number;
  /** The TTL of negative answers (RFC 2308). */
  negativeTtl: number;
}

/** Either a value or a sentence that says what is wrong with the input. */
export type Parsed<T> = { value: T } | { problem: string };
