import { frameMemory } from './frame-memory.ts';
import { Walker } from './walker.ts';

/**
 * Cuts a stream of bytes into Kafka's frames (a length of four bytes, and as many bytes) without waiting for whole
 * frames and without copying those that nobody wants to see: each frame is decided upon as soon as its head is there.
 */

/** The head is not complete yet. */
export const MORE = 0;
/** Goes on as it is. */
export const PASS = 1;
/** Is wanted whole. */
export const GATHER = 2;
/** Goes on as it is, while a walker looks for node endpoints in it. */
export const WALK = 3;
export type Decision = typeof MORE | typeof PASS | typeof GATHER | typeof WALK;

/** The stream is not what it should be: the connection has to be cut. */
export class BadTraffic extends Error {}

/** What makes one direction of a session different from the other. */
export interface FrameOwner {
  /** The fewest bytes that a decision needs, length included. */
  readonly minHead: number;
  /** The largest length that a frame may have. */
  readonly maxFrame: number;
  /** Something of ours is to be written between two frames. */
  readonly due: boolean;
  /** How much is set aside at once for a frame that is wanted whole; beyond that, twice of what has come. */
  readonly firstGather: number;
  /** The frame that was last taken is still being written: its memory must be left alone. */
  readonly keepsFrame: boolean;
  /** The layout of the frame for which `decide` said WALK. */
  readonly program: readonly number[];
  /** Whether the next frame may begin; if not, the stream stops before it. */
  mayBegin(): boolean;
  /** Decides on the frame that begins at `at`; `end` is where the known bytes end. */
  decide(bytes: Buffer, at: number, end: number): Decision;
  /** Takes a whole frame. False: nothing further until `Flow.proceed`, and the bytes stay as they are until then. */
  take(frame: Buffer): boolean;
  write(bytes: Buffer): void;
  /** Writes what is due. */
  writeDue(): void;
  /** Endpoints were found in a frame whose head had gone already, and were hidden. */
  endpointsHidden(): void;
  /** Says what is wrong with a stream whose next frame cannot be that long. */
  badLength(length: number, bytes: Buffer, at: number): string;
}

/** A walker starts behind length and correlation id. */
const WALK_FROM = 8;
/** How much of a head is looked at first when it comes in pieces; after that, twice as much each time. */
const HEAD_PIECE = 256;
/** Two strings of 32 KiB are the most that a head can have, and some room. */
const MAX_HEAD = 131_072;
const NOTHING: Buffer = Buffer.alloc(0);

export class Flow {
  /** Bytes that the current frame still has to come. */
  left = 0;
  readonly #owner: FrameOwner;
  readonly #walker = new Walker();
  #walking = false;
  /** The first bytes of a frame that is not decided upon. */
  #head = NOTHING;
  /** A frame that is wanted whole, as far as it has come. */
  #gathered: Buffer | undefined;
  #have = 0;
  /** The memory of a gathered frame that was taken and is being worked on. */
  #lent: Buffer | undefined;
  #waiting = false;
  /** Where the bytes begin that have passed but are not written yet. */
  #run = 0;

  constructor(owner: FrameOwner) {
    this.#owner = owner;
  }

  /** Between two frames, with nothing held back. */
  get atBoundary(): boolean {
    return this.left === 0 && this.#head.length === 0 && !this.#waiting;
  }

  /** A whole frame is being worked on, and everything behind it waits. */
  get waiting(): boolean {
    return this.#waiting;
  }

  /** The frame that `take` was not done with has been dealt with. */
  proceed(): void {
    this.#waiting = false;
    if (this.#lent && !this.#owner.keepsFrame) frameMemory.give(this.#lent);
    this.#lent = undefined;
  }

  /** Works on the bytes as far as it may, and returns where it stopped. */
  feed(chunk: Buffer, at: number, end: number): number {
    this.#run = at;
    while (at < end && !this.#waiting) {
      if (this.left > 0) at = this.#continueFrame(chunk, at, end);
      else if (this.#head.length > 0) at = this.#continueHead(chunk, at, end);
      else if (!this.#owner.mayBegin()) break;
      else at = this.#beginFrame(chunk, at, end);
    }
    this.#send(chunk, at);
    return at;
  }

  #send(chunk: Buffer, at: number): void {
    if (at > this.#run)
      this.#owner.write(this.#run === 0 && at === chunk.length ? chunk : chunk.subarray(this.#run, at));
    this.#run = at;
  }

  #lengthOf(bytes: Buffer, at: number): number {
    const length = bytes.readInt32BE(at);
    if (length < this.#owner.minHead - 4 || length > this.#owner.maxFrame)
      throw new BadTraffic(this.#owner.badLength(length, bytes, at));
    return length + 4;
  }

  #beginFrame(chunk: Buffer, at: number, end: number): number {
    if (end - at >= this.#owner.minHead) {
      const total = this.#lengthOf(chunk, at);
      const decision = this.#owner.decide(chunk, at, Math.min(at + total, end));
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
    const head = Buffer.concat([had, chunk.subarray(at, stop)]);
    this.#run = stop;
    this.#head = head;
    if (head.length < this.#owner.minHead) return stop;
    const decision = this.#owner.decide(head, 0, head.length);
    if (decision === MORE) {
      if (head.length < this.#lengthOf(head, 0) && head.length < MAX_HEAD) return stop;
      throw new BadTraffic('a frame has a header that does not end');
    }
    this.#head = NOTHING;
    this.#run = 0;
    this.#send(head, this.#act(decision, head, 0, head.length, this.#lengthOf(head, 0)));
    this.#run = stop;
    return stop;
  }

  /** Does what was decided with the frame that begins at `at`; returns how far that went. */
  #act(decision: Decision, bytes: Buffer, at: number, end: number, total: number): number {
    const stop = Math.min(at + total, end);
    this.left = at + total - stop;
    this.#walking = decision === WALK;
    if (this.#walking) this.#walker.begin(this.#owner.program);
    // Endpoints in what is not sent yet: gather the frame after all, and rewrite it exactly.
    const whole =
      decision === GATHER || (this.#walking && this.#walker.feed(bytes, at + WALK_FROM, stop) >= 0);
    if (whole) {
      this.#walking = false;
      this.#send(bytes, at);
      this.#run = stop;
      if (this.left === 0) this.#take(bytes.subarray(at, stop));
      else this.#gather(bytes, at, stop, total);
    } else if (this.left === 0) {
      this.#endFrame(bytes, stop);
    }
    return stop;
  }

  #continueFrame(chunk: Buffer, at: number, end: number): number {
    const stop = Math.min(at + this.left, end);
    const left = this.left;
    this.left -= stop - at;
    if (this.#gathered) {
      this.#gather(chunk, at, stop, this.#have + left);
      this.#run = stop;
    } else {
      const found = this.#walking ? this.#walker.feed(chunk, at, stop) : -1;
      if (found >= 0) {
        this.#walker.neutralise(chunk, found, stop, left - (found - at));
        this.#owner.endpointsHidden();
      }
      if (this.left === 0) this.#endFrame(chunk, stop);
    }
    return stop;
  }

  /** Collects a frame. Its buffer grows with what has come, not with what was announced. */
  #gather(chunk: Buffer, at: number, stop: number, total: number): void {
    const have = this.#have + stop - at;
    const before = this.#gathered;
    const buffer =
      before && have <= before.length
        ? before
        : frameMemory.take(Math.min(total, Math.max(this.#owner.firstGather, have * 2)));
    if (before && buffer !== before) {
      before.copy(buffer, 0, 0, this.#have);
      frameMemory.give(before);
    }
    chunk.copy(buffer, this.#have, at, stop);
    this.#gathered = buffer;
    this.#have = have;
    if (have < total) return;
    this.#gathered = undefined;
    this.#have = 0;
    this.#lent = buffer;
    this.#take(buffer.subarray(0, total));
  }

  #take(frame: Buffer): void {
    this.#waiting = true; // before the call: it may say `proceed` at once
    if (this.#owner.take(frame)) this.proceed();
    if (!this.#waiting && this.#owner.due) this.#owner.writeDue();
  }

  #endFrame(bytes: Buffer, at: number): void {
    if (!this.#owner.due) return;
    this.#send(bytes, at);
    this.#owner.writeDue();
  }
}
