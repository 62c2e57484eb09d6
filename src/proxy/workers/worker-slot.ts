import type { Log } from '../../ops/log.ts';
import type { Snapshot } from '../../ops/metrics.ts';
import type { Counts } from './data-plane.ts';
import type { FromWorker, WorkerSetup } from './messages.ts';
import { startWorker } from './worker-process.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A worker that ran so long and then died was not broken from the start. */
const STABLE_AFTER_MS = 10_000;
const MIN_RESTART_MS = 100;
const MAX_RESTART_MS = 5000;

/** A worker's place in the pool; the process in it is replaced when it dies. */
export interface WorkerSlot {
  worker: WorkerProcess;
  /** Connections, as the worker has last told. */
  counts: Counts;
  /** Its metrics, as it has last reported them. */
  lastSnapshot: Snapshot;
  /** Starts no other worker any more. */
  stop(): void;
}

export interface SlotEvents {
  onMessage(slot: WorkerSlot, message: FromWorker): void;
  /** The worker is gone, and what it had counted with it. */
  onExit(lastSnapshot: Snapshot): void;
  /** Another worker has been started in its place. */
  onRestart(slot: WorkerSlot): void;
}

/** Starts a worker, and another one whenever it dies, later each time if it dies soon. */
export function createWorkerSlot(setup: WorkerSetup, log: Log, events: SlotEvents): WorkerSlot {
  let restartMs = MIN_RESTART_MS / 2;
  let stopped = false;
  const slot: WorkerSlot = {
    worker: start(),
    counts: { total: 0, addresses: [] },
    lastSnapshot: [],
    stop() {
      stopped = true;
    },
  };

  function start(): WorkerProcess {
    const worker = startWorker(setup, (message) => events.onMessage(slot, message));
    void worker.ended.then((why) => onExit(worker, why));
    return worker;
  }

  function onExit({ pid, startedAt }: WorkerProcess, why: string): void {
    events.onExit(slot.lastSnapshot);
    slot.lastSnapshot = [];
    slot.counts = { total: 0, addresses: [] };
    if (stopped) return;
    const stable = performance.now() - startedAt > STABLE_AFTER_MS;
    restartMs = stable ? MIN_RESTART_MS : Math.min(restartMs * 2, MAX_RESTART_MS);
    log.error({ worker: setup.number, pid, why, restartMs }, 'worker exited, restarting it');
    setTimeout(() => {
      if (stopped) return;
      slot.worker = start();
      events.onRestart(slot);
    }, restartMs);
  }

  return slot;
}
