import type { Cell } from '../../ops/metrics.ts';
import type { Flow } from './frames.ts';
import type { Link } from './link.ts';

/** How much may wait to be written before reading stops, where the bytes waiting are not in a buffer to be reused. */
export const HIGH_WATER = 262_144;

/** Moves chunks from a link through a flow, and stops reading while the flow or the other link cannot take more. */
export class Pump {
  readonly #source: Link;
  readonly #sink: Link;
  readonly #flow: Flow;
  readonly #bytes: Cell;
  readonly #pauses: Cell;
  /** What the flow has not taken yet. */
  #rest: Buffer | undefined;
  #at = 0;
  #end = 0;
  #stopped = false;

  constructor(source: Link, sink: Link, flow: Flow, bytes: Cell, pauses: Cell) {
    this.#source = source;
    this.#sink = sink;
    this.#flow = flow;
    this.#bytes = bytes;
    this.#pauses = pauses;
  }

  /** Nothing has been read that the flow has not taken. */
  get empty(): boolean {
    return this.#rest === undefined;
  }

  /** Takes a chunk; false if reading has to stop. */
  chunk(chunk: Buffer, length: number): boolean {
    this.#bytes.value += length;
    const stop = this.#flow.feed(chunk, 0, length);
    this.#source.expected = this.#flow.left;
    return this.#settle(chunk, stop, length);
  }

  #settle(chunk: Buffer, stop: number, end: number): boolean {
    if (stop < end || this.#flow.waiting) {
      this.#rest = chunk;
      this.#at = stop;
      this.#end = end;
      this.#stopped = true;
      return false;
    }
    this.#rest = undefined;
    this.#stopped = this.#sinkIsFull();
    if (this.#stopped) this.#pauses.value += 1;
    return !this.#stopped;
  }

  #sinkIsFull(): boolean {
    return this.#sink.backlog > (this.#source.reuses ? 0 : HIGH_WATER);
  }

  /** Goes on, if what stopped it is over. */
  poke(): void {
    if (!this.#stopped || this.#flow.waiting) return;
    if (this.#rest) {
      const stop = this.#flow.feed(this.#rest, this.#at, this.#end);
      if (!this.#settle(this.#rest, stop, this.#end)) return;
    } else if (this.#sinkIsFull()) {
      return;
    }
    this.#stopped = false;
    this.#source.resume();
  }
}
