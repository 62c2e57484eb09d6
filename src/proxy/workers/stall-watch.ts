import { Worker } from 'node:worker_threads';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { runningOwner } from '../cluster/filter-owner.ts';
import { OWNER_FUNCTION, writeNote } from './stall-note.ts';
import type { StallWatchStart } from './stall-note.ts';

const BEAT_MS = 100;
/** It keeps next to nothing; what it takes beyond this would be a fault of its own. */
const MOST_MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };

const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? './stall-watch-thread.ts' : './stall-watch-thread.js',
  import.meta.url,
);

/**
 * Notes whose code it is when this process does not go on, or ends. A thread beside it looks whether the event loop turns; where it does not,
 * it has the inspector ask in the middle of what runs, which costs nothing before.
 */
export function watchStalls(fd: number, log: Log): void {
  Object.assign(globalThis, { [Symbol.for(OWNER_FUNCTION)]: runningOwner });
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  const start: StallWatchStart = { beats, fd };
  const thread = new Worker(PROGRAM, { workerData: start, resourceLimits: MOST_MEMORY });
  thread.unref();
  thread.on('error', (error) =>
    log.error({ why: messageOf(error) }, 'filters that do not end are not watched'),
  );
  // Also by an error that nobody catches: what has thrown it is still known here.
  process.on('exit', () => {
    const owner = runningOwner();
    if (owner) writeNote(fd, { owner, forMs: 0 });
  });
}
