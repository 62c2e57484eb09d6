/**
 * Long work on the event loop, in slices: whoever else waits for it gets a turn in between. All work in slices shares one slice a turn of the
 * event loop, so that many such works at once take no more of a turn than one.
 */
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';

const SLICE_MS = 5;

/** Those that wait for a slice, in order. */
const waiting: (() => void)[] = [];
/** When work in slices began in this turn of the event loop; undefined if none did. */
let began: number | undefined;

/** Runs the steps of a generator to their end, and lets others work whenever a slice of time is over. */
export async function inSlices<T>(steps: Iterator<unknown, T, undefined>, sliceMs = SLICE_MS): Promise<T> {
  if (waiting.length > 0 || spentMs() >= sliceMs) await nextSlice();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (spentMs() >= sliceMs) await nextSlice();
  }
}

/** Runs the steps of a generator to their end, at once: for work that is known to be little. */
export function atOnce<T>(steps: Iterator<unknown, T, undefined>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** How much of this turn has gone by since work in slices began in it; less than nothing if none has. */
function spentMs(): number {
  if (began !== undefined) return performance.now() - began;
  began = performance.now();
  setImmediate(endTurn);
  return -1;
}

function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
  });
}

function endTurn(): void {
  began = undefined;
  const next = waiting.shift();
  if (next === undefined) return;
  spentMs(); // the turn of the one that is woken begins
  next();
}

/**
 * Has the thread that calls it wait for a core rather than those that somebody waits for: the others of this process keep their priority. Threads that it starts
 * from then on wait as it does, and no right of ours takes that back: so it is nothing for a thread that starts others.
 */
export function giveWay(): void {
  try {
    const thread = Number(basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // only Linux has priorities of threads, and a sandbox may forbid them: the work is the same without
  }
}
