import { addSuffix, appendBytes, appendName, createCompressionTable, findSuffix } from './compression.ts';
import { CLASS_IN, HEADER_SIZE, TYPE } from './constants.ts';
import type { CompressionTable } from './compression.ts';
import type { Name } from './name.ts';
import type { PackedRRset } from './packed-rrset.ts';
import type { SearchName } from './search-name.ts';

/** A message being written, in one reused object. Its question stands at offset 12 with the client's own spelling. */
export interface Message {
  out: Uint8Array;
  /** Where the message starts in `out`. */
  start: number;
  at: number;
  /** Where it must end. `out` must have SLACK bytes more: a record is written first and its size checked afterwards. */
  limit: number;
  readonly compression: CompressionTable;
}

/** Bytes that an output buffer needs beyond the limit: more than three uncompressed names. */
export const SLACK = 1024;

/** Makes the message object of one responder; `question` is the name that every message's question has. */
export function createMessage(question: SearchName): Message {
  return {
    out: new Uint8Array(0),
    start: 0,
    at: 0,
    limit: 0,
    compression: createCompressionTable(question),
  };
}

/** Begins a message at out[at]; `limit` is its greatest length. Nothing is written yet. */
export function beginMessage(message: Message, out: Uint8Array, at: number, limit: number): void {
  message.out = out;
  message.start = at;
  message.at = at;
  message.limit = at + limit;
  message.compression.count = -1;
}

export function put16(message: Message, value: number): void {
  message.out[message.at++] = value >> 8;
  message.out[message.at++] = value;
}

function put32(message: Message, value: number): void {
  put16(message, value >>> 16);
  put16(message, value & 0xffff);
}

/** Fills in a 16-bit number that was skipped: a count or a length. */
export function set16(out: Uint8Array, at: number, count: number): void {
  out[at] = count >> 8;
  out[at + 1] = count;
}

/** Writes a whole RRset; false if it does not fit, and then nothing has been written. */
export function putRRset(
  message: Message,
  owner: Name | undefined,
  rrset: PackedRRset,
  ttl = rrset.ttl,
): boolean {
  const { at, compression } = message;
  const { count, namesEnd } = compression;
  if (putRecords(message, owner, rrset, ttl, 0) === rrset.count) return true;
  message.at = at;
  compression.count = count;
  compression.namesEnd = namesEnd;
  return false;
}

/** Writes as many records of an RRset as fit, in turn from the `first`-th on; returns their number. */
export function putRecords(
  message: Message,
  owner: Name | undefined,
  rrset: PackedRRset,
  ttl: number,
  first: number,
): number {
  const { count, bytes, type } = rrset;
  let from = rrset.at;
  for (let i = 0; i < first; i++) from += 2 + lengthAt(bytes, from);
  for (let i = 0; i < count; i++) {
    if (first + i === count) from = rrset.at;
    const { at } = message;
    const length = lengthAt(bytes, from);
    if (!putRecord(message, owner, type, ttl, bytes, from + 2, length)) {
      message.at = at;
      return i;
    }
    from += 2 + length;
  }
  return count;
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/** Writes one record with the data in bytes[dataAt], its owner the question's name if undefined; false if it ends beyond the limit. */
function putRecord(
  message: Message,
  owner: Name | undefined,
  type: number,
  ttl: number,
  bytes: Uint8Array,
  dataAt: number,
  length: number,
): boolean {
  if (message.at + (owner?.length ?? 2) + 10 + length > message.limit + SLACK) return false;
  if (owner === undefined) put16(message, 0xc000 | HEADER_SIZE);
  else putAppended(message, appendName(message.compression, owner, 0));
  put16(message, type);
  put16(message, CLASS_IN);
  put32(message, ttl);
  message.at += 2;
  const start = message.at;
  putRdata(message, type, bytes, dataAt, dataAt + length);
  set16(message.out, start - 2, message.at - start);
  return message.at <= message.limit;
}

/** Only names in the RDATA of RFC 1035's own types may be compressed (RFC 3597 section 4); those in SRV may not. */
function putRdata(message: Message, type: number, bytes: Uint8Array, at: number, end: number): void {
  switch (type) {
    case TYPE.CNAME:
    case TYPE.NS:
    case TYPE.PTR:
      putName(message, bytes, at);
      return;
    case TYPE.SOA:
      putRaw(message, bytes, putName(message, bytes, putName(message, bytes, at)), end);
      return;
    default:
      putRaw(message, bytes, at, end);
  }
}

function putRaw(message: Message, bytes: Uint8Array, from: number, end: number): void {
  const { out } = message;
  let { at } = message;
  for (let i = from; i < end; i++) out[at++] = bytes[i]!;
  message.at = at;
}

/** Writes the name in bytes[at]; returns where it ends there. */
function putName(message: Message, bytes: Uint8Array, at: number): number {
  const length = appendBytes(message.compression, bytes, at);
  putAppended(message, length);
  return at + length;
}

/**
 * Writes the name that was appended last, with a compression pointer in place of the longest suffix that the message has
 * already.
 */
function putAppended(message: Message, length: number): void {
  const { compression, out } = message;
  const { names } = compression;
  const from = compression.namesEnd - length;
  let offset = 0;
  while (names[from + offset] !== 0) {
    const pointer = findSuffix(compression, from + offset, length - offset);
    if (pointer >= 0) {
      put16(message, 0xc000 | pointer);
      return;
    }
    addSuffix(compression, from + offset, length - offset, message.at - message.start);
    const end = offset + 1 + names[from + offset]!;
    while (offset < end) out[message.at++] = names[from + offset++]!;
  }
  out[message.at++] = 0;
}
