import { BadEnvelope } from './kms.ts';

/** A place in a buffer that moves as things are read; reading past `end` is an error, never a wrong answer. */
export interface Cursor {
  readonly buffer: Buffer;
  at: number;
  readonly end: number;
}

/** How many bytes `writeUnsigned` needs. */
export function unsignedSize(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
}

/** Writes a length as LEB128 and returns where the next byte goes. */
export function writeUnsigned(target: Buffer, at: number, value: number): number {
  let rest = value >>> 0;
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

/** The zig-zag form in which Kafka writes numbers that may be negative. */
export function zigZag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}

/** Reads at most 32 bits of LEB128. */
export function readUnsigned(cursor: Cursor): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (cursor.at >= cursor.end) throw new BadEnvelope('it ends inside a number');
    const byte = cursor.buffer[cursor.at++]!;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value >>> 0;
  }
  throw new BadEnvelope('a number has more than five bytes');
}

/** Reads a zig-zag number. */
export function readZigZag(cursor: Cursor): number {
  const raw = readUnsigned(cursor);
  return (raw >>> 1) ^ -(raw & 1);
}

/** Reads `length` bytes without copying them. */
export function readBytes(cursor: Cursor, length: number): Buffer {
  if (length > cursor.end - cursor.at) throw new BadEnvelope('a length points past its end');
  const bytes = cursor.buffer.subarray(cursor.at, cursor.at + length);
  cursor.at += length;
  return bytes;
}
