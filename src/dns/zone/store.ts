import { TYPE } from '../wire/constants.ts';
import { formatName, parentOf } from '../wire/name.ts';
import { soaRdata } from '../wire/rdata.ts';
import { mergeRecords } from './merge.ts';
import { parseRecord } from './source-record.ts';
import { diffRRsets, updatesOf } from './update.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord, RRset, Soa } from '../wire/record.ts';
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
  /** Number of records by source. */
  counts(): ReadonlyMap<string, number>;
  /** All updates that lead to the present state, for a thread that starts later. */
  snapshot(): Update[];
}

/** All records at one name, and the RRsets that follow from them. */
interface NameEntry {
  zone: ZoneState;
  records: SourceRecord[];
  rrsets: RRset[];
}

interface ZoneState {
  spec: ZoneSpec;
  serial: number;
}

interface State {
  readonly zones: ReadonlyMap<Name, ZoneState>;
  readonly names: Map<Name, NameEntry>;
  /** The owner name of each record of a source. */
  readonly sources: Map<string, readonly Name[]>;
  readonly emit: (update: Update) => void;
  readonly now: () => number;
  ready: boolean;
  /** Whether a query can have been answered from the records. */
  wasReady: boolean;
}

/** Makes a store. `emit` gets each update in order; `now` is the time in seconds, from which serials are made. */
export function createStore(
  specs: readonly ZoneSpec[],
  emit: (update: Update) => void,
  now: () => number,
): Store {
  const zones = new Map<Name, ZoneState>(specs.map((spec) => [spec.name, { spec, serial: now() >>> 0 }]));
  const empty = { names: new Map<Name, NameEntry>(), sources: new Map<string, readonly Name[]>() };
  const state: State = { zones, ...empty, emit, now, ready: false, wasReady: false };
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
      const records = state.names.get(name)?.records.filter((each) => each.type === type) ?? [];
      return [...new Set(records.map(({ source }) => source))].toSorted();
    },
    counts: () => new Map([...state.sources].map(([source, { length }]) => [source, length])),
    snapshot: () => snapshot(state),
  };
}

function upsert(state: State, source: string, records: readonly DnsRecord[]): RejectedRecord[] {
  const { sources } = state;
  const { byName, origins, rejected } = parseAll(source, records, (name) => zoneOf(state, name));
  const names = new Set([...(sources.get(source) ?? []), ...byName.keys()]);
  const changes: RRsetChange[] = [];
  for (const name of names) {
    const merged = replaceRecords(state, source, name, byName.get(name) ?? [], changes);
    for (const { record, reason } of merged.rejected) {
      if (record.source === source) rejected.push({ record: origins.get(record)!, reason });
    }
  }
  const owners = [...byName].flatMap(([name, parsed]) => parsed.map(() => name));
  // concat and slice make arrays without spare capacity: there may be a hundred thousand of them.
  if (owners.length > 0) sources.set(source, owners.slice());
  else sources.delete(source);
  publish(state, changes);
  return rejected;
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
  const entry = state.names.get(name) ?? { zone, records: [], rrsets: [] };
  entry.records = entry.records.filter((other) => other.source !== source).concat(records);
  const merged = mergeRecords(name, entry.records, zone.spec.ttl);
  changes.push(...diffRRsets(zone.spec.name, name, entry.rrsets, merged.rrsets));
  entry.rrsets = merged.rrsets;
  if (entry.records.length > 0) state.names.set(name, entry);
  else state.names.delete(name);
  return merged;
}

function publish({ zones, emit, now, wasReady }: State, changes: RRsetChange[]): void {
  for (const name of new Set(changes.map(({ zone }) => zone))) {
    const zone = zones.get(name)!;
    // At least the time: a restart must not lead back to a serial that a secondary has seen already. Changes before the
    // first response count as one: a serial for each of thousands of objects would run ahead of the time by hours.
    zone.serial = Math.max(zone.serial + Number(wasReady), now()) >>> 0;
    changes.push({ zone: name, name, type: TYPE.SOA, rrset: soaRRset(zone) });
  }
  for (const update of updatesOf(changes)) emit(update);
}

function snapshot({ zones, names, ready }: State): Update[] {
  const changes: RRsetChange[] = [];
  for (const [name, { zone, rrsets }] of names) {
    for (const rrset of rrsets) changes.push({ zone: zone.spec.name, name, type: rrset.type, rrset });
  }
  return [...[...zones.values()].map(zoneUpdate), ...updatesOf(changes), { kind: 'ready', ready }];
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

function soaRRset({ spec, serial }: ZoneState): RRset {
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
