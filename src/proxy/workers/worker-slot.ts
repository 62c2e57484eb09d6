import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { Snapshot } from '../../ops/metrics.ts';
import type { Counts } from './data-plane.ts';
import type { FromWorker, WorkerSetup } from './messages.ts';
import type { Blame } from './out-of-service.ts';
import { newWorker, step } from './supervision.ts';
import type { WorkerEvent, WorkerState } from './supervision.ts';
import { startWorker } from './worker-process.ts';
import type { WorkerProcess } from './worker-process.ts';

/** A worker's place in the pool; the process in it is replaced when it dies. */
export interface WorkerSlot {
  worker: WorkerProcess;
  /** How it is, as `supervision` has it. */
  state: WorkerState;
  /** Connections, as the worker has last told. */
  counts: Counts;
  /** Its metrics, as it has last reported them. */
  lastSnapshot: Snapshot;
  /** Takes note of what happened, and does what follows from it. */
  note(event: WorkerEvent): void;
  /** Kills no worker and starts no other any more. */
  stop(): void;
}

export type ExitReason = 'exit' | 'stuck';

export interface SlotEvents {
  onMessage(slot: WorkerSlot, message: FromWorker): void;
  /** A filter of a user's own has hung or ended the worker. */
  onBlame(blame: Blame): void;
  /** The worker is gone, and what it had counted with it. */
  onExit(lastSnapshot: Snapshot, reason: ExitReason): void;
  /** Another worker has been started in its place. */
  onRestart(slot: WorkerSlot): void;
}

/** Starts a worker, and another one whenever it ends: by itself, or because it was stuck. */
export function createWorkerSlot(setup: WorkerSetup, log: Log, events: SlotEvents): WorkerSlot {
  let stopped = false;
  const slot: WorkerSlot = {
    worker: start(),
    state: newWorker(),
    counts: { total: 0, addresses: [] },
    lastSnapshot: [],
    note(event) {
      if (stopped) return;
      const { state, order } = step(slot.state, event);
      slot.state = state;
      if (order?.blame) events.onBlame(order.blame);
      if (order?.do === 'kill') kill(order.why);
      if (order?.do === 'restart') restart(order.inMs);
    },
    stop() {
      stopped = true;
    },
  };

  function start(): WorkerProcess {
    const worker = startWorker(setup, {
      onMessage(message) {
        if (slot.worker !== worker) return;
        slot.note({ type: 'heard' });
        events.onMessage(slot, message);
      },
      onStall(note) {
        if (slot.worker === worker) slot.note({ type: 'stalled', note });
      },
    });
    void worker.ended.then((why) => {
      events.onExit(slot.lastSnapshot, slot.state.phase === 'killed' ? 'stuck' : 'exit');
      slot.lastSnapshot = [];
      slot.counts = { total: 0, addresses: [] };
      slot.note({ type: 'exited', why });
    });
    return worker;
  }

  function kill(why: string): void {
    log.error({ worker: setup.number, pid: slot.worker.pid, why }, 'worker is stuck, killing it');
    slot.worker.kill();
  }

  function restart(inMs: number): void {
    const { why, failures } = slot.state;
    log.error(
      { worker: setup.number, pid: slot.worker.pid, why, failures, restartMs: inMs },
      'worker exited, restarting it',
    );
    setTimeout(() => {
      if (stopped) return;
      try {
        slot.worker = start();
      } catch (error) {
        return slot.note({ type: 'exited', why: messageOf(error) }); // no memory for another process, say
      }
      slot.note({ type: 'started' });
      events.onRestart(slot);
    }, inMs);
  }

  return slot;
}
