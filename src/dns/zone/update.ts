import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { WritableZones } from './zones.ts';

/** A change of one RRset; `rrset: undefined` removes it. */
export interface RRsetChange {
  zone: Name;
  name: Name;
  type: number;
  rrset: RRset | undefined;
  /** What was there; undefined if nothing was. */
  before: RRset | undefined;
}

/** What the store says to the zones, in order. */
export type Update =
  | { kind: 'zone'; name: Name; soa: RRset }
  | { kind: 'rrsets'; changes: RRsetChange[] }
  | { kind: 'ready'; ready: boolean };

/** Applies one update. */
export function applyUpdate(zones: WritableZones, update: Update): void {
  switch (update.kind) {
    case 'zone':
      if (!zones.table.get(update.name)) zones.table.add(zones.writer.createZone(update.name, update.soa));
      return;
    case 'rrsets':
      applyChanges(zones, update.changes);
      return;
    case 'ready':
      zones.ready = update.ready;
  }
}

/** The changes of one name stand together, and are made together, so that no thread serves it half changed. */
function applyChanges(zones: WritableZones, changes: readonly RRsetChange[]): void {
  for (let from = 0, to = 0; from < changes.length; from = to) {
    const { zone, name } = changes[from]!;
    while (to < changes.length && changes[to]!.name === name && changes[to]!.zone === zone) to++;
    const found = zones.table.get(zone);
    if (found) zones.writer.change(found, name, changes.slice(from, to));
  }
}

/** The changes that lead from one list of RRsets at a name to another. */
export function diffRRsets(zone: Name, name: Name, before: RRset[], after: RRset[]): RRsetChange[] {
  const removed = before.filter((old) => !after.some(({ type }) => type === old.type));
  const changed = after.filter((rrset) => !before.some((old) => sameRRset(old, rrset)));
  const ofType = (wanted: number) => before.find(({ type }) => type === wanted);
  return [
    ...removed.map((old) => ({ zone, name, type: old.type, rrset: undefined, before: old })),
    ...changed.map((rrset) => ({ zone, name, type: rrset.type, rrset, before: ofType(rrset.type) })),
  ];
}

function sameRRset(a: RRset, b: RRset): boolean {
  return (
    a.type === b.type &&
    a.ttl === b.ttl &&
    a.data.length === b.data.length &&
    a.data.every((data, i) => data === b.data[i])
  );
}
