import { BoundedMap } from '../../ops/bounded-map.ts';
import { TYPE } from '../wire/constants.ts';
import { parentOf } from '../wire/name.ts';
import { soaRdata } from '../wire/rdata.ts';
import { createZoneContent } from './content.ts';
import type { ShardedMap } from '../../ops/sharded-map.ts';
import type { Name } from '../wire/name.ts';
import type { RRset, Soa } from '../wire/record.ts';
import type { ZoneContent } from './content.ts';
import type { Listings } from './listing.ts';
import type { SourceRecord } from './source-record.ts';
import type { RRsetChange, Update } from './update.ts';

/** A zone to serve. */
export interface ZoneSpec {
  name: Name;
  soa: Omit<Soa, 'serial'>;
  soaTtl: number;
  /** TTL of records that have none of their own. */
  ttl: number;
  nameservers: readonly Name[];
}

export interface ZoneState {
  spec: ZoneSpec;
  serial: number;
  content: ZoneContent;
  /** Fingerprints that it had, with the present one. */
  recent: BoundedMap<string, true>;
}

/** As many changes as a replica may be ahead of the one that says which serial there is. */
const RECENT = 1024;

/** A list that costs nothing where it has one element: there are a hundred thousand of them, and most have one. */
export type Few<T> = T | readonly T[];

export interface StoreState {
  readonly zones: ReadonlyMap<Name, ZoneState>;
  /** The records at each name. Not the RRsets that follow from them: those are in the zones. */
  readonly names: ShardedMap<Few<SourceRecord>>;
  /** The owner name of each record of a source. */
  readonly sources: ShardedMap<Few<Name>>;
  /** Number of records by kind. */
  readonly kinds: Map<string, number>;
  readonly listings: Listings;
  readonly emit: (update: Update) => void;
  readonly now: () => number;
  readonly serials: 'own' | 'given';
  ready: boolean;
  /** Whether a query can have been answered from the records. */
  wasReady: boolean;
  /** How many changes are half made, and who waits for their end. */
  unfinished: number;
  readonly waiting: (() => void)[];
}

/** The content begins with what is in the SOA record besides the serial: a change of that is one of the zone. */
export function zoneState(spec: ZoneSpec, serial: number): ZoneState {
  const content = createZoneContent();
  const zone = { spec, serial: 0, content, recent: new BoundedMap<string, true>(RECENT) };
  content.add(spec.name, soaRRset(zone));
  return { ...zone, serial };
}

export function soaChange(zone: ZoneState, serial: number): RRsetChange {
  const before = soaRRset(zone);
  zone.serial = serial;
  return { zone: zone.spec.name, name: zone.spec.name, type: TYPE.SOA, rrset: soaRRset(zone), before };
}

export function fewOf<T>(list: readonly T[]): Few<T> {
  return list.length === 1 ? list[0]! : list.slice(); // without spare capacity
}

export function listOf<T extends object | string>(few: Few<T> | undefined): readonly T[] {
  if (few === undefined) return [];
  return Array.isArray(few) ? (few as readonly T[]) : [few as T];
}

export function zoneOf({ zones }: StoreState, name: Name): ZoneState | undefined {
  for (let at: Name | undefined = name; at !== undefined; at = parentOf(at)) {
    const zone = zones.get(at);
    if (zone) return zone;
  }
  return undefined;
}

export function soaRRset({ spec, serial }: Pick<ZoneState, 'spec' | 'serial'>): RRset {
  return { type: TYPE.SOA, ttl: spec.soaTtl, data: [soaRdata({ ...spec.soa, serial })] };
}
