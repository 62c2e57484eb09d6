import { BoundedMap } from '../../ops/bounded-map.ts';
import { createShardedMap } from '../../ops/sharded-map.ts';
import { TYPE, typeName } from '../wire/constants.ts';
import { formatName, parentOf } from '../wire/name.ts';
import { formatRdata, soaRdata } from '../wire/rdata.ts';
import { createZoneContent } from './content.ts';
import { mergeRecords } from './merge.ts';
import { parseRecord } from './source-record.ts';
import { diffRRsets } from './update.ts';
import type { ShardedMap } from '../../ops/sharded-map.ts';
import type { RecordType } from '../wire/constants.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord, RRset, Soa } from '../wire/record.ts';
import type { ZoneContent } from './content.ts';
import type { Merged } from './merge.ts';
import type { OwnedRecord, RejectedRecord, SourceRecord } from './source-record.ts';
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

/**
 * The records of all sources, i.e. of the objects and files they came from. It turns "this source now has these
 * records" into the smallest list of changed RRsets, for the zones that every thread answers from.
 */
export interface Store {
  /** Replaces all records of a source (none: removes it), and returns those that cannot be served; the rest is served. */
  upsert(source: string, records: readonly DnsRecord[]): RejectedRecord[];
  /** Says whether the records are complete; until then every query gets SERVFAIL. */
  setReady(ready: boolean): void;
  readonly ready: boolean;
  /** The sources of an RRset. */
  sourcesOf(name: Name, type: number): string[];
  /** The records that were upserted, but for those of the configuration, which has them, and of a snapshot. May be changed meanwhile. */
  liveRecords(): Iterable<DnsRecord>;
  /** Number of records by source. */
  counts(): ReadonlyMap<string, number>;
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

interface ZoneState {
  spec: ZoneSpec;
  serial: number;
  content: ZoneContent;
  /** Fingerprints that it had, with the present one. */
  recent: BoundedMap<string, true>;
}

/** As many changes as a replica may be ahead of the one that says which serial there is. */
const RECENT = 1024;

/** A list that costs nothing where it has one element: there are a hundred thousand of them, and most have one. */
type Few<T> = T | readonly T[];

interface State {
  readonly zones: ReadonlyMap<Name, ZoneState>;
  /** The records at each name. Not the RRsets that follow from them: those are in the zones. */
  readonly names: ShardedMap<Few<SourceRecord>>;
  /** The owner name of each record of a source. */
  readonly sources: ShardedMap<Few<Name>>;
  readonly emit: (update: Update) => void;
  readonly now: () => number;
  readonly serials: 'own' | 'given';
  ready: boolean;
  /** Whether a query can have been answered from the records. */
  wasReady: boolean;
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
  const state: State = { zones, ...empty, emit, now, serials, ready: false, wasReady: false };
  for (const zone of zones.values()) emit(zoneUpdate(zone));
  for (const { spec } of zones.values()) {
    upsert(state, `zone ${formatName(spec.name)}`, nameserverRecords(spec));
  }
  return {
    upsert: (source, records) => upsert(state, source, records),
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
    counts: () => new Map([...state.sources].map(([source, names]) => [source, listOf(names).length])),
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

/** The content begins with what is in the SOA record besides the serial: a change of that is one of the zone. */
function zoneState(spec: ZoneSpec, serial: number): ZoneState {
  const content = createZoneContent();
  const zone = { spec, serial: 0, content, recent: new BoundedMap<string, true>(RECENT) };
  content.add(spec.name, soaRRset(zone));
  return { ...zone, serial };
}

function soaChange(zone: ZoneState, serial: number): RRsetChange {
  const before = soaRRset(zone);
  zone.serial = serial;
  return { zone: zone.spec.name, name: zone.spec.name, type: TYPE.SOA, rrset: soaRRset(zone), before };
}

function upsert(state: State, source: string, records: readonly DnsRecord[]): RejectedRecord[] {
  const { sources } = state;
  const { byName, origins, rejected } = parseAll(source, records, (name) => zoneOf(state, name));
  const names = new Set([...listOf(sources.get(source)), ...byName.keys()]);
  const changes: RRsetChange[] = [];
  for (const name of names) {
    const merged = replaceRecords(state, source, name, byName.get(name) ?? [], changes);
    for (const { record, reason } of merged.rejected) {
      if (record.source === source) rejected.push({ record: origins.get(record)!, reason });
    }
  }
  const owners = [...byName].flatMap(([name, parsed]) => parsed.map(() => name));
  if (owners.length > 0) sources.set(source, fewOf(owners));
  else sources.delete(source);
  publish(state, changes);
  return rejected;
}

function fewOf<T>(list: readonly T[]): Few<T> {
  return list.length === 1 ? list[0]! : list.slice(); // without spare capacity
}

function listOf<T extends object | string>(few: Few<T> | undefined): readonly T[] {
  if (few === undefined) return [];
  return Array.isArray(few) ? (few as readonly T[]) : [few as T];
}

function zoneOf({ zones }: State, name: Name): ZoneState | undefined {
  for (let at: Name | undefined = name; at !== undefined; at = parentOf(at)) {
    const zone = zones.get(at);
    if (zone) return zone;
  }
  return undefined;
}

/** Replaces the records that a source has at one name, and adds what that changes to `changes`. */
function replaceRecords(
  state: State,
  source: string,
  name: Name,
  records: SourceRecord[],
  changes: RRsetChange[],
): Merged {
  const zone = zoneOf(state, name)!;
  const before = listOf(state.names.get(name));
  const after = before.filter((other) => other.source !== source).concat(records);
  const merged = mergeRecords(name, after, zone.spec.ttl);
  const { rrsets } = mergeRecords(name, before, zone.spec.ttl);
  changes.push(...diffRRsets(zone.spec.name, name, rrsets, merged.rrsets));
  if (after.length > 0) state.names.set(name, fewOf(after));
  else state.names.delete(name);
  return merged;
}

function publish(state: State, changes: RRsetChange[]): void {
  const { zones, emit, now, wasReady, serials } = state;
  if (serials === 'given') noteContents(state, changes);
  else
    for (const name of new Set(changes.map(({ zone }) => zone))) {
      const zone = zones.get(name)!;
      // At least the time: a restart must not lead back to a serial that a secondary has seen already. Changes before the
      // first response count as one: a serial for each of thousands of objects would run ahead of the time by hours.
      const serial = Math.max(zone.serial + Number(wasReady), now()) >>> 0;
      if (serial !== zone.serial) changes.push(soaChange(zone, serial));
    }
  if (changes.length > 0) emit({ kind: 'rrsets', changes });
}

function noteContents({ zones, wasReady }: State, changes: readonly RRsetChange[]): void {
  const changed = new Set<ZoneState>();
  for (const { zone: zoneName, name, rrset, before } of changes) {
    const zone = zones.get(zoneName)!;
    // What is left behind can be met with elsewhere only if it has been served here.
    if (wasReady && !changed.has(zone)) zone.recent.set(zone.content.fingerprint, true);
    changed.add(zone);
    if (before) zone.content.remove(name, before);
    if (rrset) zone.content.add(name, rrset);
  }
}

/** Sources that a start has anyway. */
const AT_START = /^(?:zone|config|file|snapshot|default)(?: |$)/;

function* liveRecords({ names }: State): Iterable<DnsRecord> {
  for (const [name, records] of names) {
    for (const { source, type, ttl, data } of listOf(records)) {
      if (AT_START.test(source)) continue;
      const text = formatRdata(type, data);
      yield { name: formatName(name), type: typeName(type) as RecordType, data: text, ttl };
    }
  }
}

/** The parsed records of a source by owner name, and which record each was parsed from. */
interface ParsedSource {
  byName: Map<Name, SourceRecord[]>;
  origins: Map<SourceRecord, DnsRecord>;
  rejected: RejectedRecord[];
}

function parseAll(
  source: string,
  records: readonly DnsRecord[],
  zoneOf: (name: Name) => ZoneState | undefined,
): ParsedSource {
  const result: ParsedSource = { byName: new Map(), origins: new Map(), rejected: [] };
  for (const record of records) {
    const parsed = parseRecord(source, record);
    const reason = 'problem' in parsed ? parsed.problem : checkZone(parsed.value, zoneOf);
    if ('problem' in parsed || reason !== undefined) {
      result.rejected.push({ record, reason: reason! });
      continue;
    }
    for (const { name, ...rest } of parsed.value) {
      const same = result.byName.get(name);
      if (same) same.push(rest);
      else result.byName.set(name, [rest]);
      result.origins.set(rest, record);
    }
  }
  return result;
}

/** Why the zones cannot hold these records; undefined if they can. */
function checkZone(
  records: readonly OwnedRecord[],
  zoneOf: (name: Name) => ZoneState | undefined,
): string | undefined {
  for (const { name, type } of records) {
    const zone = zoneOf(name);
    if (!zone) return `${formatName(name)} is in no zone of this server`;
    if (type === TYPE.CNAME && name === zone.spec.name) return 'a zone apex cannot have a CNAME record';
  }
  return undefined;
}

function soaRRset({ spec, serial }: Pick<ZoneState, 'spec' | 'serial'>): RRset {
  return { type: TYPE.SOA, ttl: spec.soaTtl, data: [soaRdata({ ...spec.soa, serial })] };
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
