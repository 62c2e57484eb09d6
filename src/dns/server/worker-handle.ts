import { closeSync } from 'node:fs';
import { MessageChannel, Worker } from 'node:worker_threads';
import { createCounters } from './counters.ts';
import { APPLIED, CONTROL_CELLS, POSTED } from './worker-protocol.ts';
import type { Log } from '../../ops/log.ts';
import type { Counters } from './counters.ts';
import type { AskOutside } from './held-queries.ts';
import type { UdpMode, WorkerMessage, WorkerReport, WorkerStart } from './worker-protocol.ts';

export interface WorkerOptions {
  start: Omit<WorkerStart, 'updates' | 'control' | 'counters'>;
  /** Has a name outside of our zones resolved; the answer comes as an update. */
  ask: AskOutside;
  log: Log;
  /** How often a worker has to show that it goes on, and how many times in a row it may fail to. */
  pulse?: { everyMs: number; maxMissed: number };
  /** What the thread runs; for tests. */
  program?: URL;
}

/** The main thread's side of a UDP worker. A thread that exits or stands still is replaced by another. */
export interface WorkerHandle {
  post(message: WorkerMessage): void;
  /** Resolves when everything posted so far is applied, and nothing that was looked up before is still in use. */
  settled(): Promise<void>;
  readonly counters: Counters;
  readonly serving: boolean;
  readonly mode: UdpMode;
  /** Answers what has been received, then ends the thread. */
  close(): Promise<void>;
}

const RESTART_MS = 1000;
/** A machine that is busy with other things keeps no thread waiting for half a minute. */
const PULSE = { everyMs: 5000, maxMissed: 6 };
const PROGRAM = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);

/** Starts a worker and waits until it serves. */
export async function startWorker(options: WorkerOptions): Promise<WorkerHandle> {
  const counters = createCounters(options.start.zones.zones.length); // outlives the thread, so that no counter is reset
  let closing = false;
  let thread = launch(options, counters);
  let mode = await thread.serving;
  let serving = true;
  let restart: NodeJS.Timeout | undefined;

  function watch(): void {
    const { everyMs, maxMissed } = options.pulse ?? PULSE;
    const stopBeating = beatOf(thread, everyMs, createPulse(maxMissed), () => {
      serving = false;
      options.log.error('DNS worker stands still, ending it');
      thread.end();
    });
    void thread.ended.then((cause) => {
      stopBeating();
      serving = false;
      if (closing) return;
      options.log.error({ err: cause }, 'DNS worker exited, restarting');
      restart = setTimeout(replace, RESTART_MS);
    });
  }

  function replace(): void {
    thread = launch(options, counters);
    thread.serving.then(
      (found) => {
        mode = found;
        serving = true;
      },
      () => undefined, // `ended` reports it
    );
    watch();
  }

  watch();
  return {
    counters,
    post: (message) => thread.post(message),
    settled() {
      thread.post({ kind: 'pass' });
      return thread.settled();
    },
    get serving() {
      return serving;
    },
    get mode() {
      return mode;
    },
    async close() {
      closing = true;
      clearTimeout(restart);
      thread.post({ kind: 'stop' });
      // One that stands still does not hear of it, and is ended at a later beat.
      await thread.ended;
    },
  };
}

/** Finds out that a worker stands still: it then takes its share of the queries, and answers none. */
interface Pulse {
  /**
   * To be called at every beat, with how many messages the worker was sent and how many it has applied; one is sent at each beat, so
   * that there is always one to apply. True if it stands still. Beats are counted and not the time: if the process itself was
   * stopped, that is not the worker's fault.
   */
  beat(posted: number, applied: number): boolean;
}

export function createPulse(maxMissed: number): Pulse {
  let last = 0;
  let missed = 0;
  return {
    beat(posted, applied) {
      const isBehind = posted !== applied && applied === last;
      missed = isBehind ? missed + 1 : 0;
      last = applied;
      return missed >= maxMissed;
    },
  };
}

/** Looks at every beat whether a thread goes on, and calls once if it does not. Returns what ends that. */
function beatOf(thread: Thread, everyMs: number, pulse: Pulse, onStill: () => void): () => void {
  let isServing = false;
  // Until it serves it may read very much.
  thread.serving.then(
    () => (isServing = true),
    () => undefined,
  );
  const timer = setInterval(() => {
    if (!isServing) return;
    if (pulse.beat(thread.posted, thread.applied)) {
      clearInterval(timer);
      onStill();
    } else thread.post({ kind: 'pass' });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

interface Thread {
  serving: Promise<UdpMode>;
  /** Resolves when the thread has exited, with the reason if there is one. */
  ended: Promise<Error | undefined>;
  post(message: WorkerMessage): void;
  settled(): Promise<void>;
  readonly posted: number;
  readonly applied: number;
  /** Ends it wherever it is. */
  end(): void;
}

function launch({ start, ask, program = PROGRAM }: WorkerOptions, counters: Counters): Thread {
  const control = new Int32Array(new SharedArrayBuffer(4 * CONTROL_CELLS));
  const { port1, port2 } = new MessageChannel();
  port1.unref();
  const post = (message: WorkerMessage) => {
    port1.postMessage(message, []);
    Atomics.add(control, POSTED, 1); // after the message is there: the worker reads this first
  };

  const data: WorkerStart = {
    ...start,
    updates: port2,
    control: control.buffer,
    counters: counters.cells.buffer as SharedArrayBuffer,
  };
  const worker = new Worker(program, {
    workerData: data,
    transferList: [port2],
    // Queries allocate next to nothing, and the records are elsewhere: a larger young generation would only be filled.
    resourceLimits: { maxYoungGenerationSizeMb: 3 },
    execArgv: ['--disable-warning=ExperimentalWarning'], // node:ffi; the documentation says so instead
  });
  let cause: Error | undefined;
  let sockets: number[] = [];
  worker.on('error', (error) => (cause = error instanceof Error ? error : new Error(String(error))));
  const ended = new Promise<Error | undefined>((resolve) => {
    worker.on('exit', () => {
      for (const socket of sockets) closeSync(socket);
      resolve(cause);
    });
  });
  const serving = new Promise<UdpMode>((resolve, reject) => {
    worker.on('message', (report: WorkerReport) => {
      if (report.kind === 'ask') return ask(report.name, report.type, report.client);
      ({ sockets } = report);
      resolve(report.mode);
    });
    void ended.then(() => reject(cause ?? new Error('the DNS worker exited before it served')));
  });
  void ended.then(() => port1.close());
  return {
    serving,
    ended,
    post,
    settled: () => waitApplied(control, ended),
    get posted() {
      return Atomics.load(control, POSTED);
    },
    get applied() {
      return Atomics.load(control, APPLIED);
    },
    end: () => void worker.terminate(),
  };
}

async function waitApplied(control: Int32Array, ended: Promise<unknown>): Promise<void> {
  const target = Atomics.load(control, POSTED);
  let alive = true;
  void ended.then(() => (alive = false));
  for (;;) {
    const applied = Atomics.load(control, APPLIED);
    if (!alive || target - applied <= 0) return;
    await Promise.race([Atomics.waitAsync(control, APPLIED, applied).value, ended]);
  }
}
