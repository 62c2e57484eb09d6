import { OBJECT_BACKOFF, backoffMs } from '../backoff.ts';
import type { BackoffLimits } from '../backoff.ts';

/**
 * Keys that wait to be worked on. No timers and no promises: time comes in as a number, so that every order of events can be
 * tried out in a test; `controller.ts` brings it to life.
 *
 * A key is in here once, however often it is added. While it is being worked on nobody else gets it; if it is added
 * meanwhile, it comes again afterwards. Taking a key settles every wish for it made before, delayed ones too: the work looks at
 * the state as it is, and says itself when to look again.
 */
export interface Queue {
  /** How many keys could be taken now, if enough workers were free. */
  readonly ready: number;
  /** How many keys are being worked on. */
  readonly active: number;
  /** How many keys are known in any way. */
  readonly size: number;
  add(key: string): void;
  /** At `now + delayMs`, or earlier if it was asked for earlier. */
  addAfter(key: string, delayMs: number, now: number): void;
  /** The key that is next, or undefined. It must be given back with `done`. */
  take(now: number): string | undefined;
  done(key: string): void;
  /** Asks for the key again after a failure, later each time in a row, and no sooner than `atLeastMs`. Returns the delay. */
  retry(key: string, now: number, atLeastMs?: number): number;
  /** Ends the row of failures. */
  forget(key: string): void;
  failuresOf(key: string): number;
  /** When the next delayed key is due, if there is one. */
  nextAt(): number | undefined;
}

export interface QueueOptions {
  backoff?: BackoffLimits;
  random?: () => number;
}

export function createQueue({ backoff = OBJECT_BACKOFF, random = Math.random }: QueueOptions = {}): Queue {
  const ready = new Set<string>(); // a Set keeps the order of arrival
  /** Goes on behind what was taken: to begin anew each time is to step over all that was, in a large Set. */
  let next = ready.values();
  const active = new Set<string>();
  /** Added while active. */
  const again = new Set<string>();
  const delayed = new Map<string, number>();
  const agenda = createAgenda(delayed);
  const failures = new Map<string, number>();

  function add(key: string): void {
    if (active.has(key)) again.add(key);
    else ready.add(key);
  }

  function first(): string | undefined {
    const { value } = next.next();
    if (value !== undefined || ready.size === 0) return value;
    next = ready.values(); // one that has come to its end stays there
    return next.next().value;
  }

  function addAfter(key: string, delayMs: number, now: number): void {
    const at = now + Math.max(0, delayMs);
    if (at >= (delayed.get(key) ?? Infinity)) return;
    delayed.set(key, at);
    agenda.put(key, at);
  }

  function wakeDue(now: number): void {
    for (let due = agenda.takeUntil(now); due !== undefined; due = agenda.takeUntil(now)) {
      delayed.delete(due);
      add(due);
    }
  }

  return {
    get ready() {
      return ready.size;
    },
    get active() {
      return active.size;
    },
    get size() {
      return new Set([...ready, ...active, ...delayed.keys()]).size;
    },
    add,
    addAfter,
    take(now) {
      wakeDue(now);
      const key = first();
      if (key === undefined) return undefined;
      ready.delete(key);
      delayed.delete(key);
      active.add(key);
      return key;
    },
    done(key) {
      active.delete(key);
      if (again.delete(key)) ready.add(key);
    },
    retry(key, now, atLeastMs = 0) {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      const delayMs = Math.max(atLeastMs, backoffMs(count, backoff, random()));
      addAfter(key, delayMs, now);
      return delayMs;
    },
    forget: (key) => void failures.delete(key),
    failuresOf: (key) => failures.get(key) ?? 0,
    nextAt: () => agenda.nextAt(),
  };
}

interface Agenda {
  put(key: string, at: number): void;
  /** Takes one key that is due at `now`. */
  takeUntil(now: number): string | undefined;
  nextAt(): number | undefined;
}

const MIN_SWEEP = 64;

interface Entry {
  key: string;
  at: number;
}

/**
 * A binary heap by time over the times in `current`. An entry that is no longer true (moved or settled meanwhile) is dropped when
 * it comes up, or when most entries are such.
 */
function createAgenda(current: ReadonlyMap<string, number>): Agenda {
  let heap: Entry[] = [];
  const isCurrent = ({ key, at }: Entry) => current.get(key) === at;

  function swap(i: number, j: number): void {
    [heap[i], heap[j]] = [heap[j]!, heap[i]!];
  }

  function removeTop(): Entry | undefined {
    const top = heap[0];
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top;
    heap[0] = last;
    for (let i = 0; ;) {
      const left = 2 * i + 1;
      const right = left + 1;
      let least = i;
      if (left < heap.length && heap[left]!.at < heap[least]!.at) least = left;
      if (right < heap.length && heap[right]!.at < heap[least]!.at) least = right;
      if (least === i) return top;
      swap(i, least);
      i = least;
    }
  }

  function top(): Entry | undefined {
    while (heap[0] && !isCurrent(heap[0])) removeTop();
    return heap[0];
  }

  function sweep(): void {
    if (heap.length > 2 * current.size + MIN_SWEEP)
      heap = heap.filter(isCurrent).toSorted((a, b) => a.at - b.at);
  }

  return {
    put(key, at) {
      heap.push({ key, at });
      for (let i = heap.length - 1; i > 0 && heap[i]!.at < heap[(i - 1) >> 1]!.at; i = (i - 1) >> 1)
        swap(i, (i - 1) >> 1);
      sweep();
    },
    takeUntil(now) {
      const first = top();
      return first && first.at <= now ? removeTop()?.key : undefined;
    },
    nextAt: () => top()?.at,
  };
}
