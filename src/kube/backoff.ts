/** How long to wait before another try. */
export interface BackoffLimits {
  minMs: number;
  maxMs: number;
}

/** For connections to a server that is away. */
export const CONNECTION_BACKOFF: BackoffLimits = { minMs: 500, maxMs: 30_000 };
/** For work on one object that fails. */
export const OBJECT_BACKOFF: BackoffLimits = { minMs: 500, maxMs: 300_000 };

/**
 * Doubles with each failure in a row (the first is 1), within the limits, spread by a quarter either way so that those
 * who failed together do not come back together. `random` is in [0, 1).
 */
export function backoffMs(failures: number, { minMs, maxMs }: BackoffLimits, random: number): number {
  const doubled = minMs * 2 ** Math.min(failures - 1, 30);
  return Math.min(maxMs, doubled) * (0.75 + random / 2);
}
