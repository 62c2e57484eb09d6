/** Limits how often the cluster's DNS is written to, so that neither failures nor a conflict with another writer make it flap. */

export interface WriteRate {
  /** When a delegation that failed and was undone may be tried again. */
  notBefore: number;
  /** Failures in a row. */
  failures: number;
  /** The times of recent writes. */
  writes: readonly number[];
}

export const NEW_WRITE_RATE: WriteRate = { notBefore: 0, failures: 0, writes: [] };

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 60 * 60_000;
/** The writes within the window that are not delayed; more of them mean that another writer keeps overwriting ours. */
const FREE_WRITES = 5;
const WINDOW_MS = 10 * 60_000;

/** How long the next write has to wait; 0 if it is allowed now. */
export function waitBeforeWrite({ notBefore, writes }: WriteRate, now: number): number {
  const recent = writes.filter((at) => now - at < WINDOW_MS);
  const conflict = recent.length >= FREE_WRITES ? recent.at(-1)! + FIRST_WAIT_MS : 0;
  return Math.max(0, notBefore - now, conflict - now);
}

export function afterWrite(rate: WriteRate, now: number): WriteRate {
  return { ...rate, writes: [...rate.writes.filter((at) => now - at < WINDOW_MS), now] };
}

/** Doubles the wait after each failure, up to an hour. */
export function afterFailure(rate: WriteRate, now: number): WriteRate {
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(rate.failures, 10));
  return { ...rate, failures: rate.failures + 1, notBefore: now + wait };
}

export function afterSuccess(rate: WriteRate): WriteRate {
  return { ...rate, failures: 0, notBefore: 0 };
}
