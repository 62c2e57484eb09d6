/**
 * Variable-length integers: seven bits a byte, the lowest first, the top bit set on all bytes but the last (LEB128). Kafka
 * has them unsigned and, where a number may be negative, ZigZag (0, -1, 1, -2 … become 0, 1, 2, 3 …), as Protocol Buffers do.
 * Every one that is read anywhere is read here, so that all have the same bounds.
 */

const TRUNCATED = 'truncated varint';
const MOST_VARLONG_BYTES = 10;

/** A place in a buffer that moves as things are read: never past `end`, and `fail` throws the error of whoever reads. */
export interface Cursor {
  readonly bytes: Buffer;
  /** Not above the length of `bytes`. */
  readonly end: number;
  at: number;
  fail(reason: string): never;
}

/** Moves past `length` bytes and returns where they begin. */
export function takeBytes(cursor: Cursor, length: number): number {
  const start = cursor.at;
  if (length < 0 || length > cursor.end - start)
    cursor.fail(`${length} bytes wanted, ${cursor.end - start} left`);
  cursor.at = start + length;
  return start;
}

/** An unsigned number of 32 bits. More bytes than needed are allowed, as in Kafka, up to five. */
export function readUnsignedVarint(cursor: Cursor): number {
  const { at } = cursor;
  // Most are of one byte, and this is read for every field of every record.
  if (at < cursor.end) {
    const byte = cursor.bytes[at]!;
    if (byte < 0x80) {
      cursor.at = at + 1;
      return byte;
    }
  }
  return readLongerVarint(cursor);
}

function readLongerVarint(cursor: Cursor): number {
  const { bytes, end } = cursor;
  let { at } = cursor;
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (at >= end) return cursor.fail(TRUNCATED);
    const byte = bytes[at++]!;
    value |= (byte & 0x7f) << shift;
    if (byte >= 0x80) continue;
    // Of the fifth byte only four bits are left: what is above them would be lost.
    if (shift === 28 && byte > 0x0f) break;
    cursor.at = at;
    return value >>> 0;
  }
  return cursor.fail('a varint of more than 32 bits');
}

/** ZigZag, of 32 bits. */
export function readVarint(cursor: Cursor): number {
  const value = readUnsignedVarint(cursor);
  return (value >>> 1) ^ -(value & 1);
}

/** ZigZag, of up to 64 bits; what a JavaScript number cannot hold exactly is refused. */
export function readVarlong(cursor: Cursor): number {
  let value = 0;
  for (let scale = 1; scale < 2 ** 63; scale *= 128) {
    if (cursor.at >= cursor.end) cursor.fail(TRUNCATED);
    const byte = cursor.bytes[cursor.at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      if (value > Number.MAX_SAFE_INTEGER) break;
      return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }
  return cursor.fail('a varint beyond 2^53');
}

/** Moves past a number of up to 64 bits, whatever it is. */
export function skipVarlong(cursor: Cursor): void {
  const { bytes, end } = cursor;
  let { at } = cursor;
  const most = at + MOST_VARLONG_BYTES;
  while (at < end && bytes[at]! >= 0x80) if (++at === most) cursor.fail('a varint of more than 64 bits');
  if (at >= end) cursor.fail(TRUNCATED);
  cursor.at = at + 1;
}

/** The ZigZag form of a number of 32 bits. */
export const zigZag = (value: number): number => ((value << 1) ^ (value >> 31)) >>> 0;

/** How many bytes `writeUnsignedVarint` writes. */
export function unsignedVarintSize(value: number): number {
  const unsigned = value >>> 0;
  if (unsigned < 0x80) return 1;
  if (unsigned < 0x4000) return 2;
  if (unsigned < 0x20_0000) return 3;
  return unsigned < 0x1000_0000 ? 4 : 5;
}

/** How many bytes `writeVarint` writes. */
export const varintSize = (value: number): number => unsignedVarintSize(zigZag(value));

/** How many bytes `writeVarlong` writes. */
export function varlongSize(value: number): number {
  let rest = zigZagLong(value);
  let size = 1;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) size++;
  return size;
}

/** Writes an unsigned number of 32 bits and returns where the next byte goes, as do the two below. */
export function writeUnsignedVarint(target: Buffer, at: number, value: number): number {
  let rest = value >>> 0;
  while (rest > 0x7f) {
    target[at++] = rest | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

/** ZigZag, of 32 bits. */
export const writeVarint = (target: Buffer, at: number, value: number): number =>
  writeUnsignedVarint(target, at, zigZag(value));

/** ZigZag, of an integer whose double a JavaScript number holds exactly. */
export function writeVarlong(target: Buffer, at: number, value: number): number {
  let rest = zigZagLong(value);
  while (rest > 0x7fff_ffff) {
    target[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  return writeUnsignedVarint(target, at, rest);
}

const zigZagLong = (value: number): number => (value >= 0 ? value * 2 : -value * 2 - 1);
