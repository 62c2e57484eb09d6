/**
 * Keeps from asking a service that fails again and again: after so many failures in a row nobody asks for a while, then one
 * does, and if that fails, too, the while is twice as long.
 */
export interface Breaker {
  /** Whether the service may be asked now. Whoever is told so reports how it went. */
  admits(): boolean;
  succeeded(): void;
  failed(): void;
  isOpen(): boolean;
  /** Whether it is open, and somebody has lately found why: a service that nobody has asked for a while may long be back. */
  isFailing(): boolean;
}

export interface BreakerOptions {
  failures?: number;
  firstPauseMs?: number;
  maxPauseMs?: number;
  now?: () => number;
}

export function createBreaker(options: BreakerOptions = {}): Breaker {
  const { failures: limit = 5, firstPauseMs = 2000, maxPauseMs = 30_000, now = Date.now } = options;
  let failures = 0;
  let openUntil: number | undefined;
  let failedAt = 0;
  let pauseMs = firstPauseMs;
  let isProbing = false;
  return {
    admits() {
      if (openUntil === undefined) return true;
      if (isProbing || now() < openUntil) return false;
      isProbing = true;
      return true;
    },
    succeeded() {
      failures = 0;
      openUntil = undefined;
      pauseMs = firstPauseMs;
      isProbing = false;
    },
    failed() {
      failures += 1;
      failedAt = now();
      // What was asked before it opened, and fails now, tells nothing new.
      if (openUntil !== undefined && !isProbing) return;
      if (openUntil !== undefined) pauseMs = Math.min(pauseMs * 2, maxPauseMs);
      else if (failures < limit) return;
      openUntil = now() + pauseMs;
      isProbing = false;
    },
    isOpen: () => openUntil !== undefined,
    // Whoever still needs it asks after each pause.
    isFailing: () => openUntil !== undefined && now() - failedAt < 2 * maxPauseMs,
  };
}
