import { readUnsignedVarint, readVarint, readVarlong, takeBytes } from '../ops/varint.ts';
import { MalformedMessage } from './malformed.ts';

/** An int64 goes through here, which makes one bigint and not three. */
const int64Bytes = new DataView(new ArrayBuffer(8));

/**
 * How many elements of arrays and unknown tags a request may have in all. An element takes two or three bytes on the wire
 * and a hundred as an object, so the size of a frame alone does not bound what it costs to decode it.
 */
export const MOST_ELEMENTS = 1_048_576;
/** The same for a response: a broker may have to name all partitions of a cluster with 200,000, each with its replicas. */
export const MOST_RESPONSE_ELEMENTS = 4_194_304;

/** Reads protocol types off a buffer. Every read is checked against `end`; a failed check throws MalformedMessage. */
export class Reader {
  readonly bytes: Buffer;
  readonly end: number;
  readonly what: string;
  at: number;
  /** How many elements and tags may still come. */
  elements: number;

  constructor(bytes: Buffer, start: number, end: number, what: string, elements = Infinity) {
    this.bytes = bytes;
    this.at = start;
    this.end = Math.min(end, bytes.length);
    this.what = what;
    this.elements = elements;
  }

  fail(reason: string): never {
    throw new MalformedMessage(this.what, reason, this.at);
  }

  /** Moves past `length` bytes and returns where they begin. */
  take(length: number): number {
    return takeBytes(this, length);
  }

  bool(): boolean {
    return this.bytes[this.take(1)] !== 0;
  }

  int8(): number {
    return (this.bytes[this.take(1)]! << 24) >> 24;
  }

  int16(): number {
    const p = this.take(2);
    const b = this.bytes;
    return ((b[p]! << 24) >> 16) | b[p + 1]!;
  }

  uint16(): number {
    return this.int16() & 0xffff;
  }

  int32(): number {
    const p = this.take(4);
    const b = this.bytes;
    return (b[p]! << 24) | (b[p + 1]! << 16) | (b[p + 2]! << 8) | b[p + 3]!;
  }

  uint32(): number {
    return this.int32() >>> 0;
  }

  int64(): bigint {
    int64Bytes.setInt32(0, this.int32());
    int64Bytes.setInt32(4, this.int32());
    return int64Bytes.getBigInt64(0);
  }

  float64(): number {
    return this.bytes.readDoubleBE(this.take(8));
  }

  /** As Kafka prints it: 22 characters of URL-safe base64. */
  uuid(): string {
    const p = this.take(16);
    return this.bytes.toString('base64url', p, p + 16);
  }

  unsignedVarint(): number {
    return readUnsignedVarint(this);
  }

  /** ZigZag, as in records. */
  varint(): number {
    return readVarint(this);
  }

  /** ZigZag, of up to 64 bits; what no number holds exactly is refused. */
  varlong(): number {
    return readVarlong(this);
  }

  #text(length: number): string {
    const p = this.take(length);
    return this.bytes.toString('utf8', p, p + length);
  }

  #view(length: number): Buffer {
    const p = this.take(length);
    return this.bytes.subarray(p, p + length);
  }

  #present(length: number): number {
    return length < 0 ? this.fail('null where a value must be') : length;
  }

  string(): string {
    return this.#text(this.#present(this.int16()));
  }

  nullableString(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.#text(length);
  }

  compactString(): string {
    return this.#text(this.#present(this.unsignedVarint() - 1));
  }

  compactNullableString(): string | null {
    const length = this.unsignedVarint() - 1;
    return length < 0 ? null : this.#text(length);
  }

  /** A view into the buffer, not a copy; the same for the three below. */
  bytesField(): Buffer {
    return this.#view(this.#present(this.int32()));
  }

  nullableBytes(): Buffer | null {
    const length = this.int32();
    return length < 0 ? null : this.#view(length);
  }

  compactBytes(): Buffer {
    return this.#view(this.#present(this.unsignedVarint() - 1));
  }

  compactNullableBytes(): Buffer | null {
    const length = this.unsignedVarint() - 1;
    return length < 0 ? null : this.#view(length);
  }

  /** The length of an array, -1 for null; refused before anything is allocated if that many cannot follow. */
  arrayLength(smallest: number): number {
    return this.#plausible(this.int32(), smallest);
  }

  compactArrayLength(smallest: number): number {
    return this.#plausible(this.unsignedVarint() - 1, smallest);
  }

  #plausible(length: number, smallest: number): number {
    if (length * smallest > this.end - this.at)
      this.fail(`an array of ${length}, ${this.end - this.at} bytes left`);
    if (length > 0) this.spend(length);
    return length;
  }

  /** Counts elements or tags that are about to be read. */
  spend(count: number): void {
    this.elements -= count;
    if (this.elements < 0) this.fail('more elements than a message may have');
  }
}
