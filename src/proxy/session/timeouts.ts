import type { Limits } from '../config/model.ts';

/** How long a client may take to close its side after we have closed ours. */
export const LINGER_MS = 10_000;
/** How long a client that has closed its side gets responses: it may be gone altogether, and the broker may hang. */
export const LAST_RESPONSES_MS = 60_000;

/** How long filters may work on a frame: longer than a key service with all its retries, and than clients wait. */
export const FILTER_MS = 120_000;

/** The time limits of one session. A sweep over all sessions checks them, because a timer for each would cost more. */
export class Timeouts {
  readonly #limits: Limits;
  /** Set by traffic, read and cleared by each sweep. */
  #active = true;
  #activeAt = performance.now();
  /** 0 is never. */
  #deadline = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** There was traffic. */
  touch(): void {
    this.#active = true;
  }

  /** Something has to be over in this time. */
  setDeadline(timeoutMs: number): void {
    this.#deadline = performance.now() + timeoutMs;
  }

  get hasDeadline(): boolean {
    return this.#deadline > 0;
  }

  isOverdue(now: number): boolean {
    return this.hasDeadline && now > this.#deadline;
  }

  /** The idle limit that is exceeded, in milliseconds; undefined if none is. To be called by each sweep. */
  exceededIdleLimit(now: number, accepted: boolean): number | undefined {
    if (this.#active) {
      this.#active = false;
      this.#activeAt = now;
      return undefined;
    }
    const { idleTimeoutMs, unauthenticatedIdleTimeoutMs } = this.#limits;
    const limit = accepted ? idleTimeoutMs : unauthenticatedIdleTimeoutMs;
    return limit > 0 && now - this.#activeAt > limit ? limit : undefined;
  }
}
