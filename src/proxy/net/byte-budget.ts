import type { Cell } from '../../ops/metrics.ts';
import type { Limits } from '../config/model.ts';

/**
 * How much memory frames may take that are held here: gathered because somebody wants them whole, and what is made of
 * them until it has been written. Three limits at once, of the process, the virtual cluster and the connection. Who finds
 * no room stops reading until there is some, and after a while is cut off.
 */

/** A frame that never fits, or for which no room was found in time: the connection is cut. */
export class OverBudget extends Error {}

/** For a frame that a connection can never hold. */
export const neverFits = (bytes: number, most: number): OverBudget =>
  new OverBudget(`a frame of ${bytes} bytes has to be held, and a connection may hold ${most}`);

/** How long a connection waits for room. */
export const ROOM_WAIT_MS = 10_000;

/** What all connections of this process hold. */
export class ProcessBudget {
  used = 0;
  /** Those that wait for room, the longest waiting first. */
  readonly #waiting = new Set<MemoryAccount>();
  #waking = false;

  wait(account: MemoryAccount): void {
    this.#waiting.add(account);
  }

  forget(account: MemoryAccount): void {
    this.#waiting.delete(account);
  }

  /** There is room again: whoever waits may try, but not within the work that has freed it. */
  freed(): void {
    if (this.#waiting.size === 0 || this.#waking) return;
    this.#waking = true;
    setImmediate(() => {
      this.#waking = false;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const account of waiting) account.onRoom();
    });
  }
}

/** What the connections of one virtual cluster hold, within that. */
export interface ClusterBudget {
  readonly process: ProcessBudget;
  readonly used: Cell;
  /** How often a connection had to wait. */
  readonly waits: Cell;
}

type BudgetLimits = Pick<
  Limits,
  'maxBufferedBytes' | 'maxBufferedBytesPerVirtualCluster' | 'maxBufferedBytesPerConnection'
>;

/** What one connection holds. */
export class MemoryAccount {
  /** The largest frame that it can ever hold. */
  readonly most: number;
  readonly onRoom: () => void;
  readonly #cluster: ClusterBudget;
  readonly #limits: BudgetLimits;
  #held = 0;
  /** By `performance.now()`; 0 is "does not wait". */
  #waitingSince = 0;
  #closed = false;

  constructor(cluster: ClusterBudget, limits: BudgetLimits, onRoom: () => void) {
    this.#cluster = cluster;
    this.#limits = limits;
    this.onRoom = onRoom;
    const { maxBufferedBytes, maxBufferedBytesPerVirtualCluster, maxBufferedBytesPerConnection } = limits;
    this.most = Math.min(maxBufferedBytes, maxBufferedBytesPerVirtualCluster, maxBufferedBytesPerConnection);
  }

  get held(): number {
    return this.#held;
  }

  /** Takes so many bytes, if there is room; else it waits, and `onRoom` is called when it should try again. */
  take(bytes: number): boolean {
    const { process, used, waits } = this.#cluster;
    const limits = this.#limits;
    if (
      this.#held + bytes > limits.maxBufferedBytesPerConnection ||
      used.value + bytes > limits.maxBufferedBytesPerVirtualCluster ||
      process.used + bytes > limits.maxBufferedBytes
    ) {
      if (this.#waitingSince === 0) waits.value += 1;
      this.#waitingSince ||= performance.now();
      process.wait(this);
      return false;
    }
    this.#waitingSince = 0;
    this.charge(bytes);
    return true;
  }

  /** Counts what is there already, room or not: others then wait until it is gone. */
  charge(bytes: number): void {
    if (this.#closed) return;
    this.#held += bytes;
    this.#cluster.used.value += bytes;
    this.#cluster.process.used += bytes;
  }

  give(bytes: number): void {
    if (this.#closed || bytes === 0) return;
    this.#held -= bytes;
    this.#cluster.used.value -= bytes;
    this.#cluster.process.used -= bytes;
    this.#cluster.process.freed();
  }

  /** Whether it has waited for room too long. */
  isOverdue(now: number): boolean {
    return this.#waitingSince > 0 && now - this.#waitingSince > ROOM_WAIT_MS;
  }

  /** The connection has ended: nothing of it is held any more. */
  close(): void {
    this.give(this.#held);
    this.#cluster.process.forget(this);
    this.#waitingSince = 0;
    this.#closed = true;
  }
}
