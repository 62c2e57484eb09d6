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
   * Transforms buffer[start..end), which has its IV right before it, in place. The tag is right behind `end`: sealing
   * writes it there; opening checks it and returns false when it does not fit, the text then being worthless.
   * Additional data is covered by the tag, too: opening needs the same bytes again.
   */
  apply(pinned: Pinned, start: number, end: number, additional?: Buffer): boolean;
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
