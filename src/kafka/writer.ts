import { unsignedVarintSize, varlongSize, writeUnsignedVarint, writeVarlong, zigZag } from '../ops/varint.ts';
import type { UnknownTag } from './schemas/types.ts';

const EMPTY = Buffer.alloc(0);

/** Where a call into native code costs more than to copy the characters one by one. */
const SHORT_TEXT = 64;

/** An int64 goes through here: to take a bigint apart by shifts costs ten times as much. */
const int64Bytes = new DataView(new ArrayBuffer(8));

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const sextets = new Uint8Array(128).fill(0xff);
for (let i = 0; i < BASE64URL.length; i++) sextets[BASE64URL.charCodeAt(i)] = i;

const sextet = (text: string, at: number): number => sextets[text.charCodeAt(at) & 0x7f]!;

/** Copies a text if it is ASCII; else what it wrote is to be written over. */
function writeAscii(bytes: Buffer, start: number, value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code > 0x7f) return false;
    bytes[start + i] = code;
  }
  return true;
}

/** Writes protocol types into a buffer that grows. Values are trusted: a wrong type here is a bug, not input. */
export class Writer {
  at: number;
  bytes: Buffer;

  /** `headRoom` bytes are left free at the front, for a frame's length and header. It begins in `memory`, if that is given. */
  constructor(headRoom = 0, capacity = 512, memory: Buffer = Buffer.allocUnsafe(headRoom + capacity)) {
    this.at = headRoom;
    this.bytes = memory;
  }

  /** What has been written, head room included. */
  done(): Buffer {
    return this.bytes.subarray(0, this.at);
  }

  /** Makes sure of `length` free bytes, moves past them, and returns where they begin. Replaces `bytes`: call it first. */
  reserve(length: number): number {
    const start = this.at;
    const needed = start + length;
    if (needed > this.bytes.length) this.#grow(needed);
    this.at = needed;
    return start;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed + 256, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }

  bool(value: boolean): void {
    const p = this.reserve(1);
    this.bytes[p] = value ? 1 : 0;
  }

  int8(value: number): void {
    const p = this.reserve(1);
    this.bytes[p] = value;
  }

  int16(value: number): void {
    const p = this.reserve(2);
    this.bytes[p] = value >> 8;
    this.bytes[p + 1] = value;
  }

  uint16(value: number): void {
    this.int16(value);
  }

  int32(value: number): void {
    const p = this.reserve(4);
    const b = this.bytes;
    b[p] = value >> 24;
    b[p + 1] = value >> 16;
    b[p + 2] = value >> 8;
    b[p + 3] = value;
  }

  uint32(value: number): void {
    this.int32(value);
  }

  int64(value: bigint): void {
    int64Bytes.setBigInt64(0, value);
    this.int32(int64Bytes.getInt32(0));
    this.int32(int64Bytes.getInt32(4));
  }

  float64(value: number): void {
    const p = this.reserve(8);
    this.bytes.writeDoubleBE(value, p);
  }

  uuid(value: string): void {
    let p = this.reserve(16);
    const b = this.bytes;
    let seen = 0;
    for (let i = 0; i < 20; i += 4) {
      const [c0, c1, c2, c3] = [
        sextet(value, i),
        sextet(value, i + 1),
        sextet(value, i + 2),
        sextet(value, i + 3),
      ];
      seen |= c0 | c1 | c2 | c3;
      b[p++] = (c0 << 2) | (c1 >> 4);
      b[p++] = (c1 << 4) | (c2 >> 2);
      b[p++] = (c2 << 6) | c3;
    }
    const [c0, c1] = [sextet(value, 20), sextet(value, 21)];
    b[p] = (c0 << 2) | (c1 >> 4);
    if ((seen | c0 | c1) > 63 || value.length !== 22) throw new TypeError(`not a uuid: ${value}`);
  }

  unsignedVarint(value: number): void {
    const p = this.reserve(unsignedVarintSize(value));
    writeUnsignedVarint(this.bytes, p, value);
  }

  /** Zigzag, as in records. */
  varint(value: number): void {
    this.unsignedVarint(zigZag(value));
  }

  /** Zigzag, of any safe integer. */
  varlong(value: number): void {
    const p = this.reserve(varlongSize(value));
    writeVarlong(this.bytes, p, value);
  }

  string(value: string | null): void {
    if (value === null) return this.int16(-1);
    if (value.length <= SHORT_TEXT) {
      const start = this.reserve(2 + value.length);
      this.bytes[start] = 0;
      this.bytes[start + 1] = value.length;
      if (writeAscii(this.bytes, start + 2, value)) return;
      this.at = start;
    }
    const length = Buffer.byteLength(value);
    if (length > 32_767)
      throw new RangeError(`a string of ${length} bytes; this version carries at most 32767`);
    this.int16(length);
    this.text(value, length);
  }

  compactString(value: string | null): void {
    if (value === null) return this.unsignedVarint(0);
    if (value.length <= SHORT_TEXT) {
      const start = this.reserve(1 + value.length);
      this.bytes[start] = value.length + 1;
      if (writeAscii(this.bytes, start + 1, value)) return;
      this.at = start;
    }
    const length = Buffer.byteLength(value);
    this.unsignedVarint(length + 1);
    this.text(value, length);
  }

  /** Text whose length in bytes is known, without it. */
  text(value: string, length: number): void {
    const p = this.reserve(length);
    this.bytes.write(value, p, length, 'utf8');
  }

  raw(value: Buffer): void {
    const p = this.reserve(value.length);
    this.bytes.set(value, p);
  }

  bytesField(value: Buffer | null): void {
    this.int32(value === null ? -1 : value.length);
    this.raw(value ?? EMPTY);
  }

  compactBytes(value: Buffer | null): void {
    this.unsignedVarint(value === null ? 0 : value.length + 1);
    this.raw(value ?? EMPTY);
  }

  unknownTag({ tag, data }: UnknownTag): void {
    this.unsignedVarint(tag);
    this.unsignedVarint(data.length);
    this.raw(data);
  }

  /** Begins a tagged field whose size is not known yet; give what it returns to `closeTag`. */
  openTag(tag: number): number {
    this.unsignedVarint(tag);
    return this.reserve(1);
  }

  /** Writes the size of a tagged field in front of it, moving it up where the size takes more than one byte. */
  closeTag(opened: number): void {
    const start = opened + 1;
    const size = this.at - start;
    const extra = unsignedVarintSize(size) - 1;
    if (extra > 0) {
      this.reserve(extra);
      this.bytes.copyWithin(start + extra, start, start + size);
    }
    const end = this.at;
    this.at = opened;
    this.unsignedVarint(size);
    this.at = end;
  }
}
