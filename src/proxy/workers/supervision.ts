import type { FilterOwner } from '../cluster/filter-owner.ts';
import { nameInKey } from '../config/canonical.ts';
import type { Blame } from './out-of-service.ts';
import type { StallNote } from './stall-note.ts';

/**
 * What becomes of a worker, decided without processes and timers. Time is counted in the supervisor's own ticks and not read from
 * a clock: a supervisor that was itself stopped for a while has missed its workers' messages, and must not blame them.
 */

export const TICK_MS = 1000;

/** Messages come each second; this long without one, a worker does not count as serving. */
const SUSPECT_AFTER_MS = 5000;
const KILL_AFTER_MS = 10_000;
/** Who is stopped (SIGSTOP) and has missed a message does nothing until somebody wakes it: unlike silence, that is no sign of a busy machine. */
const KILL_STOPPED_AFTER_MS = 2000;
/** Starting and changing the configuration may keep a worker busy, on a machine that has little time for it. */
const KILL_BUSY_AFTER_MS = 60_000;
/** Where it is known that one filter computes all the time, there is nothing else to wait for. It was watched a while before that counts. */
const KILL_STALLED_AFTER_MS = 8000;
/** At a start or a change, packages are loaded and filters made, which may take long and still end: as long as that may take, and then some. */
const KILL_STALLED_BUSY_AFTER_MS = 20_000;
/** Who has computed so long when a worker is killed for its silence was the reason; who has for less may have been. */
const BLAME_AFTER_MS = 5000;
/** A worker that served so long and then ended was not broken from the start. */
const STABLE_AFTER_MS = 10_000;
const MIN_RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;
/** Nothing outlives SIGKILL for long, unless the kernel is stuck with it. */
const GONE_AFTER_MS = 30_000;
/** If no worker could be made to serve in this time, starting from nothing is worth a try. */
const HOPELESS_AFTER_MS = 180_000;

export interface WorkerState {
  /** `starting` is until the first configuration is in effect, `killed` until the process has ended, `restarting` until there is another. */
  phase: 'starting' | 'serving' | 'killed' | 'restarting';
  /** Time in this phase. */
  forMs: number;
  /** Time without a message. */
  silentMs: number;
  /** Configurations that were sent to it and are not in effect yet. */
  applying: number;
  /** The filter of a user's own that computes, and for how long. */
  stall: Required<StallNote> | undefined;
  /** How often in a row it has not lasted. */
  failures: number;
  /** What ended the last one. */
  why?: string;
}

export type WorkerEvent =
  | { type: 'tick'; isStopped: boolean }
  /** Another process has taken the place. */
  | { type: 'started' }
  | { type: 'heard' }
  | { type: 'stalled'; note: StallNote }
  | { type: 'applying' }
  /** Whether the worker said so, or did not respond in time. */
  | { type: 'applied'; inEffect: boolean }
  | { type: 'exited'; why: string };

/** `blame` is whose filter made it necessary. */
export type Order =
  | { do: 'kill'; why: string; blame?: Blame }
  | { do: 'restart'; inMs: number; blame?: Blame };

const STARTED = { phase: 'starting', forMs: 0, silentMs: 0, applying: 0, stall: undefined } as const;

export const newWorker = (): WorkerState => ({ ...STARTED, failures: 0 });

/** What an event makes of a worker, and what is to be done about it. */
export function step(state: WorkerState, event: WorkerEvent): { state: WorkerState; order?: Order } {
  switch (event.type) {
    case 'started':
      return { state: { ...state, ...STARTED } };
    case 'heard':
      return { state: { ...state, silentMs: 0 } };
    case 'stalled':
      return { state: { ...state, stall: stallOf(event.note) } };
    case 'applying':
      return { state: { ...state, applying: state.applying + 1 } };
    case 'applied':
      return { state: applied(state, event.inEffect) };
    case 'exited':
      return exited(state, event.why);
    case 'tick':
    default:
      return tick(
        { ...state, forMs: state.forMs + TICK_MS, silentMs: state.silentMs + TICK_MS },
        event.isStopped,
      );
  }
}

function applied(state: WorkerState, inEffect: boolean): WorkerState {
  const next = { ...state, applying: Math.max(0, state.applying - 1) };
  return state.phase === 'starting' && inEffect ? { ...next, phase: 'serving', forMs: 0 } : next;
}

const stallOf = ({ owner, forMs }: StallNote) => owner && { owner, forMs };

function tick(state: WorkerState, isStopped: boolean): { state: WorkerState; order?: Order } {
  const why = whyKill(state, isStopped);
  if (why === undefined) return { state };
  const killed = { ...state, phase: 'killed', forMs: 0, failures: failuresOf(state), why } as const;
  const blame = isStopped ? undefined : blameOf(state);
  return { state: killed, order: { do: 'kill', why, ...(blame && { blame }) } };
}

const blameOf = ({ stall }: WorkerState): Blame | undefined =>
  stall && { owner: stall.owner, how: stall.forMs >= BLAME_AFTER_MS ? 'hung' : 'ended' };

function whyKill(state: WorkerState, isStopped: boolean): string | undefined {
  const { phase, forMs, silentMs, applying, stall } = state;
  if (phase !== 'starting' && phase !== 'serving') return undefined;
  if (isStopped && silentMs >= KILL_STOPPED_AFTER_MS) return 'stopped by a signal';
  const isBusy = phase === 'starting' || applying > 0;
  const mostStalled = isBusy ? KILL_STALLED_BUSY_AFTER_MS : KILL_STALLED_AFTER_MS;
  if (!isStopped && stall && stall.forMs >= mostStalled) return `${filterText(stall.owner)} does not end`;
  if (phase === 'starting' && forMs >= KILL_BUSY_AFTER_MS)
    return `not serving ${seconds(forMs)} after its start`;
  const limit = applying > 0 ? KILL_BUSY_AFTER_MS : KILL_AFTER_MS;
  return phase === 'serving' && silentMs >= limit ? `silent for ${seconds(silentMs)}` : undefined;
}

function exited(state: WorkerState, why: string): { state: WorkerState; order: Order } {
  const wasKilled = state.phase === 'killed';
  const failures = wasKilled ? state.failures : failuresOf(state);
  const next = {
    ...state,
    phase: 'restarting',
    forMs: 0,
    failures,
    why: wasKilled ? (state.why ?? why) : why,
  } as const;
  const inMs = Math.min(MIN_RESTART_MS * 2 ** failures, MAX_RESTART_MS);
  const blame: Blame | undefined =
    state.stall && !wasKilled ? { owner: state.stall.owner, how: 'ended' } : undefined;
  return { state: next, order: { do: 'restart', inMs, ...(blame && { blame }) } };
}

const failuresOf = ({ phase, forMs, failures }: WorkerState) =>
  phase === 'serving' && forMs >= STABLE_AFTER_MS ? 0 : failures + 1;

const isServing = ({ phase, silentMs }: WorkerState) => phase === 'serving' && silentMs < SUSPECT_AFTER_MS;

/** All workers together. */
export interface PoolHealth {
  serving: number;
  /** What is wrong with each worker that does not serve. */
  problems: string[];
  notReady?: string;
  /** Set when only a new supervisor can help. */
  notLive?: string;
}

/** `idleMs` is for how long no worker has served. */
export function poolHealth(states: readonly WorkerState[], idleMs: number): PoolHealth {
  const serving = states.filter(isServing).length;
  const problems = states.flatMap((state, i) =>
    isServing(state) ? [] : [`worker ${i + 1} ${describe(state)}`],
  );
  const health = { serving, problems };
  if (serving > 0) return health;
  const notReady = `no worker is serving: ${problems.join('; ')}`;
  const isStuck = states.every(({ phase, forMs }) => phase === 'killed' && forMs >= GONE_AFTER_MS);
  const hopeless = isStuck || idleMs >= HOPELESS_AFTER_MS;
  return { ...health, notReady, ...(hopeless && { notLive: notReady }) };
}

function describe({ phase, forMs, silentMs, failures, why }: WorkerState): string {
  const before =
    failures > 1 && why !== undefined ? ` after failing ${failures} times in a row (${why})` : '';
  switch (phase) {
    case 'starting':
      return `is starting${before}`;
    case 'serving':
      return `has been silent for ${seconds(silentMs)}`;
    case 'killed':
      return `was killed ${seconds(forMs)} ago (${why})`;
    case 'restarting':
    default:
      return before ? `waits to be started again${before}` : `has ended (${why}) and is started again`;
  }
}

const filterText = ({ service, filter }: FilterOwner) =>
  `filter "${filter}" of virtual cluster "${nameInKey(service)}"`;

const seconds = (ms: number) => `${ms / 1000} s`;
