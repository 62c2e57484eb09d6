/** What Protocol Buffers are made of on the wire: fields, each behind its number and the form that it has. */
import { readUnsignedVarint, skipVarlong } from '../../../ops/varint.ts';
import { Reader } from '../../../kafka/reader.ts';

export const WIRE = { varint: 0, fixed64: 1, bytes: 2, group: 3, groupEnd: 4, fixed32: 5 } as const;

/** What stands in front of a field. */
export interface Tag {
  number: number;
  /** Its form, of those in `WIRE`. */
  wire: number;
}

export function readTag(reader: Reader): Tag {
  const tag = readUnsignedVarint(reader);
  const [number, wire] = [tag >>> 3, tag & 7];
  if (number === 0) reader.fail('a field without a number');
  return { number, wire };
}

/** What has a length in front, to be read by itself. */
export function readPart(reader: Reader): Reader {
  const length = readUnsignedVarint(reader);
  const start = reader.take(length);
  return new Reader(reader.bytes, start, start + length, reader.what);
}

export const bytesOf = ({ bytes, at, end }: Reader): Buffer => bytes.subarray(at, end);

/** Moves past a field of any form but a group. */
export function skipField(reader: Reader, wire: number): void {
  if (wire === WIRE.varint) skipVarlong(reader);
  else if (wire === WIRE.fixed64) reader.take(8);
  else if (wire === WIRE.bytes) readPart(reader);
  else if (wire === WIRE.fixed32) reader.take(4);
  else reader.fail('a field of no form that there is');
}

/** The lower 32 bits of a varint, with a sign: all that an int32 or an enum keeps of it. */
export function readInt32(reader: Reader): number {
  const start = reader.at;
  skipVarlong(reader);
  let value = 0;
  for (let i = 0; i < 5 && start + i < reader.at; i++) value |= (reader.bytes[start + i]! & 0x7f) << (7 * i);
  return value;
}
