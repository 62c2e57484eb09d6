/**
 * The layout of one record of a version 2 batch. Sealing changes the value and the headers only, so everything before the
 * value is copied as bytes, and nothing is turned into objects that would be turned back at once.
 *
 *   length, attributes, timestamp delta, offset delta, key length, key, value length, value,
 *   header count, headers: key length, key, value length, value          (all numbers zig-zag, attributes one byte)
 */
import { MalformedMessage } from '../../../kafka/malformed.ts';

/** Where the parts of a record are. One is reused for a whole batch. */
export class RecordLayout {
  /** First byte behind the length: what precedes the value length starts here. */
  start = 0;
  /** The value length; everything from `start` to here stays as it is. */
  valueLengthAt = 0;
  valueStart = 0;
  /** -1 for a null value. */
  valueLength = 0;
  headerCount = 0;
  headersStart = 0;
  end = 0;
}

const WHAT = 'record';

/** A position that moves, with the buffer it moves over. */
export class Scan {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  fail(reason: string): never {
    throw new MalformedMessage(WHAT, reason, this.at);
  }

  /** Reads a zig-zag number of at most 32 bits. */
  varint(): number {
    const { bytes } = this;
    let byte = bytes[this.at++];
    if (byte === undefined) return this.fail('it is cut off');
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
    let raw = byte & 0x7f;
    for (let shift = 7; shift < 35; shift += 7) {
      byte = bytes[this.at++];
      if (byte === undefined) return this.fail('it is cut off');
      raw |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1);
    }
    return this.fail('a varint longer than 5 bytes');
  }

  /** Moves past a number of up to 64 bits. */
  skipVarlong(): void {
    const from = this.at;
    while ((this.bytes[this.at++] ?? 0) >= 0x80)
      if (this.at - from > 10) this.fail('a varint longer than 10 bytes');
  }

  /** Moves past a length and that many bytes, and returns the length. */
  skipField(end: number): number {
    const length = this.varint();
    if (length > end - this.at) this.fail(`${length} bytes wanted, ${end - this.at} left`);
    if (length > 0) this.at += length;
    return length;
  }
}

/** Reads the layout of the record at `scan.at` and moves behind it. */
export function readLayout(scan: Scan, into: RecordLayout): void {
  const length = scan.varint();
  const end = scan.at + length;
  if (length < 0 || end > scan.bytes.length) scan.fail(`a record of ${length} bytes`);
  into.start = scan.at;
  into.end = end;
  scan.at += 1;
  scan.skipVarlong();
  scan.skipVarlong();
  scan.skipField(end);
  into.valueLengthAt = scan.at;
  into.valueLength = scan.skipField(end);
  into.valueStart = scan.at - Math.max(0, into.valueLength);
  into.headerCount = scan.varint();
  into.headersStart = scan.at;
  // A header takes two bytes at least.
  if (into.headerCount < 0 || into.headerCount > (end - scan.at) / 2)
    scan.fail(`${into.headerCount} headers`);
  scan.at = end;
}

/** How many bytes a zig-zag number takes. */
export function varintSize(value: number): number {
  const raw = ((value << 1) ^ (value >> 31)) >>> 0;
  return raw < 0x80 ? 1 : raw < 0x4000 ? 2 : raw < 0x200000 ? 3 : raw < 0x10000000 ? 4 : 5;
}

/** Writes a zig-zag number and returns where the next byte goes. */
export function writeVarint(target: Buffer, at: number, value: number): number {
  let raw = ((value << 1) ^ (value >> 31)) >>> 0;
  while (raw >= 0x80) {
    target[at++] = (raw & 0x7f) | 0x80;
    raw >>>= 7;
  }
  target[at++] = raw;
  return at;
}

/** Copies bytes and returns where the next one goes. For a few bytes, a loop is cheaper than a call out of JavaScript. */
export function copyBytes(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  if (end - start > 32) source.copy(target, at, start, end);
  else for (let from = start, to = at; from < end; from++, to++) target[to] = source[from]!;
  return at + end - start;
}
