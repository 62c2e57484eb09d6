import { mergeRecords } from './merge.ts';
import { parseSource } from './parse-source.ts';
import { fewOf, listOf, soaChange, zoneOf } from './store-state.ts';
import { diffRRsets } from './update.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord } from '../wire/record.ts';
import type { Merged } from './merge.ts';
import type { RejectedRecord, SourceRecord } from './source-record.ts';
import type { StoreState, ZoneState } from './store-state.ts';
import type { RRsetChange } from './update.ts';

/** Names that are changed in one step. */
const A_STEP = 128;

/** Replaces all records of a source, step by step. */
export function* upsertSteps(
  state: StoreState,
  source: string,
  records: readonly DnsRecord[],
): Generator<undefined, RejectedRecord[]> {
  const { byName, rejected } = yield* parseSource(source, records, (name) => zoneOf(state, name)?.spec.name);
  const before = listOf(state.sources.get(source));
  const change: ZoneChange = { changes: [], zones: new Set() };
  state.unfinished += 1;
  try {
    const owners: Name[] = [];
    let count = 0;
    for (const name of namesOf(byName, before)) {
      if (name !== undefined) {
        const parsed = byName.get(name) ?? [];
        for (let i = 0; i < parsed.length; i++) owners.push(name);
        const merged = replaceRecords(state, source, name, parsed, change.changes);
        for (const { record, reason } of merged.rejected) {
          const its = parsed.find((one) => one.record === record);
          if (its) rejected.push({ record: its.origin, reason });
        }
      }
      if (++count % A_STEP > 0) continue;
      publish(state, change);
      yield;
    }
    setOwners(state, source, owners);
    finish(state, change);
  } finally {
    state.unfinished -= 1;
    if (state.unfinished === 0) for (const resolve of state.waiting.splice(0)) resolve();
  }
  return rejected;
}

/** The names that a source has now, then those that it had; undefined for one that it keeps. */
function* namesOf(byName: ReadonlyMap<Name, unknown>, before: readonly Name[]): Generator<Name | undefined> {
  yield* byName.keys();
  for (const name of before) yield byName.has(name) ? undefined : name;
}

function setOwners({ sources, kinds }: StoreState, source: string, owners: readonly Name[]): void {
  const [kind] = source.split(' ', 1) as [string];
  const before = listOf(sources.get(source)).length;
  kinds.set(kind, (kinds.get(kind) ?? 0) + owners.length - before);
  if (owners.length > 0) sources.set(source, fewOf(owners));
  else sources.delete(source);
}

/** Replaces the records that a source has at one name, and adds what that changes to `changes`. */
function replaceRecords(
  state: StoreState,
  source: string,
  name: Name,
  parsed: readonly { record: SourceRecord }[],
  changes: RRsetChange[],
): Merged {
  const { name: apex, ttl } = zoneOf(state, name)!.spec;
  const before = listOf(state.names.get(name));
  const after = before.filter((other) => other.source !== source).concat(parsed.map(({ record }) => record));
  const merged = mergeRecords(name, after, ttl);
  const { rrsets } = mergeRecords(name, before, ttl);
  const changed = diffRRsets(apex, name, rrsets, merged.rrsets);
  if (changed.length > 0) state.listings.beforeChange(apex, { name, rrsets });
  changes.push(...changed);
  if (after.length > 0) state.names.set(name, fewOf(after));
  else state.names.delete(name);
  return merged;
}

/** What a change has made of RRsets, but for what was published already, and the zones that it has changed. */
interface ZoneChange {
  changes: RRsetChange[];
  zones: Set<ZoneState>;
}

function publish(state: StoreState, change: ZoneChange): void {
  const { changes } = change;
  noteChanges(state, change);
  change.changes = [];
  if (changes.length > 0) state.emit({ kind: 'rrsets', changes });
}

/** Publishes the rest of a change, with the serials that it makes. */
function finish(state: StoreState, change: ZoneChange): void {
  const { now, wasReady, serials } = state;
  noteChanges(state, change);
  if (serials === 'own')
    for (const zone of change.zones) {
      // At least the time: a restart must not lead back to a serial that a secondary has seen already. Changes before the
      // first response count as one: a serial for each of thousands of objects would run ahead of the time by hours.
      const serial = Math.max(zone.serial + Number(wasReady), now()) >>> 0;
      if (serial !== zone.serial) change.changes.push(soaChange(zone, serial));
    }
  if (change.changes.length > 0) state.emit({ kind: 'rrsets', changes: change.changes });
}

function noteChanges({ zones, wasReady, serials }: StoreState, change: ZoneChange): void {
  for (const { zone: zoneName, name, rrset, before } of change.changes) {
    const zone = zones.get(zoneName)!;
    // What is left behind can be met with elsewhere only if it has been served here.
    if (wasReady && serials === 'given' && !change.zones.has(zone))
      zone.recent.set(zone.content.fingerprint, true);
    change.zones.add(zone);
    if (serials === 'own') continue;
    if (before) zone.content.remove(name, before);
    if (rrset) zone.content.add(name, rrset);
  }
}
