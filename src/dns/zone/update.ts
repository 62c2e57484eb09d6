import { outsideKey } from './outside.ts';
import { createZone, setRRset } from './zone.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { OutsideAnswer } from './outside.ts';
import type { Zones } from './zones.ts';

/** A change of one RRset; `rrset: undefined` removes it. */
export interface RRsetChange {
  zone: Name;
  name: Name;
  type: number;
  rrset: RRset | undefined;
}

/**
 * What the store sends to every thread that answers queries. Data only, so that a message port can carry it, and the
 * same list in the same order gives the same zones everywhere.
 */
export type Update =
  | { kind: 'zone'; name: Name; soa: RRset }
  | { kind: 'rrsets'; changes: RRsetChange[] }
  | { kind: 'ready'; ready: boolean }
  | { kind: 'outside'; answers: OutsideAnswer[] };

/** Changes in one update: so few that a thread which applies them between two queries is not delayed. */
const CHANGES_PER_UPDATE = 256;

/** Applies one update. */
export function applyUpdate(zones: Zones, update: Update): void {
  switch (update.kind) {
    case 'zone':
      if (!zones.table.get(update.name)) zones.table.add(createZone(update.name, update.soa));
      return;
    case 'rrsets':
      for (const { zone, name, type, rrset } of update.changes) {
        const found = zones.table.get(zone);
        if (found) setRRset(found, name, type, rrset);
      }
      return;
    case 'ready':
      zones.ready = update.ready;
      return;
    case 'outside':
      for (const answer of update.answers) zones.outside?.set(outsideKey(answer.name, answer.type), answer);
  }
}

/** The changes that lead from one list of RRsets at a name to another. */
export function diffRRsets(zone: Name, name: Name, before: RRset[], after: RRset[]): RRsetChange[] {
  const removed = before.filter((old) => !after.some(({ type }) => type === old.type));
  const changed = after.filter((rrset) => !before.some((old) => sameRRset(old, rrset)));
  return [
    ...removed.map(({ type }) => ({ zone, name, type, rrset: undefined })),
    ...changed.map((rrset) => ({ zone, name, type: rrset.type, rrset })),
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

/** Splits changes into updates; the changes of one name stay together, so that no thread serves it half changed. */
export function* updatesOf(changes: readonly RRsetChange[]): Generator<Update> {
  let batch: RRsetChange[] = [];
  for (const change of changes) {
    if (batch.length >= CHANGES_PER_UPDATE && batch.at(-1)!.name !== change.name) {
      yield { kind: 'rrsets', changes: batch };
      batch = [];
    }
    batch.push(change);
  }
  if (batch.length > 0) yield { kind: 'rrsets', changes: batch };
}
