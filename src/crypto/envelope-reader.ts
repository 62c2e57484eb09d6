import { readUnsignedVarint, readVarint, takeBytes } from '../ops/varint.ts';
import { BadEnvelope } from './kms.ts';

/** Reads the parts of a sealed value; what is cut off or too long is a bad envelope. */
export class EnvelopeReader {
  readonly bytes: Buffer;
  readonly end: number;
  at: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.bytes = bytes;
    this.at = start;
    this.end = Math.min(end, bytes.length);
  }

  fail(reason: string): never {
    throw new BadEnvelope(reason);
  }

  /** The next `length` bytes, not copied. */
  view(length: number): Buffer {
    const start = takeBytes(this, length);
    return this.bytes.subarray(start, start + length);
  }

  unsignedVarint(): number {
    return readUnsignedVarint(this);
  }

  varint(): number {
    return readVarint(this);
  }
}
