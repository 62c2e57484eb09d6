/** How often the cluster's DNS may be written to, so that neither a failure nor a quarrel with somebody else makes it flap. */

export interface WriteRate {
  /** When what was written in vain, or taken back, may be tried again. */
  notBefore: number;
  /** Failures in a row. */
  failures: number;
  /** When something was written, of late. */
  writes: readonly number[];
}

export const NEW_WRITE_RATE: WriteRate = { notBefore: 0, failures: 0, writes: [] };

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;
/** So many writes within the time are taken for accidents; more, for somebody who wants it otherwise. */
const FREE_WRITES = 5;
const WINDOW_MS = 10 * 60_000;

/** How long the next write has to wait; 0 if it may be done. */
export function waitBefore({ notBefore, writes }: WriteRate, now: number): number {
  const recent = writes.filter((at) => now - at < WINDOW_MS);
  const quarrel = recent.length >= FREE_WRITES ? recent.at(-1)! + FIRST_WAIT_MS : 0;
  return Math.max(0, notBefore - now, quarrel - now);
}

export function afterWrite(pace: WriteRate, now: number): WriteRate {
  return { ...pace, writes: [...pace.writes.filter((at) => now - at < WINDOW_MS), now] };
}

/** Twice as long after each failure, up to an hour. */
export function afterFailure(pace: WriteRate, now: number): WriteRate {
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(pace.failures, 10));
  return { ...pace, failures: pace.failures + 1, notBefore: now + wait };
}

export function afterSuccess(pace: WriteRate): WriteRate {
  return { ...pace, failures: 0, notBefore: 0 };
}
