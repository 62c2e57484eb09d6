import type { HttpAnswer } from './client.ts';

/** The time as a service sees it, which matters where what we sign is good for minutes. */
export interface ServiceClock {
  now(): number;
  /** Takes over the time of an answer: true if ours was so far from it that this may be why we were refused. */
  follow(answer: HttpAnswer): boolean;
}

/** Services allow for five minutes. */
const MAX_SKEW_MS = 4 * 60_000;

export function createServiceClock(now: () => number): ServiceClock {
  let skewMs = 0;
  return {
    now: () => now() + skewMs,
    follow(answer) {
      const theirs = Date.parse(answer.header('date') ?? '');
      if (Number.isNaN(theirs) || Math.abs(theirs - (now() + skewMs)) < MAX_SKEW_MS) return false;
      skewMs = theirs - now();
      return true;
    },
  };
}
