import { closeSync } from 'node:fs';
import { MessageChannel, Worker } from 'node:worker_threads';
import { createCounters } from './counters.ts';
import { APPLIED, CONTROL_CELLS, POSTED } from './worker-protocol.ts';
import type { Log } from '../../ops/log.ts';
import type { Counters } from './counters.ts';
import type { UdpMode, WorkerMessage, WorkerReport, WorkerStart } from './worker-protocol.ts';
import type { Name } from '../wire/name.ts';

export interface WorkerOptions {
  start: Omit<WorkerStart, 'updates' | 'control' | 'counters'>;
  /** Has a name outside of our zones resolved; the answer comes as an update. */
  ask: (name: Name, type: number) => void;
  log: Log;
}

/** The main thread's side of a UDP worker. A thread that exits is replaced by another. */
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

/** Starts a worker and waits until it serves. */
export async function startWorker(options: WorkerOptions): Promise<WorkerHandle> {
  const counters = createCounters(options.start.zones.zones.length); // outlives the thread, so that no counter is reset
  let closing = false;
  let thread = launch(options, counters);
  let mode = await thread.serving;
  let serving = true;
  let restart: NodeJS.Timeout | undefined;

  function watch(): void {
    void thread.ended.then((cause) => {
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
      await thread.ended;
    },
  };
}

interface Thread {
  serving: Promise<UdpMode>;
  /** Resolves when the thread has exited, with the reason if there is one. */
  ended: Promise<Error | undefined>;
  post(message: WorkerMessage): void;
  settled(): Promise<void>;
}

function launch({ start, ask }: WorkerOptions, counters: Counters): Thread {
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
  const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  const worker = new Worker(new URL(file, import.meta.url), {
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
      if (report.kind === 'ask') return ask(report.name, report.type);
      ({ sockets } = report);
      resolve(report.mode);
    });
    void ended.then(() => reject(cause ?? new Error('the DNS worker exited before it served')));
  });
  void ended.then(() => port1.close());
  return { serving, ended, post, settled: () => waitApplied(control, ended) };
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
