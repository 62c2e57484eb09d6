/** Wakes whoever looks after many keys, in slices: there may be a hundred thousand exported services. */
import { inSlices } from '../../../ops/time-slice.ts';
import type { Wake } from '../../kernel/watches.ts';

export interface Waker {
  wakeAll(keys: Iterable<string>): void;
  /** Whether keys are still to be woken. */
  readonly isWaking: boolean;
  stop(): void;
}

export function createWaker(wake: Wake): Waker {
  let waking = 0;
  let isStopped = false;

  function* steps(keys: Iterable<string>): Generator<undefined> {
    for (const key of keys) {
      if (isStopped) return;
      wake(key);
      yield;
    }
  }

  return {
    wakeAll(keys) {
      waking += 1;
      void inSlices(steps(keys)).finally(() => (waking -= 1));
    },
    get isWaking() {
      return waking > 0;
    },
    stop: () => void (isStopped = true),
  };
}
