import { createMemory, openMemory, READY } from './memory.ts';
import { createNameTable } from './name-table.ts';
import { createZoneWriter } from './zone-writer.ts';
import type { SearchName } from '../wire/search-name.ts';
import type { WhenUnread, ZoneMemory } from './memory.ts';
import type { NameTable } from './name-table.ts';
import type { OutsideAnswers } from './outside.ts';
import type { Zone } from './zone.ts';
import type { ZoneWriter } from './zone-writer.ts';

/** Everything that one thread answers from. The records are in memory that all threads share. */
export interface Zones {
  readonly table: NameTable<Zone>;
  readonly memory: ZoneMemory;
  /** False until the records are complete: an early NXDOMAIN would be cached by the whole cluster. */
  ready: boolean;
  /** What the resolver has found; undefined where there is none: then an alias that leaves our zones is answered alone. */
  outside: OutsideAnswers | undefined;
}

/** The zones of the one thread that changes them. */
export interface WritableZones extends Zones {
  readonly writer: ZoneWriter;
}

/** What another thread needs to answer from the same zones. Data only. */
export interface SharedZones {
  buffer: SharedArrayBuffer;
  zones: readonly Omit<Zone, 'memory'>[];
}

/** Enough for a hundred thousand names, where nobody says how much there may be. */
const SMALL_MEMORY = 32 << 20;

/** Makes zones; `whenUnread` says when other threads have left behind what was changed, if there are any. */
export function createZones(size = SMALL_MEMORY, whenUnread: WhenUnread = (done) => done()): WritableZones {
  const memory = createMemory(size);
  return Object.assign(zonesIn(memory), { writer: createZoneWriter(memory, whenUnread) });
}

export function shareZones({ table, memory }: Zones): SharedZones {
  const zones = [...table.values()].map(({ memory: _, ...zone }) => ({ ...zone, next: undefined }));
  return { buffer: memory.buffer, zones };
}

/** Opens the zones of another thread, to read. */
export function openZones({ buffer, zones }: SharedZones): Zones {
  const opened = zonesIn(openMemory(buffer));
  for (const zone of zones) opened.table.add({ ...zone, memory: opened.memory });
  return opened;
}

function zonesIn(memory: ZoneMemory): Zones {
  return {
    table: createNameTable<Zone>(),
    memory,
    outside: undefined,
    get ready() {
      return memory.words[READY] === 1;
    },
    set ready(ready) {
      Atomics.store(memory.words, READY, Number(ready));
    },
  };
}

/** The zone with the longest name that the searched name, or its ancestor from a label on, lies in. */
export function findZone(zones: Zones, name: SearchName, fromLabel = 0): Zone | undefined {
  for (let label = fromLabel; label <= name.labels; label++) {
    const zone = zones.table.find(name, label);
    if (zone) return zone;
  }
  return undefined;
}
