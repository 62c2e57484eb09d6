/**
 * The layout of one record of a version 2 batch. Sealing changes the value and the headers only, so everything before the
 * value is copied as bytes, and nothing is turned into objects that would be turned back at once.
 *
 *   length, attributes, timestamp delta, offset delta, key length, key, value length, value,
 *   header count, headers: key length, key, value length, value          (all numbers zig-zag, attributes one byte)
 */
import { Reader } from '../../../kafka/reader.ts';
import { readVarint, skipVarlong } from '../../../ops/varint.ts';

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

/** A reader of records. */
export const recordReader = (records: Buffer, at = 0): Reader =>
  new Reader(records, at, records.length, 'record');

/** Moves past a length and that many bytes, and returns the length. */
export function skipField(reader: Reader, end: number): number {
  const length = readVarint(reader);
  if (length > end - reader.at) reader.fail(`${length} bytes wanted, ${end - reader.at} left`);
  if (length > 0) reader.at += length;
  return length;
}

/** Reads the layout of the record at `reader.at` and moves behind it. */
export function readLayout(reader: Reader, into: RecordLayout): void {
  const length = readVarint(reader);
  const end = reader.at + length;
  if (length < 0 || end > reader.end) reader.fail(`a record of ${length} bytes`);
  into.start = reader.at;
  into.end = end;
  reader.at += 1;
  skipVarlong(reader);
  readVarint(reader);
  skipField(reader, end);
  into.valueLengthAt = reader.at;
  into.valueLength = skipField(reader, end);
  into.valueStart = reader.at - Math.max(0, into.valueLength);
  into.headerCount = readVarint(reader);
  into.headersStart = reader.at;
  // A header takes two bytes at least.
  if (into.headerCount < 0 || into.headerCount > (end - reader.at) / 2)
    reader.fail(`${into.headerCount} headers`);
  reader.at = end;
}

/** Copies bytes and returns where the next one goes. For a few bytes, a loop is cheaper than a call out of JavaScript. */
export function copyBytes(source: Buffer, start: number, end: number, target: Buffer, at: number): number {
  if (end - start > 32) source.copy(target, at, start, end);
  else for (let from = start, to = at; from < end; from++, to++) target[to] = source[from]!;
  return at + end - start;
}
