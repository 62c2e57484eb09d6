import type { Clock } from '../../src/kube/clock.ts';

/** A clock for tests: it stands still until it is told to go on. */
export interface ManualClock extends Clock {
  /** Goes on, waking those whose time has come, in order. */
  advance(ms: number): Promise<void>;
}

/** Lets everything run that can run without time going by. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

export function createManualClock(start = 1_000_000): ManualClock {
  let now = start;
  const waiting = new Set<{ at: number; wake: () => void }>();
  return {
    now: () => now,
    wallTime: () => now,
    wait(ms, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (signal?.aborted) return Promise.resolve();
      const entry = { at: now + ms, wake: resolve };
      waiting.add(entry);
      signal?.addEventListener('abort', () => {
        waiting.delete(entry);
        resolve();
      });
      return promise;
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settle();
        const [next] = [...waiting].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
        if (!next) break;
        now = Math.max(now, next.at);
        waiting.delete(next);
        next.wake();
      }
      now = end;
    },
  };
}
