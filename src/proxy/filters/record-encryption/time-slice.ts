import { setImmediate } from 'node:timers/promises';

/** Called between two pieces of long work; what it returns is to be awaited: the end of a time slice lets others work. */
export type YieldTurn = () => Promise<void> | undefined;

/**
 * Lets others have their turn after so many milliseconds: a worker has many connections, and to decompress, open and
 * compress a large response takes as long as thousands of small requests.
 */
export function createTimeSlice(everyMs = 10, now: () => number = () => performance.now()): YieldTurn {
  let since = now();
  return () => {
    if (now() - since < everyMs) return undefined;
    return setImmediate().then(() => {
      since = now();
    });
  };
}

/** What a record costs beside its bytes, as bytes: a call of the cipher. */
const RECORD_COST = 1024;
/** To look at the clock for every record would be a good part of the work. */
const LOOK_EVERY = 256 * 1024;

/** Counts the work on records, and asks for a turn every millisecond or so of it. */
export function createWorkload(yieldTurn: YieldTurn): (bytes: number) => Promise<void> | undefined {
  let done = 0;
  return (bytes) => {
    done += RECORD_COST + bytes;
    if (done < LOOK_EVERY) return undefined;
    done = 0;
    return yieldTurn();
  };
}
