/** Long work on the event loop, in slices: whoever else waits for it gets a turn in between. */
import { setImmediate as yieldToOthers } from 'node:timers/promises';

const SLICE_MS = 5;

/** Runs the steps of a generator to their end, and lets others work whenever a slice of time is over. */
export async function inSlices<T>(steps: Iterator<unknown, T, undefined>, sliceMs = SLICE_MS): Promise<T> {
  let since = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - since < sliceMs) continue;
    await yieldToOthers();
    since = performance.now();
  }
}
