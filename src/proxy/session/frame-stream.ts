import { neverFits } from '../net/byte-budget.ts';
import type { MemoryAccount } from '../net/byte-budget.ts';
import { frameMemory } from './frame-memory.ts';

/**
 * Cuts a stream of bytes into Kafka's frames (a length of four bytes, and as many bytes) without waiting for whole
 * frames and without copying those that nobody wants to see: each frame is decided upon as soon as its head is there.
 * It knows nothing of pauses: it stops where its caller has to look, and goes on where it is fed again.
 */

/** The head is not complete yet. */
export const MORE = 0;
/** Goes on as it is. */
export const PASS = 1;
/** Is wanted whole. */
export const GATHER = 2;
/** May not begin yet; it is decided upon again when the stream is fed again. */
export const WAIT = 3;
/** A scanner lets the frame go on as it is, and looks for node endpoints in it. */
export type Decision = typeof MORE | typeof PASS | typeof GATHER | typeof WAIT | FrameScanner;

/** Looks for something in a frame as it streams by. */
export interface FrameScanner {
  /** Scans on. Where it finds something it stops and returns the position, else -1. */
  feed(chunk: Buffer, at: number, end: number): number;
  /** Hides what was found at `at`, in place, because the frame's head has been sent; `left` bytes of the frame begin there. */
  neutralise(chunk: Buffer, at: number, end: number, left: number): void;
}

/** The stream is not what it should be: the connection has to be cut. */
export class BadTraffic extends Error {}

/** The frames of one direction: how long they may be, and what is to be done with each. */
export interface FrameRules {
  /** The fewest bytes that a decision needs, length included. */
  readonly minHead: number;
  /** The largest length that a frame may have. */
  readonly maxFrame: number;
  /** How much is set aside at once for a frame that is wanted whole; beyond that, twice of what has come. */
  readonly firstGather: number;
  /** Whether the next frame may begin; if not, the stream stops before it. */
  mayBegin(): boolean;
  /** Decides on the frame that begins at `at`; `end` is where the known bytes end. */
  decide(bytes: Buffer, at: number, end: number): Decision;
  /** Says what is wrong with a stream whose next frame cannot be that long. */
  badLength(length: number, bytes: Buffer, at: number): string;
  /** Whose memory frames are gathered in. */
  readonly account: MemoryAccount;
}

/** A scanner starts behind length and correlation id. */
const SCAN_FROM = 8;
/** How much of a head is looked at first when it comes in pieces; after that, twice as much each time. */
const HEAD_PIECE = 256;
/** Two strings of 32 KiB are the most that a head can have, and some room. */
const MAX_HEAD = 131_072;
const NOTHING: Buffer = Buffer.alloc(0);

export class FrameStream {
  /** Bytes that the current frame still has to come. */
  left = 0;
  /** A whole frame that is wanted, until `release`. The stream has stopped behind it. */
  frame: Buffer | undefined;
  /** Stops between any two frames, because its owner has something to do there. */
  stopAtBoundary = false;
  /** Stopped where it must not go on yet; it tries again when it is fed, if only with nothing. */
  waiting = false;
  #headWaits = false;
  readonly #rules: FrameRules;
  readonly #write: (bytes: Buffer) => void;
  /** Of the current frame, if it is scanned. */
  #scanner: FrameScanner | undefined;
  /** The first bytes of a frame that is not decided upon. */
  #head = NOTHING;
  /** A frame that is wanted whole, as far as it has come. */
  #gathered: Buffer | undefined;
  #have = 0;
  /** The pooled memory that `frame` is in, if it was gathered. */
  #memory: Buffer | undefined;
  /** How much of the account's memory the frame has. */
  #charged = 0;
  /** Where the bytes begin that have passed but are not written yet. */
  #run = 0;

  constructor(rules: FrameRules, write: (bytes: Buffer) => void) {
    this.#rules = rules;
    this.#write = write;
  }

  /** Between two frames, with nothing held back. */
  get atBoundary(): boolean {
    return this.left === 0 && this.#head.length === 0 && this.frame === undefined;
  }

  /**
   * `frame` has been dealt with. Its memory is used again; where the frame is being written, only when the result is
   * called. Undefined if it was in no memory of its own.
   */
  release(): (() => void) | undefined {
    this.frame = undefined;
    const memory = this.#memory;
    if (!memory) return undefined;
    const charged = this.#charged;
    this.#memory = undefined;
    this.#charged = 0;
    return () => {
      frameMemory.give(memory);
      this.#rules.account.give(charged);
    };
  }

  /** Works on the bytes as far as it may, and returns where it stopped: at the end, behind `frame`, or at a boundary. */
  feed(chunk: Buffer, at: number, end: number): number {
    this.#run = at;
    this.waiting = false;
    if (this.#headWaits) this.#decideHead();
    while (at < end && this.frame === undefined && !this.waiting) {
      if (this.left > 0) at = this.#continueFrame(chunk, at, end);
      else if (this.#head.length > 0) at = this.#continueHead(chunk, at, end);
      else if (!this.#rules.mayBegin()) break;
      else at = this.#beginFrame(chunk, at, end);
      if (this.stopAtBoundary && this.atBoundary) break;
    }
    this.#send(chunk, at);
    return at;
  }

  #send(chunk: Buffer, at: number): void {
    if (at > this.#run)
      this.#write(this.#run === 0 && at === chunk.length ? chunk : chunk.subarray(this.#run, at));
    this.#run = at;
  }

  #lengthOf(bytes: Buffer, at: number): number {
    const length = bytes.readInt32BE(at);
    if (length < this.#rules.minHead - 4 || length > this.#rules.maxFrame)
      throw new BadTraffic(this.#rules.badLength(length, bytes, at));
    return length + 4;
  }

  #beginFrame(chunk: Buffer, at: number, end: number): number {
    if (end - at >= this.#rules.minHead) {
      const total = this.#lengthOf(chunk, at);
      const decision = this.#rules.decide(chunk, at, Math.min(at + total, end));
      if (decision === WAIT) {
        this.waiting = true;
        return at;
      }
      if (decision !== MORE) return this.#act(decision, chunk, at, end, total);
    }
    this.#send(chunk, at);
    return this.#continueHead(chunk, at, end);
  }

  /** A head that comes in pieces is put together before anything of it is sent. */
  #continueHead(chunk: Buffer, at: number, end: number): number {
    const had = this.#head;
    const total = had.length < 4 ? 4 : this.#lengthOf(had, 0);
    const stop = Math.min(end, at + Math.min(total - had.length, Math.max(HEAD_PIECE, had.length)));
    this.#head = Buffer.concat([had, chunk.subarray(at, stop)]);
    this.#run = stop;
    if (this.#head.length >= this.#rules.minHead) this.#decideHead();
    return stop;
  }

  #decideHead(): void {
    const head = this.#head;
    const decision = this.#rules.decide(head, 0, head.length);
    this.#headWaits = this.waiting = decision === WAIT;
    if (decision === WAIT) return;
    const total = this.#lengthOf(head, 0);
    if (decision === MORE) {
      if (head.length < total && head.length < MAX_HEAD) return;
      throw new BadTraffic('frame header does not end');
    }
    const run = this.#run;
    this.#run = 0;
    this.#send(head, this.#act(decision, head, 0, head.length, total));
    this.#run = run;
    this.#head = NOTHING;
  }

  /** Does what was decided with the frame that begins at `at`; returns how far that went. */
  #act(decision: Decision, bytes: Buffer, at: number, end: number, total: number): number {
    const stop = Math.min(at + total, end);
    this.left = at + total - stop;
    this.#scanner = typeof decision === 'object' ? decision : undefined;
    // Endpoints in what is not sent yet: gather the frame after all, and rewrite it exactly.
    const found = this.#scanner ? this.#scanner.feed(bytes, at + SCAN_FROM, stop) : -1;
    if (decision !== GATHER && found < 0) return stop;
    this.#scanner = undefined;
    this.#send(bytes, at);
    if (this.left > 0) return this.#beginGathering(bytes, at, stop, total);
    this.#run = stop;
    this.frame = bytes.subarray(at, stop);
    return stop;
  }

  #beginGathering(bytes: Buffer, at: number, stop: number, total: number): number {
    const { most } = this.#rules.account;
    if (total > most) throw neverFits(total, most);
    if (bytes === this.#head) {
      this.#gathered = bytes; // it has memory of its own
      this.#have = stop;
      this.#run = stop;
      return stop;
    }
    this.#gathered = NOTHING;
    this.left = total;
    return at;
  }

  #continueFrame(chunk: Buffer, at: number, end: number): number {
    const stop = Math.min(at + this.left, end);
    if (this.#gathered) return this.#gather(this.#gathered, chunk, at, stop);
    const { left } = this;
    this.left -= stop - at;
    if (this.#scanner) {
      const found = this.#scanner.feed(chunk, at, stop);
      if (found >= 0) this.#scanner.neutralise(chunk, found, stop, left - (found - at));
    }
    return stop;
  }

  /** Collects a frame, as far as there is memory for it. */
  #gather(before: Buffer, chunk: Buffer, at: number, stop: number): number {
    const total = this.#have + this.left;
    const have = this.#have + stop - at;
    const buffer = have <= before.length ? before : this.#grow(before, have, total);
    if (!buffer) {
      this.waiting = true;
      return at;
    }
    chunk.copy(buffer, this.#have, at, stop);
    this.#run = stop;
    this.left = total - have;
    this.#gathered = this.left > 0 ? buffer : undefined;
    this.#have = this.left > 0 ? have : 0;
    if (this.left > 0) return stop;
    this.#memory = buffer;
    this.frame = buffer.subarray(0, total);
    return stop;
  }

  /** A buffer grows with what has come, not with what was announced; undefined if there is no room for that now. */
  #grow(before: Buffer, have: number, total: number): Buffer | undefined {
    const size = Math.min(total, Math.max(this.#rules.firstGather, have * 2));
    if (!this.#rules.account.take(size - this.#charged)) return undefined;
    this.#charged = size;
    const buffer = frameMemory.take(size);
    before.copy(buffer, 0, 0, this.#have);
    frameMemory.give(before);
    return buffer;
  }
}
