import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { messageOf } from '../../ops/errors.ts';
import { inSlices } from '../../ops/time-slice.ts';
import { MAX_SNAPSHOT_BYTES, readSnapshot, snapshotHeader, snapshotLine } from './snapshot.ts';
import { SNAPSHOT_SOURCE } from './merge.ts';
import { formatName, parseName } from '../wire/name.ts';
import type { Log } from '../../ops/log.ts';
import type { Name } from '../wire/name.ts';
import type { DnsRecord } from '../wire/record.ts';
import type { Snapshot } from './snapshot.ts';
import type { Store } from './store.ts';

export interface SnapshotOptions {
  /** Undefined: no snapshot is read or written. */
  file: string | undefined;
  store: Store;
  /** The zones whose serials are kept, too: those whose serials are given. */
  serialsOf?: readonly Name[];
  log: Log;
  /** How long after a change it is written, at the earliest. */
  everyMs?: number;
}

/** The records of clusters on disk: served after a restart until they have been read again. */
export interface SnapshotFile {
  /** Serves the records of the file; false if there is none that can be used. */
  restore(): Promise<boolean>;
  /** Whether records of the file are served. */
  readonly isStale: boolean;
  /** The records are complete now: those of the file go, and from now on changes are written to it. */
  replace(): void;
  /** Resolves when those of the file are gone. */
  settled(): Promise<void>;
  /** To be called after every change. */
  touch(): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

const EVERY_MS = 30_000;
/** Records that are formatted, or given to the store, before other work has its turn. */
const RECORDS_A_TURN = 200;

export function createSnapshotFile(options: SnapshotOptions): SnapshotFile {
  const { file, store, serialsOf = [], log, everyMs = EVERY_MS } = options;
  /** How many parts of the file are served. */
  let parts = 0;
  let stale = false;
  let live = false;
  let changed = false;
  let timer: NodeJS.Timeout | undefined;
  let removal: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    timer = undefined;
    if (!changed || file === undefined) return;
    changed = false;
    try {
      const serials = serialsOf.map((zone) => [formatName(zone), store.serialOf(zone)] as const);
      await writeSnapshot(file, store, serials.length > 0 ? Object.fromEntries(serials) : undefined);
    } catch (error) {
      log.warn({ file, problem: messageOf(error) }, 'DNS snapshot not written');
    }
  }

  function* serve(records: readonly DnsRecord[]): Generator<undefined, void> {
    for (let at = 0; at < records.length; at += RECORDS_A_TURN) {
      store.upsert(`${SNAPSHOT_SOURCE}${parts++}`, records.slice(at, at + RECORDS_A_TURN));
      yield;
    }
  }

  function* remove(count: number): Generator<undefined, void> {
    for (let part = 0; part < count; part++) {
      store.upsert(`${SNAPSHOT_SOURCE}${part}`, []);
      yield;
    }
  }

  return {
    async restore() {
      const snapshot = file === undefined ? undefined : await readFileSnapshot(file, log);
      if (!snapshot) return false;
      await inSlices(serve(snapshot.records));
      for (const [zone, serial] of Object.entries(snapshot.serials)) {
        const name = parseName(zone);
        if (name !== undefined && serialsOf.includes(name)) store.setSerial(name, serial);
      }
      stale = true;
      return true;
    },
    get isStale() {
      return stale;
    },
    replace() {
      live = true;
      removal = inSlices(remove(parts));
      parts = 0;
      stale = false;
      this.touch();
    },
    settled: () => removal,
    touch() {
      changed = true;
      // Not before the records are complete: half of them would replace all of them.
      if (live && file !== undefined) timer ??= setTimeout(() => void write(), everyMs).unref();
    },
    async close() {
      clearTimeout(timer);
      if (live) await write();
    },
  };
}

async function readFileSnapshot(file: string, log: Log): Promise<Snapshot | undefined> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return undefined;
  try {
    if (stat.size > MAX_SNAPSHOT_BYTES) throw new Error(`it has more than ${MAX_SNAPSHOT_BYTES} bytes`);
    const snapshot = await inSlices(readSnapshot(await readFile(file, 'utf8')));
    if ('problem' in snapshot) throw new Error(snapshot.problem);
    const { records, writtenAt } = snapshot;
    const ageSeconds = Math.round(Date.now() / 1000) - writtenAt;
    log.warn({ file, records: records.length, ageSeconds }, 'DNS records of the snapshot are served for now');
    return snapshot;
  } catch (error) {
    log.warn({ file, problem: messageOf(error) }, 'DNS snapshot not used');
    return undefined;
  }
}

/** Written beside it, flushed, then moved: there is always a whole one. */
async function writeSnapshot(
  file: string,
  store: Store,
  serials: Readonly<Record<string, number>> | undefined,
): Promise<void> {
  const chunks: string[] = [''];
  const hash = createHash('sha256');
  let size = 0;
  const end = async () => {
    const chunk = chunks.at(-1)!;
    hash.update(chunk);
    size += chunk.length;
    if (size > MAX_SNAPSHOT_BYTES / 2)
      throw new Error(`the records take more than ${MAX_SNAPSHOT_BYTES / 2} bytes`);
    await turn();
  };
  let count = 0;
  for (const record of store.liveRecords()) {
    chunks[chunks.length - 1] += snapshotLine(record);
    if (++count % RECORDS_A_TURN > 0) continue;
    await end();
    chunks.push('');
  }
  await end();
  const fresh = `${file}.new`;
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.writeFile(snapshotHeader(hash.digest('hex'), Math.floor(Date.now() / 1000), serials));
    for (const chunk of chunks) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}
