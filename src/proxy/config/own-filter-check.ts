import { Worker } from 'node:worker_threads';
import { BoundedMap } from '../../ops/bounded-map.ts';
import type { FilterSource } from '../filters/registry.ts';
import { namedHash } from './canonical.ts';

/**
 * Tries out whether filters of users' own can be loaded and take their configurations, in a thread that can be ended: what they come
 * with is code, too, and who checks a configuration here has all virtual clusters to look after.
 */
export interface OwnFilterCheck {
  /** Rejects with what is wrong. */
  check(source: FilterSource): Promise<void>;
  /** Whether a configuration was refused without a try: another check may take it. */
  leftUntried(): boolean;
  close(): void;
}

/** What the thread says to a question. */
export interface CheckAnswer {
  problem?: string;
}

/** What it says when it can be asked: until then it is our own code that takes its time. */
export const READY = 'ready';

const TIMEOUT_MS = 10_000;
/** For all together that do not come to their end: a pod has three minutes to start in. */
const ROUND_MS = 120_000;
const UNENDING = 'it does not come to its end';
const UNTRIED =
  'it is not tried yet, because another configuration of its package, or too many of others, do not come to their end';
/** As much as a process with many virtual clusters has to spare. */
const MOST_MEMORY = { maxOldGenerationSizeMb: 256 };
/** Checks that did not end, so that not every change of anybody waits for them again. */
const unending = new BoundedMap<string, true>(1000);
/** Configurations that were taken, which need no other try where there is none. */
const taken = new BoundedMap<string, true>(1000);

const PROGRAM = new URL(
  import.meta.url.endsWith('.ts') ? './own-filter-check-thread.ts' : './own-filter-check-thread.js',
  import.meta.url,
);

/** An answer, or that the thread has come to its end instead. */
type Outcome = CheckAnswer & { isLost?: true };

/** For tests, whose modules are installed nowhere and which need not wait. */
export interface CheckOptions {
  execArgv?: string[];
  timeoutMs?: number;
  roundMs?: number;
}

/** Of an error that nobody has caught, no more than its kind: its words may quote a configuration, and status and log would repeat them. */
function problemOf(error: unknown): string {
  if ((error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return 'it takes more memory than it may have';
  const kind = error instanceof Error ? error.name : typeof error;
  return `it throws where nobody catches it (${kind})`;
}

export function createOwnFilterCheck({
  timeoutMs = TIMEOUT_MS,
  roundMs = ROUND_MS,
  ...options
}: CheckOptions = {}): OwnFilterCheck {
  let thread: Worker | undefined;
  /** That it can be asked. */
  let ready: Promise<undefined> = Promise.resolve(undefined);
  /** How long may still be waited for nothing. */
  let leftMs = roundMs;
  /** How the question ends that is under way. */
  let settle: (outcome: Outcome) => void = () => {};
  /**
   * Types with a configuration that was found to have no end: all virtual clusters wait for this check, and each further one could
   * take as long. The next check gets to them.
   */
  const stuck = new Set<string>();
  let leftUntried = false;
  /** One question at a time: which of several has ended a thread could not be told. */
  let last: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    const started = new Worker(PROGRAM, { ...options, resourceLimits: MOST_MEMORY });
    const up = Promise.withResolvers<undefined>();
    ready = up.promise;
    // Also between two questions: what the one before has left behind may end it then.
    const lost = (problem: string) => {
      if (thread !== started) return;
      thread = undefined;
      settle({ problem, isLost: true });
    };
    started.on('message', (message: CheckAnswer | typeof READY) => {
      if (message === READY) up.resolve(undefined);
      else if (thread === started) settle(message);
    });
    started.on('error', (error) => lost(problemOf(error)));
    started.on('exit', () => lost('it ends the thread in which it is checked'));
    return started;
  }

  function end(): void {
    void thread?.terminate();
    thread = undefined;
  }

  async function ask(source: FilterSource): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const asked = performance.now();
    settle = resolve;
    thread ??= start();
    let outcome = await within<Outcome | undefined>([promise, ready], leftMs, {
      problem: UNTRIED,
      isLost: true,
    });
    if (!outcome) {
      thread?.postMessage(source, []);
      const problem = leftMs < timeoutMs ? UNTRIED : UNENDING;
      outcome = await within([promise], Math.min(leftMs, timeoutMs), { problem, isLost: true });
    }
    if (!outcome.isLost) return outcome;
    end();
    leftMs -= performance.now() - asked;
    return outcome;
  }

  async function tried(source: FilterSource): Promise<Outcome> {
    const isFirst = thread === undefined;
    const outcome = await ask(source);
    // It may have been something that an earlier one has left behind, or a machine that had no time for it.
    const isDoubtful = outcome.isLost && (!isFirst || outcome.problem === UNENDING);
    return isDoubtful && leftMs > 0 ? ask(source) : outcome;
  }

  async function outcomeOf(source: FilterSource): Promise<Outcome> {
    const key = namedHash(source.type, source.config ?? null);
    if (unending.has(key)) return { problem: UNENDING };
    const isTried = leftMs > 0 && !stuck.has(source.type);
    if (!isTried && taken.has(key)) return {};
    const outcome: Outcome = isTried ? await tried(source) : { problem: UNTRIED };
    if (outcome.problem === undefined) taken.set(key, true);
    if (outcome.problem === UNTRIED) leftUntried = true;
    if (outcome.problem === UNENDING) {
      unending.set(key, true);
      stuck.add(source.type);
    }
    return outcome;
  }

  return {
    async check(source) {
      const asked = last.then(() => outcomeOf(source));
      last = asked.catch(() => {});
      const { problem } = await asked;
      if (problem !== undefined) throw new Error(problem);
    },
    leftUntried: () => leftUntried,
    close: end,
  };
}

/** What comes first, or something else after so long. */
async function within<T>(promises: readonly Promise<T>[], ms: number, instead: T): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(resolve, Math.max(0, ms), instead);
  return Promise.race([...promises, late]).finally(() => clearTimeout(timer));
}
