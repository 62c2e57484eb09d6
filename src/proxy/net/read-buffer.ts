/**
 * Read buffers. A large buffer that is reused makes bulk traffic cheap; thousands of idle connections cannot have one
 * each. So a connection begins with a small buffer, gets larger ones while it has much to say, and gives them back.
 */

const SIZES = [2048, 16_384, 262_144] as const;
const LARGEST = SIZES.length - 1;
/** After so many reads in a row that would have fitted the next smaller buffer, it is taken instead. */
const SMALL_READS = 32;

export interface BufferPool {
  /** A buffer of the tier, or of a smaller one when too many large ones are out. */
  take(tier: number): Buffer;
  /** `reusable` is false while someone may still read it. */
  give(buffer: Buffer, reusable: boolean): void;
}

/** A pool that lets at most `maxLarge` of the largest buffers out and keeps a few of each size for the next. */
export function createBufferPool(maxLarge = 256, keep = 16): BufferPool {
  const free: Buffer[][] = SIZES.map(() => []);
  let large = 0;
  return {
    take(tier) {
      const size = tier === LARGEST && large >= maxLarge ? tier - 1 : tier;
      if (size === LARGEST) large++;
      return free[size]!.pop() ?? Buffer.allocUnsafeSlow(SIZES[size]!);
    },
    give(buffer, reusable) {
      const tier = SIZES.indexOf(buffer.length as (typeof SIZES)[number]);
      if (tier === LARGEST) large--;
      if (reusable && tier > 0 && free[tier]!.length < keep) free[tier]!.push(buffer);
    },
  };
}

/** The buffer that one connection reads into. */
export class ReadBuffer {
  current: Buffer;
  #tier = 0;
  #smallReads = 0;
  /** The buffer before, while someone still needs what was read into it. */
  #lent: Buffer | undefined;
  readonly #pool: BufferPool;

  constructor(pool: BufferPool) {
    this.#pool = pool;
    this.current = pool.take(0);
  }

  /**
   * Chooses the next buffer after a read of `length` bytes, when at least `expected` more are known to follow. While the bytes
   * of that read are `held`, their buffer is only lent out, until `settle`.
   */
  adapt(length: number, expected: number, held: boolean): Buffer {
    const tier = this.#tier;
    if (tier < LARGEST && (length === this.current.length || expected > SIZES[tier]!)) {
      this.#change(expected > SIZES[1] ? LARGEST : tier + 1, held);
    } else if (tier > 0 && length <= SIZES[tier - 1]! && expected <= SIZES[tier - 1]!) {
      if (++this.#smallReads >= SMALL_READS) this.#change(tier - 1, held);
    } else {
      this.#smallReads = 0;
    }
    return this.current;
  }

  #change(tier: number, held: boolean): void {
    if (held) this.#lent = this.current;
    else this.#pool.give(this.current, true);
    this.current = this.#pool.take(tier);
    this.#tier = SIZES.indexOf(this.current.length as (typeof SIZES)[number]);
    this.#smallReads = 0;
  }

  /** Nobody needs the bytes of the last read any more. */
  settle(): void {
    if (this.#lent) this.#pool.give(this.#lent, true);
    this.#lent = undefined;
  }

  /** Gives everything back; what is held is not used again. */
  release(held: boolean): void {
    this.#pool.give(this.current, !held || this.#lent !== undefined);
    if (this.#lent) this.#pool.give(this.#lent, !held);
    this.#lent = undefined;
  }
}
