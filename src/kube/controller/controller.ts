import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { ApiError } from '../http/errors.ts';
import { createControllerMetrics } from './controller-metrics.ts';
import { createQueue } from './queue.ts';

/** The four ways a reconcile ends; also the labels of its metric. */
export const OUTCOMES = ['success', 'lookAgain', 'error', 'terminal'] as const;

export type Outcome =
  | { outcome: 'success' }
  /** All is well, and it is to be looked at again without anything having changed. */
  | { outcome: 'lookAgain'; afterMs: number }
  /** Tried again, later each time. Whatever a reconcile throws is this. */
  | { outcome: 'error'; error: unknown }
  /** Not tried again until something changes: repeating cannot help. */
  | { outcome: 'terminal'; error: unknown };

export const SUCCESS: Outcome = { outcome: 'success' };

export interface ControllerOptions {
  name: string;
  /**
   * Makes one thing as it should be. It gets only a name: what to do is decided from the state as it is now, never from what
   * happened, so that missed, repeated and merged events make no difference.
   */
  reconcile: (key: string, signal: AbortSignal) => Promise<Outcome>;
  log: Log;
  /** Where it reports how it does; nowhere if left out. */
  metrics?: Metrics | undefined;
  /** How many keys are worked on at once; never one key twice. */
  concurrency?: number;
  clock?: Clock;
  random?: () => number;
}

export interface Controller {
  /** Asks for a key to be looked at. Cheap, and never throws: made to be called by caches. */
  readonly enqueue: (key: string) => void;
  readonly outcomes: Readonly<Record<Outcome['outcome'], number>>;
  /** Keys that wait for a free worker. */
  readonly waiting: number;
  readonly active: number;
  /** How many keys are to be tried again after a failure, or are being so. */
  readonly failing: number;
  /** Begins to work; keys may be enqueued before. */
  start(): void;
  /** Takes no more keys, and waits for those being worked on; after `graceMs` their signal is aborted. */
  stop(graceMs?: number): Promise<void>;
}

/**
 * Shorter than the time between the end of one leader and the beginning of the next: whoever has lost the lead must not be at work
 * when another one has begun.
 */
export const GRACE_MS = 4000;

export function createController(options: ControllerOptions): Controller {
  const { name, reconcile, concurrency = 4, clock = systemClock, random = Math.random } = options;
  const log = options.log.child({ controller: name });
  const queue = createQueue({ random });
  const outcomes = { success: 0, lookAgain: 0, error: 0, terminal: 0 };
  const failing = new Set<string>();
  const abort = new AbortController();
  const working = new Set<Promise<void>>();
  /** Since when keys have waited for a worker. */
  const queuedAt = new Map<string, number>();
  let state: 'new' | 'running' | 'stopped' = 'new';
  let alarm: { at: number; cancel: AbortController } | undefined;
  let scheduled = false;
  const metrics = options.metrics && createControllerMetrics(options.metrics, name, queueState);

  function queueState() {
    const [oldest = clock.now()] = queuedAt.values(); // a Map keeps the order of arrival
    const oldestMs = clock.now() - oldest;
    return { waiting: queue.ready, active: queue.active, failing: failing.size, oldestMs };
  }

  /** Not at once: whoever enqueues is in the middle of something, and may enqueue more. */
  function schedule(): void {
    if (scheduled || state !== 'running') return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      dispatch();
    });
  }

  /** Gives keys to free workers, and sets the alarm for the next delayed one. */
  function dispatch(): void {
    if (state !== 'running') return;
    while (queue.active < concurrency) {
      const key = queue.take(clock.now());
      if (key === undefined) break;
      const work = process(key).finally(() => {
        working.delete(work);
        queue.done(key);
        schedule();
      });
      working.add(work);
    }
    setAlarm();
  }

  function setAlarm(): void {
    const at = queue.nextAt();
    if (alarm?.at === at) return;
    alarm?.cancel.abort();
    alarm = undefined;
    // With no worker free an alarm would ring for nothing; the one who gets free sets it again.
    if (at === undefined || state !== 'running' || queue.active >= concurrency) return;
    const mine = (alarm = { at, cancel: new AbortController() });
    void clock.wait(Math.max(0, at - clock.now()), mine.cancel.signal).then(() => {
      if (alarm !== mine) return;
      alarm = undefined;
      dispatch();
    });
  }

  async function process(key: string): Promise<void> {
    let result: Outcome;
    queuedAt.delete(key);
    const started = clock.now();
    try {
      result = await reconcile(key, abort.signal);
    } catch (error) {
      result = { outcome: 'error', error };
    }
    outcomes[result.outcome] += 1;
    metrics?.reconciled(result.outcome, (clock.now() - started) / 1000);
    settle(key, result);
  }

  function settle(key: string, result: Outcome): void {
    if (result.outcome === 'error') {
      if (abort.signal.aborted) return; // stopped in the middle of it
      const asked = result.error instanceof ApiError ? result.error.retryAfterMs : undefined;
      failing.add(key);
      const retryInMs = Math.round(queue.retry(key, clock.now(), asked));
      const failures = queue.failuresOf(key);
      log.warn({ object: key, failures, retryInMs, problem: messageOf(result.error) }, 'reconcile failed');
      log.debug({ object: key, err: result.error }, 'reconcile failed here');
      return;
    }
    queue.forget(key);
    failing.delete(key);
    if (result.outcome === 'lookAgain') queue.addAfter(key, result.afterMs, clock.now());
    if (result.outcome === 'terminal')
      log.warn({ object: key, problem: messageOf(result.error) }, 'reconcile failed, and waits for a change');
  }

  return {
    enqueue(key) {
      queue.add(key);
      if (!queuedAt.has(key)) queuedAt.set(key, clock.now());
      schedule();
    },
    outcomes,
    get waiting() {
      return queue.ready;
    },
    get active() {
      return queue.active;
    },
    get failing() {
      return failing.size;
    },
    start() {
      if (state === 'new') state = 'running';
      schedule();
    },
    async stop(graceMs = GRACE_MS) {
      state = 'stopped';
      alarm?.cancel.abort();
      const timer = setTimeout(() => abort.abort(), graceMs);
      await Promise.all(working);
      clearTimeout(timer);
      metrics?.stop();
    },
  };
}
