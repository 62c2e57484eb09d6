/** When to probe again. Pure. */

/** While all is well. */
const IDLE_MS = 30_000;
/** While something is not. */
const SOON_MS = 2000;
/** Of the time that it has lasted: what was away for a minute need not be seen within two seconds. */
const PART = 4;

/** What the last probe has left for the next. */
export interface LastProbe {
  at: number;
  /** What was probed; something else is probed at once. */
  mark: string;
  /** Since when something is wrong with it. */
  brokenSince: number | undefined;
}

/** How long to wait from now on. */
export function probeInMs(last: LastProbe | undefined, mark: string, now: number): number {
  if (!last || last.mark !== mark) return 0;
  const { at, brokenSince } = last;
  const pause =
    brokenSince === undefined ? IDLE_MS : Math.min(IDLE_MS, Math.max(SOON_MS, (at - brokenSince) / PART));
  return Math.max(0, Math.ceil(at + pause - now));
}
