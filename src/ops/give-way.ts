import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';

/** Has the thread that calls it wait for a core rather than those that somebody waits for: the others of this process keep their priority. */
export function giveWay(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // only Linux has priorities of threads, and a sandbox may forbid them: the work is the same without
  }
}
