import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

/**
 * How many turns others get while work in slices of time runs, as if each look at the clock came a millisecond after the one before:
 * so the count depends on the steps of the work alone, not on how quick the machine is.
 */
export async function turnsDuring<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  await turn(); // a slice belongs to a turn, and a turn to one clock
  let [now, turns, isOver] = [performance.now(), 0, false];
  const clock = mock.method(performance, 'now', () => (now += 1));
  const tick = () => {
    turns += 1;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  try {
    const result = await work();
    return { result, turns };
  } finally {
    isOver = true;
    await turn();
    clock.mock.restore();
  }
}
