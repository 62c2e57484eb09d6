/** The shape of a cipher over the layout `IV ‖ text ‖ tag` that every sealed value has. */

export const KEY_BYTES = 32;
export const IV_BYTES = 12;
export const TAG_BYTES = 16;

/** A buffer and, for calls out of JavaScript, where it lies. Keep it no longer than the work on the buffer lasts. */
export interface Pinned {
  readonly buffer: Buffer;
  readonly address: bigint;
}

/** One key, ready for one direction. */
export interface Cipher {
  /**
   * Transforms source[start..end), which has its IV right before it, into `target` from `at` on; that may be the same
   * place. The tag is right behind `end`: sealing, which must be in place, writes it there; opening checks it and
   * returns false when it does not fit, what it wrote then being worthless.
   */
  apply(source: Pinned, start: number, end: number, target?: Pinned, at?: number): boolean;
  /** Wipes the key. The cipher must not be used again. */
  destroy(): void;
}

export type Direction = 'seal' | 'open';

export interface GcmImplementation {
  readonly name: string;
  pin(buffer: Buffer): Pinned;
  /** Takes a copy of the key: the caller wipes its own. */
  createCipher(key: Buffer, direction: Direction): Cipher;
}
