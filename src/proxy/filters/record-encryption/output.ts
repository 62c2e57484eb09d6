import { writeVarint } from '../../../ops/varint.ts';
import { copyBytes } from './record.ts';

/**
 * Bytes in the making, written over the source that they are made from: what is opened is shorter than what was sealed,
 * so the writer stays behind the reader, and no other memory is needed. Where it would not, it moves to a buffer of its own.
 */
export class Output {
  bytes: Buffer;
  at = 0;
  /** How far may be written. */
  #limit = 0;
  #overSource = true;

  constructor(source: Buffer) {
    this.bytes = source;
  }

  /** What the source has before this offset is not needed any more. */
  release(offset: number): void {
    if (this.#overSource) this.#limit = offset;
  }

  /** Makes room for so many more bytes. */
  reserve(bytes: number): void {
    const needed = this.at + bytes;
    if (needed <= this.#limit) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
    this.#limit = larger.length;
    this.#overSource = false;
  }

  /** Reserve first: these two do not. */
  varint(value: number): void {
    this.at = writeVarint(this.bytes, this.at, value);
  }

  copy(source: Buffer, start: number, end: number): void {
    this.at = copyBytes(source, start, end, this.bytes, this.at);
  }

  /** Makes room and copies. */
  append(source: Buffer, start = 0, end = source.length): void {
    this.reserve(end - start);
    this.copy(source, start, end);
  }

  done(): Buffer {
    return this.bytes.subarray(0, this.at);
  }
}
