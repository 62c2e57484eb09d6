import { createNameTable } from './name-table.ts';
import type { SearchName } from '../wire/search-name.ts';
import type { NameTable } from './name-table.ts';
import type { OutsideAnswers } from './outside.ts';
import type { Zone } from './zone.ts';

/** Everything that one thread answers from. */
export interface Zones {
  readonly table: NameTable<Zone>;
  /** False until the records are complete: an early NXDOMAIN would be cached by the whole cluster. */
  ready: boolean;
  /** What the resolver has found; undefined where there is none: then an alias that leaves our zones is answered alone. */
  outside: OutsideAnswers | undefined;
}

export function createZones(): Zones {
  return { table: createNameTable<Zone>(), ready: false, outside: undefined };
}

/** The zone with the longest name that the searched name, or its ancestor from a label on, lies in. */
export function findZone(zones: Zones, name: SearchName, fromLabel = 0): Zone | undefined {
  for (let label = fromLabel; label <= name.labels; label++) {
    const zone = zones.table.find(name, label);
    if (zone) return zone;
  }
  return undefined;
}
