const EMPTY = Buffer.alloc(0);

/** How many bytes an unsigned varint takes. */
export function varintLength(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** Writes protocol types into a buffer that grows. Values are trusted: a wrong type here is a bug, not input. */
export class Writer {
  at: number;
  bytes: Buffer;

  /** `headRoom` bytes are left free at the front, for a frame's length and header. */
  constructor(headRoom = 0, capacity = 512) {
    this.at = headRoom;
    this.bytes = Buffer.allocUnsafe(headRoom + capacity);
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
    const p = this.reserve(8);
    this.bytes.writeBigInt64BE(value, p);
  }

  float64(value: number): void {
    const p = this.reserve(8);
    this.bytes.writeDoubleBE(value, p);
  }

  uuid(value: string): void {
    const p = this.reserve(16);
    if (this.bytes.write(value, p, 16, 'base64url') !== 16) throw new TypeError(`not a uuid: ${value}`);
  }

  unsignedVarint(value: number): void {
    let rest = value >>> 0;
    while (rest > 0x7f) {
      const p = this.reserve(1);
      this.bytes[p] = rest | 0x80;
      rest >>>= 7;
    }
    const p = this.reserve(1);
    this.bytes[p] = rest;
  }

  /** Zigzag, as in records. */
  varint(value: number): void {
    this.unsignedVarint((value << 1) ^ (value >> 31));
  }

  /** Zigzag, of any safe integer. */
  varlong(value: number): void {
    let rest = value >= 0 ? value * 2 : -value * 2 - 1;
    while (rest > 0x7fff_ffff) {
      this.int8((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    this.unsignedVarint(rest);
  }

  string(value: string | null): void {
    if (value === null) return this.int16(-1);
    const length = Buffer.byteLength(value);
    if (length > 32_767)
      throw new RangeError(`a string of ${length} bytes; this version carries at most 32767`);
    this.int16(length);
    this.text(value, length);
  }

  compactString(value: string | null): void {
    if (value === null) return this.unsignedVarint(0);
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

  /** Begins a tagged field whose size is not known yet; give what it returns to `closeTag`. */
  openTag(tag: number): number {
    this.unsignedVarint(tag);
    return this.reserve(1);
  }

  /** Writes the size of a tagged field in front of it, moving it up where the size takes more than one byte. */
  closeTag(opened: number): void {
    const start = opened + 1;
    const size = this.at - start;
    const extra = varintLength(size) - 1;
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
