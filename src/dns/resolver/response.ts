import { CLASS_IN, HEADER_SIZE, MAX_LABEL, MAX_NAME, RCODE, TYPE } from '../wire/constants.ts';
import { flatten, isSubdomain } from '../wire/name.ts';
import type { Name } from '../wire/name.ts';
import type { Rdata } from '../wire/record.ts';
import type { OutsideAnswer, OutsideSoa } from '../zone/outside.ts';

/** A question to a resolver. */
export interface OutsideQuestion {
  id: number;
  name: Name;
  type: number;
}

/** What a resolver has answered: checked, but not yet followed from name to name. */
export interface ResolverResponse {
  rcode: number;
  truncated: boolean;
  answers: ResponseRecord[];
  authorities: ResponseRecord[];
}

interface ResponseRecord {
  owner: Name;
  type: number;
  ttl: number;
  data: Rdata;
}

const OPT_PAYLOAD = 1232;

/** The bytes of a query with recursion desired. */
export function queryBytes({ id, name, type }: OutsideQuestion): Buffer {
  const header = Buffer.from([id >> 8, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
  const tail = Buffer.from([
    0,
    type,
    0,
    CLASS_IN,
    0,
    0,
    TYPE.OPT,
    OPT_PAYLOAD >> 8,
    OPT_PAYLOAD & 255,
    0,
    0,
    0,
    0,
    0,
    0,
  ]);
  return Buffer.concat([header, Buffer.from(name, 'latin1'), tail]);
}

/** Reads a response; undefined if it is malformed or not the response to this question. Never throws. */
export function readResponse(bytes: Buffer, question: OutsideQuestion): ResolverResponse | undefined {
  if (bytes.length < HEADER_SIZE || bytes.readUInt16BE(0) !== question.id) return undefined;
  const isResponse = (bytes[2]! & 0xf8) === 0x80 && bytes.readUInt16BE(4) === 1;
  const asked = isResponse ? readName(bytes, HEADER_SIZE) : undefined;
  if (asked?.name !== question.name || asked.end + 4 > bytes.length) return undefined;
  if (bytes.readUInt16BE(asked.end) !== question.type || bytes.readUInt16BE(asked.end + 2) !== CLASS_IN) {
    return undefined;
  }
  const rcode = bytes[3]! & 15;
  if ((bytes[2]! & 2) !== 0) return { rcode, truncated: true, answers: [], authorities: [] };
  const answers = readRecords(bytes, asked.end + 4, bytes.readUInt16BE(6));
  const authorities = answers && readRecords(bytes, answers.end, bytes.readUInt16BE(8));
  if (!authorities) return undefined;
  return { rcode, truncated: false, answers: answers.records, authorities: authorities.records };
}

function readRecords(
  bytes: Buffer,
  from: number,
  count: number,
): { records: ResponseRecord[]; end: number } | undefined {
  const records: ResponseRecord[] = [];
  let at = from;
  for (let i = 0; i < count; i++) {
    const owner = readName(bytes, at);
    if (!owner || owner.end + 10 > bytes.length) return undefined;
    const type = bytes.readUInt16BE(owner.end);
    const dataAt = owner.end + 10;
    at = dataAt + bytes.readUInt16BE(owner.end + 8);
    if (at > bytes.length) return undefined;
    if (bytes.readUInt16BE(owner.end + 2) !== CLASS_IN) continue;
    const data = readData(bytes, type, dataAt, at);
    // A TTL with its highest bit set counts as 0 (RFC 2181 section 8).
    const ttl = Math.max(0, bytes.readInt32BE(owner.end + 4));
    if (data !== undefined) records.push({ owner: owner.name, type, ttl, data });
  }
  return { records, end: at };
}

/** The data of a record without compression; undefined for types that nobody asks for, and for what is malformed. */
function readData(bytes: Buffer, type: number, at: number, end: number): Rdata | undefined {
  const raw = () => bytes.toString('latin1', at, end);
  switch (type) {
    case TYPE.A:
      return end - at === 4 ? raw() : undefined;
    case TYPE.AAAA:
      return end - at === 16 ? raw() : undefined;
    case TYPE.CNAME: {
      const target = readName(bytes, at);
      return target?.end === end ? target.name : undefined;
    }
    case TYPE.SOA: {
      const primary = readName(bytes, at);
      const contact = primary && readName(bytes, primary.end);
      if (!contact || contact.end + 20 !== end) return undefined;
      return flatten(primary.name + contact.name + bytes.toString('latin1', contact.end, end));
    }
    default:
      return undefined;
  }
}

/** Reads a name, lower-cased. A pointer must lead further back than the last one did, so that there is an end. */
function readName(bytes: Buffer, from: number): { name: Name; end: number } | undefined {
  let name = '';
  let end = -1;
  let before = from;
  for (let at = from; at < bytes.length && name.length < MAX_NAME;) {
    const length = bytes[at]!;
    if (length === 0) return { name: flatten(`${name}\0`), end: end < 0 ? at + 1 : end };
    if (length >= 0xc0) {
      const target = ((length & 0x3f) << 8) | (bytes[at + 1] ?? 0xff);
      if (at + 2 > bytes.length || target >= before) return undefined;
      if (end < 0) end = at + 2;
      at = before = target;
      continue;
    }
    if (length > MAX_LABEL || at + 1 + length > bytes.length) return undefined;
    name += String.fromCharCode(length) + lowerCase(bytes.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return undefined;
}

function lowerCase(label: string): string {
  return label.replace(/[A-Z]/g, (upper) => upper.toLowerCase());
}

/** As many aliases as a lookup follows. */
const MAX_STEPS = 16;
const MAX_TTL = 86_400;
const MAX_NEGATIVE_TTL = 300;
/** For a negative answer without SOA. */
const UNSAID_NEGATIVE_TTL = 5;

/**
 * The answers in a response, step by step from the name that was asked for. What is not on this path is ignored, and so is
 * what a name in our own zones is said to have: `isOurs`. An answer is kept for at least a second, so that the query
 * which waits for it finds it.
 */
export function answersOf(
  response: ResolverResponse,
  { name, type }: OutsideQuestion,
  isOurs: (name: Name) => boolean,
  now: number,
): OutsideAnswer[] {
  const found: OutsideAnswer[] = [];
  const seen = new Set<Name>();
  for (let owner = name; seen.size < MAX_STEPS && !seen.has(owner) && !isOurs(owner);) {
    seen.add(owner);
    const at = response.answers.filter((record) => record.owner === owner);
    const wanted = at.filter((record) => record.type === type);
    const alias = at.find((record) => record.type === TYPE.CNAME);
    const records = wanted.length > 0 ? wanted : alias ? [alias] : [];
    if (records.length === 0) {
      const negative = negativeAnswer(response, owner, type, now);
      // Without SOA, the end of a chain may only be where this resolver stopped: it is asked again from there.
      return negative.soa || owner === name ? [...found, negative] : found;
    }
    const ttl = Math.min(MAX_TTL, ...records.map((record) => record.ttl));
    const data = [...new Set(records.map((record) => record.data))].toSorted();
    const rrset = { type: records[0]!.type, ttl, data };
    found.push({ name: owner, type, kind: 'answer', rrset, soa: undefined, expires: now + Math.max(1, ttl) });
    if (wanted.length > 0) return found;
    owner = alias!.data;
  }
  return found;
}

function negativeAnswer(response: ResolverResponse, name: Name, type: number, now: number): OutsideAnswer {
  const kind = response.rcode === RCODE.NXDOMAIN ? 'nxdomain' : 'nodata';
  const record = response.authorities.find(
    ({ type: its, owner }) => its === TYPE.SOA && isSubdomain(name, owner),
  );
  const soa: OutsideSoa | undefined = record && {
    owner: record.owner,
    rrset: { type: TYPE.SOA, ttl: record.ttl, data: [record.data] },
  };
  const ttl = record
    ? Math.min(MAX_NEGATIVE_TTL, record.ttl, Buffer.from(record.data.slice(-4), 'latin1').readUInt32BE(0))
    : UNSAID_NEGATIVE_TTL;
  return { name, type, kind, rrset: undefined, soa, expires: now + Math.max(1, ttl) };
}
