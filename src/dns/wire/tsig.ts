import { createHmac, timingSafeEqual } from 'node:crypto';
import { MAX_LABEL, TYPE } from './constants.ts';
import { flatten, parseName } from './name.ts';
import type { Name } from './name.ts';

/*
 * Transaction signatures (RFC 8945): the last record of a message.
 *   key name | type 250 | class ANY | ttl 0 | length 2 | algorithm name | time 6 | fudge 2 | MAC size 2 | MAC | original id 2 | error 2 |
 *   other length 2 | other data
 * The MAC covers, in this order: the MAC of the request or of the message before, with its size; the message without this record; and
 * name, class, TTL, algorithm, time, fudge, error and other data, of which messages after the first have time and fudge alone.
 */
export const TSIG_ALGORITHMS = ['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const;
export type TsigAlgorithm = (typeof TSIG_ALGORITHMS)[number];

export interface TsigKey {
  name: Name;
  algorithm: TsigAlgorithm;
  secret: Uint8Array;
}

/** The errors in TSIG records. */
export const TSIG_ERROR = { NONE: 0, BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const;

const CLASS_ANY = 255;
/** How far clocks may differ, in seconds: as everybody has it. */
const FUDGE = 300;
/** The shortest MAC that is well-formed at all. */
const MIN_MAC = 10;

/** The TSIG record of a message. */
export interface Tsig {
  /** Where the record begins in the message. */
  at: number;
  key: Name;
  algorithm: Name;
  time: number;
  fudge: number;
  mac: Buffer;
  originalId: number;
  error: number;
}

/** A request that is signed, or that tries to be: what the response has to be signed with. */
export interface Signature {
  /** Undefined if we do not have it. */
  key: TsigKey | undefined;
  tsig: Tsig;
  error: number;
}

/** Reads the TSIG record at message[at, end); undefined if it is malformed. */
export function readTsig(message: Buffer, at: number): Tsig | undefined {
  const owner = readName(message, at);
  if (!owner || owner.end + 10 > message.length) return undefined;
  const dataAt = owner.end + 10;
  if (message.readUInt16BE(owner.end + 2) !== CLASS_ANY || message.readUInt32BE(owner.end + 4) !== 0)
    return undefined;
  const algorithm = readName(message, dataAt);
  if (!algorithm || algorithm.end + 10 > message.length) return undefined;
  const macAt = algorithm.end + 10;
  const macEnd = macAt + message.readUInt16BE(macAt - 2);
  if (macEnd + 6 > message.length) return undefined;
  const end = macEnd + 6 + message.readUInt16BE(macEnd + 4);
  if (end !== message.length || dataAt + message.readUInt16BE(owner.end + 8) !== end) return undefined;
  return {
    at,
    key: owner.name,
    algorithm: algorithm.name,
    time: message.readUIntBE(algorithm.end, 6),
    fudge: message.readUInt16BE(algorithm.end + 6),
    mac: message.subarray(macAt, macEnd),
    originalId: message.readUInt16BE(macEnd),
    error: message.readUInt16BE(macEnd + 2),
  };
}

/** Checks a signed message, with the MAC before it if it is a response; undefined if its TSIG record is malformed. */
export function checkTsig(
  message: Buffer,
  at: number,
  keys: readonly TsigKey[],
  now: number,
  priorMac?: Uint8Array,
): Signature | undefined {
  const tsig = readTsig(message, at);
  if (!tsig) return undefined;
  const key = keys.find(({ name, algorithm }) => name === tsig.key && nameOf(algorithm) === tsig.algorithm);
  if (!key) return { key, tsig, error: TSIG_ERROR.BADKEY };
  const signed = Buffer.from(message.subarray(0, at));
  signed.writeUInt16BE(tsig.originalId, 0);
  signed.writeUInt16BE(signed.readUInt16BE(10) - 1, 10);
  const other = message.subarray(at + sizeBeforeOther(tsig));
  const mac = macOf(key, priorMac, signed, variables(key, tsig.time, tsig.fudge, tsig.error, other));
  if (tsig.mac.length > mac.length || tsig.mac.length < Math.max(MIN_MAC, mac.length / 2)) return undefined;
  if (!timingSafeEqual(mac.subarray(0, tsig.mac.length), tsig.mac))
    return { key, tsig, error: TSIG_ERROR.BADSIG };
  if (Math.abs(now - tsig.time) > tsig.fudge) return { key, tsig, error: TSIG_ERROR.BADTIME };
  return { key, tsig, error: tsig.mac.length < mac.length ? TSIG_ERROR.BADTRUNC : TSIG_ERROR.NONE };
}

/** What is signed after the message itself. */
export interface SigningOptions {
  key: TsigKey;
  /** In seconds. */
  now: number;
  /** The MAC of the request, or of the message before. */
  priorMac?: Uint8Array | undefined;
  /** Not the first of the messages of a response. */
  isLater?: boolean;
}

/** Signs a whole message; returns it with its TSIG record, and the MAC. */
export function signMessage(message: Uint8Array, options: SigningOptions): { signed: Buffer; mac: Buffer } {
  const { key, now, priorMac, isLater = false } = options;
  const covered = isLater ? timers(now, FUDGE) : variables(key, now, FUDGE, TSIG_ERROR.NONE, NOTHING);
  const mac = macOf(key, priorMac, message, covered);
  const id = Buffer.from(message).readUInt16BE(0);
  const record = recordOf(key.name, nameOf(key.algorithm), now, mac, id, TSIG_ERROR.NONE, NOTHING);
  return { signed: withRecord(message, record), mac };
}

/** Signs the response to a request with a signature; where that is not valid, says so as RFC 8945 section 5.3.2 has it. */
export function signResponse(message: Uint8Array, { key, tsig, error }: Signature, now: number): Buffer {
  const isSigned = key !== undefined && error !== TSIG_ERROR.BADSIG;
  if (isSigned && error === TSIG_ERROR.NONE)
    return signMessage(message, { key, now, priorMac: tsig.mac }).signed;
  const isLate = isSigned && error === TSIG_ERROR.BADTIME;
  const other = isLate ? time48(now) : NOTHING;
  const time = isLate ? tsig.time : now;
  const mac = isSigned ? macOf(key, tsig.mac, message, variables(key, time, FUDGE, error, other)) : NOTHING;
  return withRecord(message, recordOf(tsig.key, tsig.algorithm, time, mac, tsig.originalId, error, other));
}

/** Bytes that the TSIG record of a response takes at most. */
export function tsigSize({ key, tsig }: Signature): number {
  return tsig.key.length + tsig.algorithm.length + 10 + 16 + 6 + (key ? 64 : 0);
}

const NOTHING = Buffer.alloc(0);
const NAMES = new Map(TSIG_ALGORITHMS.map((algorithm) => [algorithm, parseName(algorithm)!]));
const nameOf = (algorithm: TsigAlgorithm) => NAMES.get(algorithm)!;

function macOf(
  { algorithm, secret }: TsigKey,
  prior: Uint8Array | undefined,
  ...parts: Uint8Array[]
): Buffer {
  const hmac = createHmac(algorithm.slice('hmac-'.length), secret);
  if (prior) hmac.update(Buffer.from([prior.length >> 8, prior.length])).update(prior);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

function time48(seconds: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(seconds, 0, 6);
  return bytes;
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, i) => bytes.writeUInt16BE(value, 2 * i));
  return bytes;
}

function timers(time: number, fudge: number): Buffer {
  return Buffer.concat([time48(time), words(fudge)]);
}

function variables(key: TsigKey, time: number, fudge: number, error: number, other: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(key.name, 'latin1'),
    words(CLASS_ANY, 0, 0),
    Buffer.from(nameOf(key.algorithm), 'latin1'),
    timers(time, fudge),
    words(error, other.length),
    other,
  ]);
}

function recordOf(
  key: Name,
  algorithm: Name,
  time: number,
  mac: Uint8Array,
  id: number,
  error: number,
  other: Uint8Array,
): Buffer {
  const data = Buffer.concat([
    Buffer.from(algorithm, 'latin1'),
    timers(time, FUDGE),
    words(mac.length),
    mac,
    words(id, error, other.length),
    other,
  ]);
  return Buffer.concat([Buffer.from(key, 'latin1'), words(TYPE.TSIG, CLASS_ANY, 0, 0, data.length), data]);
}

/** How much of a TSIG record comes before its other data. */
function sizeBeforeOther({ key, algorithm, mac }: Tsig): number {
  return key.length + 10 + algorithm.length + 10 + mac.length + 6;
}

function withRecord(message: Uint8Array, record: Buffer): Buffer {
  const signed = Buffer.concat([message, record]);
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10);
  return signed;
}

/** Names in a TSIG record are not compressed. */
function readName(message: Buffer, from: number): { name: Name; end: number } | undefined {
  for (let at = from; at < message.length && at - from < 255;) {
    const length = message[at]!;
    if (length > MAX_LABEL) return undefined;
    at += 1 + length;
    if (length > 0 || at > message.length) continue;
    const text = message.toString('latin1', from, at);
    return { name: flatten(text.replace(/[A-Z]/g, (upper) => upper.toLowerCase())), end: at };
  }
  return undefined;
}
