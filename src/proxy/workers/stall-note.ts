import { writeSync } from 'node:fs';
import type { FilterOwner } from '../cluster/filter-owner.ts';

/**
 * What a worker process says of filters of users' own when it can send no messages any more: it computes, or ends. Lines of JSON on a
 * pipe of their own, which can be written without an event loop.
 */
export interface StallNote {
  /** Whose code does not come to its end; undefined when it has, after all. */
  owner?: FilterOwner;
  /** For how long, as far as that was watched, and without the time in which there was no CPU to compute with. */
  forMs: number;
}

/** The first file descriptor after the usual ones and the channel of messages. */
export const STALL_NOTES_FD = 4;

/** What the thread is started with that watches a process. */
export interface StallWatchStart {
  /** Grows as long as the event loop turns. */
  beats: Int32Array<SharedArrayBuffer>;
  fd: number;
}

/** Under what the thread finds the function that says whose code runs. */
export const OWNER_FUNCTION = 'isthmus.runningOwner';

/** Whether or not anybody reads it: who cannot say so any more has nobody to tell. */
export function writeNote(fd: number, note: StallNote): void {
  try {
    writeSync(fd, `${JSON.stringify(note)}\n`);
  } catch {
    // The supervisor is gone.
  }
}

/** A line may be anything: filters can write there, too. */
export function readNote(line: string): StallNote | undefined {
  try {
    const { owner, forMs } = JSON.parse(line) as { owner?: Partial<FilterOwner>; forMs?: unknown };
    if (typeof forMs !== 'number') return undefined;
    if (typeof owner?.service !== 'string' || typeof owner.filter !== 'string') return { forMs: 0 };
    return { owner: { service: owner.service, filter: owner.filter }, forMs };
  } catch {
    return undefined;
  }
}
