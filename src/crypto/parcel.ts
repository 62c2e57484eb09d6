/**
 * The parcel, version 1: what is inside the ciphertext.
 *
 *   zig-zag value length (-1 null, -2 not in the parcel), value,
 *   zig-zag header count (-1 null, -2 not in the parcel), then per header:
 *     unsigned key length, key, zig-zag value length (-1 null), value
 *
 * We write a value and never headers; we read whatever the original could have written.
 */
import { varintSize, writeVarint, zigZag } from '../ops/varint.ts';
import { EnvelopeReader } from './envelope-reader.ts';

export interface ParcelHeader {
  key: Buffer;
  value: Buffer | null;
}

export interface Parcel {
  /** `undefined`: not in the parcel, the record's own value stands. */
  value: Buffer | null | undefined;
  /** `undefined`: not in the parcel, the record's own headers stand. */
  headers: ParcelHeader[] | undefined;
}

const NULL = -1;
const ABSENT = -2;
const ABSENT_BYTE = zigZag(ABSENT);

/** The size of a parcel with a value of this length. */
export function parcelSize(valueLength: number): number {
  return varintSize(valueLength) + valueLength + 1;
}

/** Writes the parcel of source[start..end) and returns where it ends. */
export function writeParcel(target: Buffer, at: number, source: Buffer, start: number, end: number): number {
  const value = writeVarint(target, at, end - start);
  source.copy(target, value, start, end);
  const after = value + end - start;
  target[after] = ABSENT_BYTE;
  return after + 1;
}

/** Reads the parcel at buffer[start..end). Its buffers are views. */
export function readParcel(buffer: Buffer, start: number, end: number): Parcel {
  const reader = new EnvelopeReader(buffer, start, end);
  const value = readNullable(reader);
  const headers = readHeaders(reader);
  if (reader.at !== end) reader.fail('there are bytes behind the parcel');
  return { value, headers };
}

function readNullable(reader: EnvelopeReader): Buffer | null | undefined {
  const length = reader.varint();
  if (length === ABSENT) return undefined;
  if (length === NULL) return null;
  return reader.view(length);
}

function readHeaders(reader: EnvelopeReader): ParcelHeader[] | undefined {
  const count = reader.varint();
  if (count === ABSENT) return undefined;
  if (count === NULL) return [];
  // Every header takes two bytes at least, so a count that cannot be true is refused before anything is allocated.
  if (count < 0 || count > (reader.end - reader.at) / 2) reader.fail(`${count} headers`);
  return Array.from({ length: count }, () => {
    const key = reader.view(reader.unsignedVarint());
    return { key, value: readNullable(reader) ?? null };
  });
}
