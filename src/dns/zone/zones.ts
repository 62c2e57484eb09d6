import { createNameTable } from './name-table.ts';
import { changeZone, createZone } from './zone.ts';
import type { Name } from '../wire/name.ts';
import type { NameTable } from './name-table.ts';
import type { RRset } from '../wire/record.ts';
import type { RRsetChange, Zone } from './zone.ts';

/** Everything that one thread answers from. */
export interface Zones {
  readonly table: NameTable<Zone>;
  /** False until somebody said that the data are complete: an early NXDOMAIN would be cached by the whole cluster. */
  ready: boolean;
}

/**
 * What travels from the store to every answering thread. Data only, so that a message port can carry it, and the
 * same list in the same order gives the same answers everywhere.
 */
export type Update =
  | { kind: 'zone'; name: Name; soa: RRset }
  | { kind: 'rrsets'; changes: RRsetChange[] }
  | { kind: 'ready'; ready: boolean };

export function createZones(): Zones {
  return { table: createNameTable<Zone>(), ready: false };
}

/** Applies one update. */
export function applyUpdate(zones: Zones, update: Update): void {
  switch (update.kind) {
    case 'zone':
      if (!zones.table.get(update.name)) zones.table.add(createZone(update.name, update.soa));
      return;
    case 'rrsets':
      for (const { zone, name, type, rrset } of update.changes) {
        const found = zones.table.get(zone);
        if (found) changeZone(found, name, type, rrset);
      }
      return;
    case 'ready':
      zones.ready = update.ready;
  }
}
