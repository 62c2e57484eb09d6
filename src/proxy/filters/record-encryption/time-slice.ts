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
