import { CLASS_IN, TYPE } from './constants.ts';
import type { Name } from './name.ts';
import type { Rdata, RecordSet } from './record.ts';
import type { SearchName } from './search-name.ts';

/**
 * A message being written, in one reused object. Names are compressed (RFC 1035 section 4.1.4) against every name
 * written before; the question stands at offset 12 with the client's own spelling, so pointers to it keep the case.
 */
export interface Message {
  out: Uint8Array;
  /** Where the message begins in `out`. */
  start: number;
  at: number;
  /** Where it must end. `out` must have SLACK bytes more: a record is written first and judged afterwards. */
  limit: number;
  question: SearchName;
  /** Suffixes that can be pointed at: their plain form in `plain`, and where they stand in the message. */
  known: number;
  plainEnd: number;
  readonly plain: Uint8Array;
  readonly knownPlain: Int32Array;
  readonly knownLength: Int32Array;
  readonly knownAt: Int32Array;
}

/** Room that an output buffer needs beyond the limit: more than three uncompressed names. */
export const SLACK = 1024;

const MAX_KNOWN = 256;
const PLAIN_SIZE = 8192;
const MAX_NAME = 255;
const MAX_POINTER = 0x3fff;
const QUESTION_NAME = 12;

export function createMessage(question: SearchName): Message {
  return {
    out: new Uint8Array(0),
    start: 0,
    at: 0,
    limit: 0,
    question,
    known: -1,
    plainEnd: 0,
    plain: new Uint8Array(PLAIN_SIZE),
    knownPlain: new Int32Array(MAX_KNOWN),
    knownLength: new Int32Array(MAX_KNOWN),
    knownAt: new Int32Array(MAX_KNOWN),
  };
}

/** Begins a message at out[at]; `limit` is its greatest length. Nothing is written yet. */
export function beginMessage(message: Message, out: Uint8Array, at: number, limit: number): void {
  message.out = out;
  message.start = at;
  message.at = at;
  message.limit = at + limit;
  message.known = -1; // the question is entered when the first name needs it; most answers have none
}

export function put16(message: Message, value: number): void {
  message.out[message.at++] = value >> 8;
  message.out[message.at++] = value;
}

export function put32(message: Message, value: number): void {
  put16(message, value >>> 16);
  put16(message, value & 0xffff);
}

/** Writes a 16-bit number at a place that was left for it. */
export function setCount(out: Uint8Array, at: number, count: number): void {
  out[at] = count >> 8;
  out[at + 1] = count;
}

/** Writes all records of a set; false if they do not fit, and then nothing has been written. */
export function putSet(message: Message, owner: Name | undefined, set: RecordSet, ttl = set.ttl): boolean {
  const { at, known, plainEnd } = message;
  if (putSome(message, owner, set, ttl, 0) === set.data.length) return true;
  message.at = at;
  message.known = known;
  message.plainEnd = plainEnd;
  return false;
}

/** Writes as many records of a set as fit, beginning with the `first`-th and going round; returns their number. */
export function putSome(
  message: Message,
  owner: Name | undefined,
  set: RecordSet,
  ttl: number,
  first: number,
): number {
  const count = set.data.length;
  for (let i = 0; i < count; i++) {
    const { at } = message;
    const data = set.data[first + i < count ? first + i : first + i - count]!;
    if (putRecord(message, owner, set.type, ttl, data)) continue;
    message.at = at;
    return i;
  }
  return count;
}

/** Writes one record; false if it ends beyond the limit. */
export function putRecord(
  message: Message,
  owner: Name | undefined,
  type: number,
  ttl: number,
  data: Rdata,
): boolean {
  if (message.at + (owner?.length ?? 2) + 10 + data.length > message.limit + SLACK) return false;
  if (owner === undefined) put16(message, 0xc000 | QUESTION_NAME);
  else putName(message, owner);
  put16(message, type);
  put16(message, CLASS_IN);
  put32(message, ttl);
  message.at += 2;
  const dataAt = message.at;
  putData(message, type, data);
  setCount(message.out, dataAt - 2, message.at - dataAt);
  return message.at <= message.limit;
}

/** Only the types of RFC 1035 may have compressed names inside (RFC 3597 section 4); SRV may not. */
function putData(message: Message, type: number, data: Rdata): void {
  switch (type) {
    case TYPE.CNAME:
    case TYPE.NS:
    case TYPE.PTR:
      putName(message, data);
      return;
    case TYPE.SOA:
      putRaw(message, data, putName(message, data, putName(message, data)));
      return;
    default:
      putRaw(message, data, 0);
  }
}

function putRaw(message: Message, data: string, from: number): void {
  const { out } = message;
  let { at } = message;
  for (let i = from; i < data.length; i++) out[at++] = data.charCodeAt(i);
  message.at = at;
}

/**
 * Writes the name that begins at source[start], as a pointer from the first suffix on that stands in the message
 * already. Returns where the name ends in `source`.
 */
export function putName(message: Message, source: string, start = 0): number {
  if (message.known < 0) enterQuestion(message);
  const length = copyName(message, source, start);
  const { plain, out, plainEnd: from } = message;
  message.plainEnd = from + length;
  let offset = 0;
  while (plain[from + offset] !== 0) {
    const pointer = findKnown(message, from + offset, length - offset);
    if (pointer >= 0) {
      put16(message, 0xc000 | pointer);
      return start + length;
    }
    enter(message, from + offset, length - offset, message.at - message.start);
    const end = offset + 1 + plain[from + offset]!;
    while (offset < end) out[message.at++] = plain[from + offset++]!;
  }
  out[message.at++] = 0;
  return start + length;
}

/** Copies a name to the end of the plain names; when they are full, the oldest memory of names is given up. */
function copyName(message: Message, source: string, start: number): number {
  if (message.plainEnd + MAX_NAME > PLAIN_SIZE) {
    message.plainEnd = 0;
    message.known = 0;
  }
  const { plain, plainEnd: from } = message;
  let at = 0;
  for (let label = source.charCodeAt(start); label !== 0; label = source.charCodeAt(start + at)) {
    plain[from + at++] = label;
    for (const end = at + label; at < end; at++) plain[from + at] = source.charCodeAt(start + at);
  }
  plain[from + at] = 0;
  return at + 1;
}

function enterQuestion(message: Message): void {
  const { question, plain } = message;
  message.known = 0;
  message.plainEnd = question.length;
  for (let i = 0; i < question.length; i++) plain[i] = question.bytes[i]!;
  for (let label = 0; label < question.labels; label++) {
    const start = question.starts[label]!;
    enter(message, start, question.length - start, QUESTION_NAME + start);
  }
}

function enter(message: Message, plainAt: number, length: number, at: number): void {
  const { known } = message;
  if (known >= MAX_KNOWN || at > MAX_POINTER) return;
  message.knownPlain[known] = plainAt;
  message.knownLength[known] = length;
  message.knownAt[known] = at;
  message.known = known + 1;
}

function findKnown(message: Message, plainAt: number, length: number): number {
  const { known, knownLength, knownPlain, plain } = message;
  for (let i = 0; i < known; i++) {
    if (knownLength[i] !== length) continue;
    const other = knownPlain[i]!;
    let same = 0;
    while (same < length && plain[plainAt + same] === plain[other + same]) same++;
    if (same === length) return message.knownAt[i]!;
  }
  return -1;
}
