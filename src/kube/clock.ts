import { setTimeout as delay } from 'node:timers/promises';

/** Time, so that tests can turn it by hand. */
export interface Clock {
  /** Milliseconds that only ever go forward; not the time of day. */
  now(): number;
  /** The time of day, in milliseconds since 1970. */
  wallTime(): number;
  /** Waits; ends early, without an error, when the signal is aborted, or after some weeks. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node takes a longer time for no time at all. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => Date.now(),
  wait: (ms, signal) =>
    delay(Math.min(ms, MAX_TIMER_MS), undefined, signal ? { signal } : {}).catch(() => undefined),
};
