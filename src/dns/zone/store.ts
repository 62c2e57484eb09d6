import { TYPE } from '../wire/constants.ts';
import { formatName, parentOf } from '../wire/name.ts';
import { soaRdata } from '../wire/rdata.ts';
import { mergeClaims, readRecord, sameRRset } from './source-record.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord, RRset, Soa } from '../wire/record.ts';
import type { Claim, NamedClaim, Problem } from './source-record.ts';
import type { RRsetChange } from './zone.ts';
import type { Update } from './zones.ts';

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
 * Which object wants which records, and what follows from it for the zones. It decides nothing about DNS; it turns
 * "this source now has these records" into the smallest list of changed RRsets.
 */
export interface Store {
  /** Replaces all records of a source. Records that cannot be served come back with the reason; the rest is served. */
  upsert(source: string, records: readonly DnsRecord[]): Problem[];
  /** Forgets a source and its records. */
  remove(source: string): void;
  /** Says whether the data are complete enough to answer from. */
  setReady(ready: boolean): void;
  readonly ready: boolean;
  /** The sources that a RRset came from. */
  sourcesOf(name: Name, type: number): string[];
  /** Number of records by source. */
  counts(): ReadonlyMap<string, number>;
  /** Everything from the start, for a thread that begins later. */
  snapshot(): Update[];
}

interface Entry {
  zone: ZoneState;
  claims: Claim[];
  rrsets: RRset[];
}

interface ZoneState {
  spec: ZoneSpec;
  serial: number;
}

/** Changes a message: small enough that a thread which applies them between two queries stays quick. */
const CHANGES_PER_UPDATE = 256;

interface State {
  readonly zones: ReadonlyMap<Name, ZoneState>;
  readonly entries: Map<Name, Entry>;
  /** The name of each record of a source. */
  readonly sources: Map<string, readonly Name[]>;
  readonly emit: (update: Update) => void;
  readonly now: () => number;
  ready: boolean;
  /** Whether anybody can have been given an answer. */
  wasReady: boolean;
}

/** Makes a store. `emit` gets each update in order; `now` is the time in seconds, from which serials are made. */
export function createStore(
  specs: readonly ZoneSpec[],
  emit: (update: Update) => void,
  now: () => number,
): Store {
  const zones = new Map<Name, ZoneState>(specs.map((spec) => [spec.name, { spec, serial: now() >>> 0 }]));
  const empty = { entries: new Map<Name, Entry>(), sources: new Map<string, readonly Name[]>() };
  const state: State = { zones, ...empty, emit, now, ready: false, wasReady: false };
  for (const zone of zones.values()) emit(zoneUpdate(zone));
  for (const { spec } of zones.values()) {
    upsert(state, `zone ${formatName(spec.name)}`, nameserverRecords(spec));
  }
  return {
    upsert: (source, records) => upsert(state, source, records),
    remove: (source) => void upsert(state, source, []),
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
      const claims = state.entries.get(name)?.claims.filter((each) => each.type === type) ?? [];
      return [...new Set(claims.map(({ source }) => source))].toSorted();
    },
    counts: () => new Map([...state.sources].map(([source, { length }]) => [source, length])),
    snapshot: () => snapshot(state),
  };
}

function upsert(state: State, source: string, records: readonly DnsRecord[]): Problem[] {
  const { sources } = state;
  const { wanted, owners, problems } = readAll(source, records, (name) => zoneOf(state, name));
  const names = new Set([...(sources.get(source) ?? []), ...wanted.keys()]);
  const changes: RRsetChange[] = [];
  for (const name of names) {
    for (const { claim, reason } of replaceClaims(state, source, name, wanted.get(name) ?? [], changes)) {
      problems.push({ record: owners.get(claim)!, reason });
    }
  }
  const claimed = [...wanted].flatMap(([name, claims]) => claims.map(() => name));
  // concat and slice make arrays without room to grow in: there may be a hundred thousand of them.
  if (claimed.length > 0) sources.set(source, claimed.slice());
  else sources.delete(source);
  publish(state, changes);
  return problems;
}

function zoneOf({ zones }: State, name: Name): ZoneState | undefined {
  for (let at: Name | undefined = name; at !== undefined; at = parentOf(at)) {
    const zone = zones.get(at);
    if (zone) return zone;
  }
  return undefined;
}

/** Replaces the claims of a source at one name; adds what changed to `changes`, and returns the source's losers. */
function replaceClaims(
  state: State,
  source: string,
  name: Name,
  claims: Claim[],
  changes: RRsetChange[],
): LostClaim[] {
  const zone = zoneOf(state, name)!;
  const entry = state.entries.get(name) ?? { zone, claims: [], rrsets: [] };
  entry.claims = entry.claims.filter((other) => other.source !== source).concat(claims);
  const merged = mergeClaims(name, entry.claims, zone.spec.ttl);
  changes.push(...changesBetween(zone.spec.name, name, entry.rrsets, merged.rrsets));
  entry.rrsets = merged.rrsets;
  if (entry.claims.length > 0) state.entries.set(name, entry);
  else state.entries.delete(name);
  return merged.losers.filter((loser) => loser.claim.source === source);
}

function publish({ zones, emit, now, wasReady }: State, changes: RRsetChange[]): void {
  for (const name of new Set(changes.map(({ zone }) => zone))) {
    const zone = zones.get(name)!;
    // At least the time: a restart must not lead back to a serial that a secondary has seen already. What comes before anybody is
    // answered is one change to those who ask: a count of thousands of objects would run ahead of the time by hours.
    zone.serial = Math.max(zone.serial + Number(wasReady), now()) >>> 0;
    changes.push({ zone: name, name, type: TYPE.SOA, rrset: soaRRset(zone) });
  }
  for (const part of inParts(changes)) emit({ kind: 'rrsets', changes: part });
}

function snapshot({ zones, entries, ready }: State): Update[] {
  const updates: Update[] = [...zones.values()].map((zone) => zoneUpdate(zone));
  const changes: RRsetChange[] = [];
  for (const [name, { zone, rrsets }] of entries) {
    for (const rrset of rrsets) changes.push({ zone: zone.spec.name, name, type: rrset.type, rrset });
  }
  for (const part of inParts(changes)) updates.push({ kind: 'rrsets', changes: part });
  return [...updates, { kind: 'ready', ready }];
}

interface LostClaim {
  claim: Claim;
  reason: string;
}

/** The claims of a source by name, and which record each claim was made from. */
interface Wanted {
  wanted: Map<Name, Claim[]>;
  owners: Map<Claim, DnsRecord>;
  problems: Problem[];
}

function readAll(
  source: string,
  records: readonly DnsRecord[],
  zoneOf: (name: Name) => ZoneState | undefined,
): Wanted {
  const result: Wanted = { wanted: new Map(), owners: new Map(), problems: [] };
  for (const record of records) {
    const read = readRecord(source, record);
    const problem = 'problem' in read ? read.problem : misplaced(read.value, zoneOf);
    if ('problem' in read || problem !== undefined) {
      result.problems.push({ record, reason: problem! });
      continue;
    }
    for (const { name, ...claim } of read.value) {
      const same = result.wanted.get(name);
      if (same) same.push(claim);
      else result.wanted.set(name, [claim]);
      result.owners.set(claim, record);
    }
  }
  return result;
}

function misplaced(
  claims: readonly NamedClaim[],
  zoneOf: (name: Name) => ZoneState | undefined,
): string | undefined {
  for (const { name, type } of claims) {
    const zone = zoneOf(name);
    if (!zone) return `${formatName(name)} lies in no zone that is served here`;
    if (type === TYPE.CNAME && name === zone.spec.name) return 'the apex of a zone cannot be an alias';
  }
  return undefined;
}

function changesBetween(zone: Name, name: Name, before: RRset[], after: RRset[]): RRsetChange[] {
  const gone = before.filter((old) => !after.some(({ type }) => type === old.type));
  const fresh = after.filter((rrset) => !before.some((old) => sameRRset(old, rrset)));
  return [
    ...gone.map(({ type }) => ({ zone, name, type, rrset: undefined })),
    ...fresh.map((rrset) => ({ zone, name, type: rrset.type, rrset })),
  ];
}

/** Cuts a list of changes into messages; the changes of one name stay together, so no reader sees it half changed. */
function* inParts(changes: readonly RRsetChange[]): Generator<RRsetChange[]> {
  let part: RRsetChange[] = [];
  for (const change of changes) {
    if (part.length >= CHANGES_PER_UPDATE && part.at(-1)!.name !== change.name) {
      yield part;
      part = [];
    }
    part.push(change);
  }
  if (part.length > 0) yield part;
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
