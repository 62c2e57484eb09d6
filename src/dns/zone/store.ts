import { createShardedMap } from '../../ops/sharded-map.ts';
import { atOnce } from '../../ops/time-slice.ts';
import { typeName } from '../wire/constants.ts';
import { formatName } from '../wire/name.ts';
import { formatRdata } from '../wire/rdata.ts';
import { createListings } from './listing.ts';
import { mergeRecords } from './merge.ts';
import { listOf, soaChange, soaRRset, zoneOf, zoneState } from './store-state.ts';
import { upsertSteps } from './upsert.ts';
import type { RecordType } from '../wire/constants.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord, RRset } from '../wire/record.ts';
import type { NamedRRsets } from './listing.ts';
import type { RejectedRecord, SourceRecord } from './source-record.ts';
import type { Few, StoreState, ZoneSpec, ZoneState } from './store-state.ts';
import type { Update } from './update.ts';

/**
 * The records of all sources, i.e. of the objects and files they came from. It turns "this source now has these
 * records" into the smallest list of changed RRsets, for the zones that every thread answers from.
 */
export interface Store {
  /** Replaces all records of a source (none: removes it), and returns those that cannot be served; the rest is served. */
  upsert(source: string, records: readonly DnsRecord[]): RejectedRecord[];
  /** The same for a source with very many records, in steps, which are to be gone through to their end. A zone's serial changes in the last. */
  upsertSteps(source: string, records: readonly DnsRecord[]): Generator<undefined, RejectedRecord[]>;
  /** Resolves when no change is half made. */
  whole(): Promise<void>;
  /** Says whether the records are complete; until then every query gets SERVFAIL. */
  setReady(ready: boolean): void;
  readonly ready: boolean;
  /** The sources of an RRset. */
  sourcesOf(name: Name, type: number): string[];
  /** The records that were upserted, but for those of the configuration, which has them, and of a snapshot. May be changed meanwhile. */
  liveRecords(): Iterable<DnsRecord>;
  /** Number of records by the kind of their source. */
  counts(): ReadonlyMap<string, number>;
  /** The SOA record of a zone; and all others, as they are now, step by step: see `Listings`. */
  soaOf(zone: Name): RRset;
  listZone(zone: Name): Generator<NamedRRsets | undefined>;
  /** The serial that a zone shows. */
  serialOf(zone: Name): number;
  /** Gives a zone its serial; where serials are given. */
  setSerial(zone: Name, serial: number): void;
  /** The fingerprint of a zone's records; where serials are given. */
  contentOf(zone: Name): string;
  /** Whether a zone has, or had lately, records with this fingerprint: then it has those, or newer ones. */
  hasReached(zone: Name, content: string): boolean;
}

export interface StoreOptions {
  /** The time in seconds, from which serials are made. */
  now: () => number;
  /** `own`: every change of a zone makes a new serial. `given`: only `setSerial` does. */
  serials?: 'own' | 'given';
}

/** Makes a store. `emit` gets each update in order. */
export function createStore(
  specs: readonly ZoneSpec[],
  emit: (update: Update) => void,
  { now, serials = 'own' }: StoreOptions,
): Store {
  // As long as none is given, all replicas show the same: one that is before all others.
  const first = serials === 'given' ? 1 : now() >>> 0;
  const zones = new Map(specs.map((spec) => [spec.name, zoneState(spec, first)]));
  const empty = { names: createShardedMap<Few<SourceRecord>>(), sources: createShardedMap<Few<Name>>() };
  const made = { kinds: new Map<string, number>(), listings: createListings(), waiting: [] };
  const flags = { ready: false, wasReady: false, unfinished: 0 };
  const state: StoreState = { zones, ...empty, ...made, emit, now, serials, ...flags };
  for (const zone of zones.values()) emit(zoneUpdate(zone));
  for (const { spec } of zones.values()) {
    atOnce(upsertSteps(state, `zone ${formatName(spec.name)}`, nameserverRecords(spec)));
  }
  return {
    upsert: (source, records) => atOnce(upsertSteps(state, source, records)),
    upsertSteps: (source, records) => upsertSteps(state, source, records),
    async whole() {
      while (state.unfinished > 0) await new Promise<void>((resolve) => state.waiting.push(resolve));
    },
    setReady(ready) {
      if (ready === state.ready) return;
      state.ready = ready;
      state.wasReady ||= ready;
      emit({ kind: 'ready', ready });
    },
    get ready() {
      return state.ready;
    },
    sourcesOf(name, type) {
      const records = listOf(state.names.get(name)).filter((each) => each.type === type);
      return [...new Set(records.map(({ source }) => source))].toSorted();
    },
    liveRecords: () => liveRecords(state),
    counts: () => state.kinds,
    soaOf: (zone) => soaRRset(zones.get(zone)!),
    listZone: (zone) => state.listings.begin(zone, presentNames(state, zones.get(zone)!)),
    serialOf: (zone) => zones.get(zone)!.serial,
    setSerial(name, serial) {
      const zone = zones.get(name)!;
      if (zone.serial !== serial) emit({ kind: 'rrsets', changes: [soaChange(zone, serial)] });
    },
    contentOf: (zone) => zones.get(zone)!.content.fingerprint,
    hasReached(zone, content) {
      const { recent, content: present } = zones.get(zone)!;
      return present.fingerprint === content || recent.has(content);
    },
  };
}

/** The RRsets of a zone but its SOA record; undefined for names of other zones. */
function* presentNames(state: StoreState, zone: ZoneState): Generator<NamedRRsets | undefined> {
  for (const name of state.names.keys()) {
    const records = zoneOf(state, name) === zone ? listOf(state.names.get(name)) : [];
    yield records.length > 0
      ? { name, rrsets: mergeRecords(name, records, zone.spec.ttl).rrsets }
      : undefined;
  }
}

/** Sources that a start has anyway. */
const AT_START = /^(?:zone|config|file|snapshot|default)(?: |$)/;

function* liveRecords({ names }: StoreState): Iterable<DnsRecord> {
  for (const [name, records] of names) {
    for (const { source, type, ttl, data } of listOf(records)) {
      if (AT_START.test(source)) continue;
      const text = formatRdata(type, data);
      yield { name: formatName(name), type: typeName(type) as RecordType, data: text, ttl };
    }
  }
}

function zoneUpdate(zone: ZoneState): Update {
  return { kind: 'zone', name: zone.spec.name, soa: soaRRset(zone) };
}

function nameserverRecords(spec: ZoneSpec): DnsRecord[] {
  return spec.nameservers.map((data) => ({
    name: formatName(spec.name),
    type: 'NS' as const,
    data: formatName(data),
  }));
}
