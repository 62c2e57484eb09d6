import type { Cell } from '../../ops/metrics.ts';
import type { Connection } from '../net/connection.ts';
import { frameMemory, LARGE_FRAME } from './frame-memory.ts';
import { FrameStream } from './frame-stream.ts';
import type { FrameRules } from './frame-stream.ts';

/** How much may wait to be written before reading stops, where the bytes waiting are not in a buffer to be reused. */
export const HIGH_WATER = 262_144;

/** What becomes of a frame that was wanted whole. */
export type FrameOutcome =
  /** Goes on as it came. */
  | 'pass'
  /** Ends here. */
  | 'drop'
  /** Ends here, and the session with it, in good order. */
  | 'finish'
  /** Other bytes go on in its place; if they are in pooled `memory`, that is given back when they have left. */
  | { forward: Buffer; memory?: Buffer }
  /** Is answered here: these bytes go back to the client, in their turn. */
  | { answer: Buffer }
  /** The connection is cut, for this reason. */
  | { close: string };

/** What makes one direction of a session different from the other. */
export interface Side extends FrameRules {
  /** Takes a whole frame. A promise holds back everything behind it, and its bytes stay as they are until then. */
  take(frame: Buffer): FrameOutcome | Promise<FrameOutcome>;
  /** Is told of a frame that was taken and is now written, in whatever form. */
  forwarded?(frame: Buffer): void;
}

/** What a direction asks of the session that it belongs to. */
export interface DirectionEvents {
  onAnswer(answer: Buffer): void;
  onFinish(): void;
  onClose(why: string): void;
  /** Between two frames, where `stopAtBoundaries` asked for it. */
  onBoundary(): void;
  /** A frame that was held has been dealt with: `resume` may be called. */
  onReleased(): void;
  /** The work on a frame that was held has failed. */
  onFailed(error: unknown): void;
}

/** Why nothing is read: a frame is worked on, the next one may not begin yet, or the sink is slower than the source. */
type Paused = 'frame' | 'turn' | 'sink';

/**
 * One direction of a session, from a connection through a frame stream to the other connection. It alone decides when
 * its source is read: `paused` is here and nowhere else. The bytes of the last read belong to it while it is paused.
 */
export class Direction {
  readonly #source: Connection;
  readonly #sink: Connection;
  readonly #side: Side;
  readonly #events: DirectionEvents;
  readonly #stream: FrameStream;
  readonly #bytes: Cell;
  readonly #pauses: Cell;
  #paused: Paused | undefined;
  /** What was read and the stream has not taken yet. */
  #rest: Buffer | undefined;
  /** When the work on the frame that is held began; 0 if none is. */
  #heldAt = 0;
  #at = 0;
  #end = 0;

  constructor(
    connections: { source: Connection; sink: Connection },
    side: Side,
    events: DirectionEvents,
    counters: { bytes: Cell; pauses: Cell },
  ) {
    this.#source = connections.source;
    this.#sink = connections.sink;
    this.#side = side;
    this.#events = events;
    this.#bytes = counters.bytes;
    this.#pauses = counters.pauses;
    this.#stream = new FrameStream(side, (bytes) => this.write(bytes));
  }

  /** Nothing has been read that is not on its way. */
  get empty(): boolean {
    return this.#rest === undefined;
  }

  /** A whole frame is being worked on, and everything behind it waits. */
  get holding(): boolean {
    return this.#stream.frame !== undefined;
  }

  /** For how many milliseconds a frame has been worked on. */
  heldFor(now: number): number {
    return this.#heldAt === 0 ? 0 : now - this.#heldAt;
  }

  /** Between two frames, with nothing held back. */
  get atBoundary(): boolean {
    return this.#stream.atBoundary;
  }

  get stopsAtBoundaries(): boolean {
    return this.#stream.stopAtBoundary;
  }

  /** Whether `onBoundary` is to be called between any two frames. */
  stopAtBoundaries(wanted: boolean): void {
    this.#stream.stopAtBoundary = wanted;
  }

  /** Takes a chunk that was read from the source; false if reading has to stop. */
  read(chunk: Buffer, length: number): boolean {
    this.#bytes.value += length;
    const free = this.#advance(chunk, 0, length);
    this.#source.expected = this.#stream.left;
    return free;
  }

  /** Goes on, if what it was paused for is over. */
  resume(): void {
    if (this.#paused === undefined || this.#paused === 'frame') return;
    if (this.#rest) {
      if (!this.#advance(this.#rest, this.#at, this.#end)) return;
    } else if (this.#sinkIsFull()) {
      return;
    }
    this.#paused = undefined;
    this.#source.resume();
  }

  /** `sent` is called when the bytes have left this process. */
  write(bytes: Buffer, sent?: () => void): void {
    // A source that reads into a buffer of its own gives nothing more before this has left: no reason to wait for more.
    if (this.#source.reusesBuffer) this.#sink.write(bytes, sent);
    else this.#sink.writeSoon(bytes, sent);
  }

  /** Works on a chunk as far as it may; false if it has to pause. */
  #advance(chunk: Buffer, at: number, end: number): boolean {
    const stream = this.#stream;
    for (let before = -1; at > before && (at < end || stream.waiting);) {
      before = at;
      at = stream.feed(chunk, at, end);
      if (stream.frame && !this.#take(stream.frame)) return this.#pause('frame', chunk, at, end);
      if (stream.stopAtBoundary && stream.atBoundary && at > before) this.#events.onBoundary();
    }
    if (at < end || stream.waiting) return this.#pause('turn', chunk, at, end);
    this.#rest = undefined;
    if (!this.#sinkIsFull()) {
      this.#paused = undefined;
      return true;
    }
    this.#paused = 'sink';
    this.#pauses.value += 1;
    return false;
  }

  #pause(why: Paused, chunk: Buffer, at: number, end: number): false {
    this.#paused = why;
    this.#rest = chunk;
    this.#at = at;
    this.#end = end;
    return false;
  }

  #sinkIsFull(): boolean {
    return this.#sink.backlog > (this.#source.reusesBuffer ? 0 : HIGH_WATER);
  }

  /** False if the frame has to be held. */
  #take(frame: Buffer): boolean {
    const outcome = this.#side.take(frame);
    if (outcome instanceof Promise) {
      void this.#hold(frame, outcome);
      return false;
    }
    this.#finish(frame, outcome);
    return true;
  }

  async #hold(frame: Buffer, work: Promise<FrameOutcome>): Promise<void> {
    this.#heldAt = performance.now();
    try {
      const outcome = await work;
      this.#heldAt = 0;
      this.#finish(frame, outcome);
      this.#paused = 'turn';
      this.#events.onReleased();
    } catch (error) {
      this.#events.onFailed(error);
    }
  }

  #finish(frame: Buffer, outcome: FrameOutcome): void {
    if (outcome === 'pass') return this.#forward(frame, this.#stream.release());
    if (outcome === 'finish') this.#events.onFinish();
    else if (outcome !== 'drop') {
      if ('forward' in outcome) this.#forwardMade(outcome.forward, outcome.memory);
      else if ('answer' in outcome) this.#events.onAnswer(outcome.answer);
      else this.#events.onClose(outcome.close);
    }
    this.#stream.release()?.();
  }

  #forward(frame: Buffer, sent?: () => void): void {
    this.#side.forwarded?.(frame);
    this.write(frame, sent);
  }

  /** Forwards what was made in place of a frame, which counts as held until it has left. */
  #forwardMade(frame: Buffer, memory: Buffer | undefined): void {
    if (frame.length < LARGE_FRAME) return this.#forward(frame);
    const { account } = this.#side;
    account.charge(frame.length);
    this.#forward(frame, () => {
      if (memory) frameMemory.give(memory);
      account.give(frame.length);
    });
  }
}
