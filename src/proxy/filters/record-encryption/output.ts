import { aesGcm } from '../../../crypto/aes-gcm.ts';
import type { Pinned } from '../../../crypto/cipher.ts';
import { copyBytes, writeVarint } from './record.ts';

const NOTHING: Pinned = { buffer: Buffer.alloc(0), address: 0n };

/** Records in the making, in a buffer that grows and that a cipher can write to. */
export class Output {
  pinned: Pinned = NOTHING;
  at: number;
  readonly #firstSize: number;

  /** `firstSize` is a guess; nothing is allocated before it is needed. */
  constructor(start: number, firstSize: number) {
    this.at = start;
    this.#firstSize = firstSize;
  }

  /** Makes room for so many more bytes. */
  reserve(bytes: number): void {
    const { buffer } = this.pinned;
    if (this.at + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.at + bytes, this.#firstSize, buffer.length * 2));
    buffer.copy(larger, 0, 0, this.at);
    this.pinned = aesGcm.pin(larger);
  }

  /** Reserve first: these two do not. */
  varint(value: number): void {
    this.at = writeVarint(this.pinned.buffer, this.at, value);
  }

  copy(source: Buffer, start: number, end: number): void {
    this.at = copyBytes(source, start, end, this.pinned.buffer, this.at);
  }

  /** Makes room and copies. */
  append(source: Buffer, start = 0, end = source.length): void {
    this.reserve(end - start);
    this.copy(source, start, end);
  }

  done(): Buffer {
    return this.pinned.buffer.subarray(0, this.at);
  }
}
