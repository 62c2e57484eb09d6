import { EDNS_OPTION, HEADER_SIZE, MAX_LABEL, MAX_QUERY, RCODE, TYPE } from './constants.ts';
import { CLIENT_COOKIE, SERVER_COOKIE } from './cookie.ts';
import { createSearchName, hashSearchName } from './search-name.ts';
import type { SearchName } from './search-name.ts';

/**
 * A parsed query, in one reused object. Message format (RFC 1035, RFC 6891):
 *   id 2 | flags 2 | counts 4×2 | question: name, type 2, class 2 | records: name, type 2, class 2, ttl 4, length 2, data
 * Offsets are relative to the buffer that holds the query.
 */
export interface Query {
  id: number;
  opcode: number;
  recursionDesired: boolean;
  checkingDisabled: boolean;
  questions: number;
  readonly name: SearchName;
  type: number;
  class: number;
  /** Where the question ends. */
  questionEnd: number;
  edns: boolean;
  ednsVersion: number;
  dnssecOk: boolean;
  payload: number;
  /** Where the client cookie lies, or -1; `serverCookie` says that sixteen bytes of server cookie follow it. */
  cookieAt: number;
  serverCookie: boolean;
  /** Where the TSIG record begins, or -1. */
  tsigAt: number;
}

/** Returned by parseQuery for what gets no response; any other result is an rcode. */
export const DROP = -1;

/** Makes the query object of one responder. */
export function createQuery(): Query {
  return {
    id: 0,
    opcode: 0,
    recursionDesired: false,
    checkingDisabled: false,
    questions: 0,
    name: createSearchName(),
    type: 0,
    class: 0,
    questionEnd: 0,
    edns: false,
    ednsVersion: 0,
    dnssecOk: false,
    payload: 0,
    cookieAt: -1,
    serverCookie: false,
    tsigAt: -1,
  };
}

function read16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

/**
 * Parses the query at bytes[start, start+length). Never throws; never reads outside. After FORMERR and NOTIMP only the
 * header fields are valid, unless `questionEnd` is set.
 */
export function parseQuery(query: Query, bytes: Uint8Array, start: number, length: number): number {
  // A response gets no response, or two servers could be made to send to each other for ever.
  if (length < HEADER_SIZE || length > MAX_QUERY || bytes[start + 2]! & 0x80) return DROP;
  const end = start + length;
  query.id = read16(bytes, start);
  query.opcode = (bytes[start + 2]! >> 3) & 15;
  query.recursionDesired = (bytes[start + 2]! & 1) !== 0;
  query.checkingDisabled = (bytes[start + 3]! & 0x10) !== 0;
  query.questions = read16(bytes, start + 4);
  query.questionEnd = -1;
  query.edns = false;
  query.cookieAt = -1;
  query.tsigAt = -1;
  if (query.opcode !== 0) return RCODE.NOTIMP;
  if (query.questions > 1) return RCODE.FORMERR; // RFC 9619

  let at = start + HEADER_SIZE;
  if (query.questions === 1) {
    at = parseQuestion(query, bytes, at, end);
    if (at < 0) return RCODE.FORMERR;
  }
  const before = read16(bytes, start + 6) + read16(bytes, start + 8);
  const additional = read16(bytes, start + 10);
  const rcode =
    before + additional === 0 ? endsAt(at, end) : parseRecords(query, bytes, at, end, before, additional);
  if (rcode !== RCODE.NOERROR) return rcode;
  query.questionEnd = start + HEADER_SIZE + (query.questions === 1 ? query.name.length + 4 : 0);
  // A query without a question is valid only to get a cookie (RFC 7873 section 5.4).
  return query.questions === 0 && query.cookieAt < 0 ? RCODE.FORMERR : RCODE.NOERROR;
}

function endsAt(at: number, end: number): number {
  return at === end ? RCODE.NOERROR : RCODE.FORMERR;
}

/** Parses the question; returns where it ends, or -1. The first name of a message cannot be compressed. */
function parseQuestion(query: Query, bytes: Uint8Array, from: number, end: number): number {
  const { name } = query;
  let at = from;
  let labels = 0;
  for (;;) {
    if (at >= end) return -1;
    const length = bytes[at]!;
    if (length > MAX_LABEL || at - from + length > 254) return -1;
    const next = at + 1 + length;
    if (next > end) return -1;
    name.starts[labels] = at - from;
    name.bytes[at - from] = length;
    if (length === 0) break;
    for (let i = at + 1; i < next; i++) {
      const byte = bytes[i]!;
      name.bytes[i - from] = byte >= 65 && byte <= 90 ? byte + 32 : byte;
    }
    labels += 1;
    at = next;
  }
  at += 1;
  if (at + 4 > end) return -1;
  name.length = at - from;
  name.labels = labels;
  hashSearchName(name);
  query.type = read16(bytes, at);
  query.class = read16(bytes, at + 2);
  return at + 4;
}

/** Skips all records but OPT, which may stand once, in the additional section, at the root; and TSIG, which may be the last of all. */
function parseRecords(
  query: Query,
  bytes: Uint8Array,
  from: number,
  end: number,
  before: number,
  additional: number,
): number {
  let at = from;
  for (let i = 0; i < before + additional; i++) {
    const nameEnd = skipName(bytes, at, end);
    if (nameEnd < 0 || nameEnd + 10 > end) return RCODE.FORMERR;
    const dataEnd = nameEnd + 10 + read16(bytes, nameEnd + 8);
    if (dataEnd > end) return RCODE.FORMERR;
    const type = read16(bytes, nameEnd);
    if (type === TYPE.OPT) {
      const misplaced = i < before || query.edns || bytes[at] !== 0;
      if (misplaced || !parseOpt(query, bytes, nameEnd, dataEnd)) return RCODE.FORMERR;
    } else if (type === TYPE.TSIG) {
      if (i < before || i !== before + additional - 1) return RCODE.FORMERR;
      query.tsigAt = at;
    }
    at = dataEnd;
  }
  return endsAt(at, end);
}

/** Compression pointers are skipped, not followed, so a loop of them does no harm. */
function skipName(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && at - from < 255) {
    const length = bytes[at]!;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2 <= end ? at + 2 : -1;
    if (length > MAX_LABEL) return -1;
    at += 1 + length;
  }
  return -1;
}

/** OPT: class = payload size, ttl = extended rcode 1, version 1, flags 2; data = options (code 2, length 2, data). */
function parseOpt(query: Query, bytes: Uint8Array, at: number, dataEnd: number): boolean {
  query.edns = true;
  query.payload = read16(bytes, at + 2);
  query.ednsVersion = bytes[at + 5]!;
  query.dnssecOk = (bytes[at + 6]! & 0x80) !== 0;
  if (query.ednsVersion > 0) return true; // the options of a later version cannot be parsed
  let option = at + 10;
  while (option < dataEnd) {
    if (option + 4 > dataEnd) return false;
    const length = read16(bytes, option + 2);
    if (option + 4 + length > dataEnd) return false;
    if (read16(bytes, option) === EDNS_OPTION.COOKIE && query.cookieAt < 0) {
      const wellFormed =
        length === CLIENT_COOKIE || (length >= CLIENT_COOKIE + 8 && length <= CLIENT_COOKIE + 32);
      if (!wellFormed) return false;
      query.cookieAt = option + 4;
      query.serverCookie = length === CLIENT_COOKIE + SERVER_COOKIE;
    }
    option += 4 + length;
  }
  return true;
}
