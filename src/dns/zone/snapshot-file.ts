import { readFileSync, statSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { messageOf } from '../../ops/errors.ts';
import { MAX_SNAPSHOT_BYTES, readSnapshot, snapshotLine, snapshotText } from './snapshot.ts';
import { SNAPSHOT_SOURCE } from './merge.ts';
import type { Log } from '../../ops/log.ts';
import type { Store } from './store.ts';

export interface SnapshotOptions {
  /** Undefined: no snapshot is read or written. */
  file: string | undefined;
  store: Store;
  log: Log;
  /** How long after a change it is written, at the earliest. */
  everyMs?: number;
}

/** The records of clusters on disk: served after a restart until they have been read again. */
export interface SnapshotFile {
  /** Serves the records of the file; false if there is none that can be used. */
  restore(): boolean;
  /** Whether records of the file are served. */
  readonly isStale: boolean;
  /** The records are complete now: those of the file go, and from now on changes are written to it. */
  replace(): void;
  /** To be called after every change. */
  touch(): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

const EVERY_MS = 30_000;
/** Records that are formatted before other work has its turn. */
const RECORDS_A_TURN = 500;

export function createSnapshotFile({ file, store, log, everyMs = EVERY_MS }: SnapshotOptions): SnapshotFile {
  let stale = false;
  let live = false;
  let changed = false;
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    timer = undefined;
    if (!changed || file === undefined) return;
    changed = false;
    try {
      await writeSnapshot(file, store);
    } catch (error) {
      log.warn({ file, problem: messageOf(error) }, 'DNS snapshot not written');
    }
  }

  return {
    restore() {
      const records = file === undefined ? undefined : restoreRecords(file, log);
      if (!records) return false;
      store.upsert(SNAPSHOT_SOURCE, records);
      stale = true;
      return true;
    },
    get isStale() {
      return stale;
    },
    replace() {
      live = true;
      if (stale) store.upsert(SNAPSHOT_SOURCE, []);
      stale = false;
      this.touch();
    },
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

function restoreRecords(file: string, log: Log) {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) return undefined;
  try {
    if (stat.size > MAX_SNAPSHOT_BYTES) throw new Error(`it has more than ${MAX_SNAPSHOT_BYTES} bytes`);
    const snapshot = readSnapshot(readFileSync(file, 'utf8'));
    if ('problem' in snapshot) throw new Error(snapshot.problem);
    const { records, writtenAt } = snapshot;
    const ageSeconds = Math.round(Date.now() / 1000) - writtenAt;
    log.warn({ file, records: records.length, ageSeconds }, 'DNS records of the snapshot are served for now');
    return records;
  } catch (error) {
    log.warn({ file, problem: messageOf(error) }, 'DNS snapshot not used');
    return undefined;
  }
}

/** Written beside it, flushed, then moved: there is always a whole one. */
async function writeSnapshot(file: string, store: Store): Promise<void> {
  let lines = '';
  let count = 0;
  for (const record of store.liveRecords()) {
    lines += snapshotLine(record);
    if (lines.length > MAX_SNAPSHOT_BYTES / 2)
      throw new Error(`the records take more than ${MAX_SNAPSHOT_BYTES / 2} bytes`);
    if (++count % RECORDS_A_TURN === 0) await turn();
  }
  const fresh = `${file}.new`;
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.writeFile(snapshotText(lines, Math.floor(Date.now() / 1000)));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}
