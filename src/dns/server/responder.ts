import { createQueryContext, resetQueryContext } from './query-context.ts';
import { putSections } from './sections.ts';
import { CLASS_IN, HEADER_SIZE, RCODE, TYPE } from '../wire/constants.ts';
import { hasValidCookie, putOpt, sizeLimit } from '../wire/edns.ts';
import { beginMessage, set16, SLACK } from '../wire/message.ts';
import { DROP, parseQuery } from '../wire/query.ts';
import { TSIG_ERROR, checkTsig, signResponse, tsigSize } from '../wire/tsig.ts';
import type { ResponderOptions, QueryContext } from './query-context.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { Name } from '../wire/name.ts';
import type { Query } from '../wire/query.ts';
import type { Signature } from '../wire/tsig.ts';
import type { Zone } from '../zone/zone.ts';
import type { Zones } from '../zone/zones.ts';

/** What the last response was, for counters and the rate limit. Reused: read it before the next call. */
export interface Outcome {
  type: number;
  rcode: number;
  truncated: boolean;
  /** The client has proved its address, by a cookie or by TCP. */
  addressProven: boolean;
  /** Where the question ends in the response, relative to its start. */
  questionEnd: number;
  /** The id of the zone that answered; -1 if none did. */
  zone: number;
  /** The zone to transfer, when the call returned TRANSFER. */
  transfer: Zone | undefined;
  /** The name to resolve with `type`, when the call returned UNRESOLVED. */
  unresolved: Name | undefined;
  /** What the query is signed with, for the messages of a transfer. */
  signature: Signature | undefined;
}

export interface Responder {
  /**
   * Answers the query at query[start, start+length) into `out` at `at`, which must have MAX_RESPONSE bytes over TCP,
   * `maxUdpPayload + SLACK` over UDP. Returns the length of the response, 0 for none, TRANSFER, or UNRESOLVED.
   * Pure but for its reused buffers: the same query, zones and second give the same bytes on every transport.
   */
  respond(
    query: Uint8Array,
    start: number,
    length: number,
    out: Uint8Array,
    at: number,
    client: ClientAddress,
    tcp: boolean,
  ): number;
  readonly outcome: Outcome;
  /** The time in seconds, for cookies; the caller keeps it current. */
  now: number;
  /** Whether the caller can respond later, when this name is resolved; if not, the query gets SERVFAIL. */
  mayWait: MayWait;
}

export type MayWait = (unresolved: Name, client: ClientAddress) => boolean;
export const NEVER: MayWait = () => false;

/** Returned for a zone transfer, whose messages the caller makes from `outcome.transfer`. */
export const TRANSFER = -2;
/** Returned, if it `mayWait`, for a query to respond to when `outcome.unresolved` has been asked for. */
export const UNRESOLVED = -3;
/** Size of a buffer for responses over TCP. */
export const MAX_RESPONSE = 65_535 + SLACK;

/** Makes a responder, which turns queries into responses. */
export function createResponder(zones: Zones, options: ResponderOptions): Responder {
  const context = createQueryContext(options);
  const { query } = context;
  const outcome: Outcome = {
    type: 0,
    rcode: 0,
    truncated: false,
    addressProven: false,
    questionEnd: 0,
    zone: -1,
    transfer: undefined,
    unresolved: undefined,
    signature: undefined,
  };

  const responder: Responder = {
    outcome,
    now: 0,
    mayWait: NEVER,
    respond(bytes, start, length, out, at, client, tcp) {
      const parsed = parseQuery(query, bytes, start, length);
      if (parsed === DROP) return 0;
      resetQueryContext(context, bytes, start, client, responder.now);
      const isSigned = parsed === RCODE.NOERROR && query.tsigAt >= 0;
      const signature = isSigned ? checkSignature(context, length) : undefined;
      context.signature = signature;
      outcome.addressProven = tcp || hasValidCookie(context);
      outcome.transfer = undefined;
      outcome.signature = signature;
      const reserved = signature ? tsigSize(signature) : 0;
      beginMessage(context.message, out, at, sizeLimit(query, options.maxUdpPayload, tcp) - reserved);
      putHeaderAndQuestion(context);
      outcome.questionEnd = context.message.at - at;
      outcome.type = query.questionEnd < 0 ? 0 : query.type;

      const early = isSigned ? checkSigned(query, tcp, signature) : parsed || checkQuestion(query, tcp);
      if (early !== undefined) context.rcode = early;
      else if (query.type === TYPE.AXFR || query.type === TYPE.IXFR) {
        outcome.transfer = transferredZone(zones, context);
        if (outcome.transfer) return TRANSFER;
      } else putSections(zones, context);
      outcome.unresolved = context.unresolved;
      outcome.zone = context.zone;
      if (context.unresolved !== undefined && responder.mayWait(context.unresolved, client))
        return UNRESOLVED;

      finish(context, at);
      outcome.rcode = context.rcode;
      outcome.truncated = context.truncated;
      if (signature) putSignature(context, at, signature);
      return context.message.at - at;
    },
  };
  return responder;
}

function putHeaderAndQuestion({ query, message, bytes, start }: QueryContext): void {
  const length = query.questionEnd < 0 ? HEADER_SIZE : query.questionEnd - start;
  const { out } = message;
  for (let i = 0; i < length; i++) out[message.at + i] = bytes[start + i]!;
  message.at += length;
}

/** The rcode for a well-formed question that no zone is searched for; undefined if one is. */
function checkQuestion(query: Query, tcp: boolean): number | undefined {
  if (query.edns && query.ednsVersion > 0) return RCODE.BADVERS;
  if (query.questions === 0) return RCODE.NOERROR;
  if (query.class !== CLASS_IN) return RCODE.REFUSED;
  switch (query.type) {
    case TYPE.OPT:
    case TYPE.TSIG:
    case TYPE.TKEY:
      return RCODE.FORMERR;
    case TYPE.MAILA:
    case TYPE.MAILB:
      return RCODE.NOTIMP;
    case TYPE.AXFR:
      return tcp ? undefined : RCODE.FORMERR;
    case TYPE.IXFR:
      return tcp ? undefined : RCODE.NOTIMP; // then the secondary falls back to AXFR
    default:
      return undefined;
  }
}

function checkSignature({ bytes, start, query, options, now }: QueryContext, length: number) {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset + start, length);
  return checkTsig(message, query.tsigAt - start, options.keys, now);
}

/** As checkQuestion, for a query with a TSIG record. */
function checkSigned(query: Query, tcp: boolean, signature: Signature | undefined): number | undefined {
  if (!signature) return RCODE.FORMERR;
  return signature.error === TSIG_ERROR.NONE ? checkQuestion(query, tcp) : RCODE.NOTAUTH;
}

function putSignature({ message, now }: QueryContext, start: number, signature: Signature): void {
  const signed = signResponse(message.out.subarray(start, message.at), signature, now);
  message.out.set(signed, start);
  message.at = start + signed.length;
}

function transferredZone(zones: Zones, context: QueryContext): Zone | undefined {
  const { query, client, options, signature } = context;
  const zone = zones.table.find(query.name, 0);
  if (!options.transferAllowed(client, signature?.key)) context.rcode = RCODE.REFUSED;
  else if (!zones.ready) context.rcode = RCODE.SERVFAIL;
  else if (!zone) context.rcode = RCODE.NOTAUTH;
  else if (!options.isTransferable(zone.name)) context.rcode = RCODE.SERVFAIL;
  else return zone;
  return undefined;
}

/** Writes OPT and the header's flags and counts. */
function finish(context: QueryContext, start: number): void {
  const { query, message } = context;
  if (query.edns) {
    putOpt(context);
    context.additionals += 1;
  }
  const { out } = message;
  out[start + 2] =
    0x80 |
    (query.opcode << 3) |
    (context.authoritative ? 4 : 0) |
    (context.truncated ? 2 : 0) |
    (query.recursionDesired ? 1 : 0);
  out[start + 3] = (query.checkingDisabled ? 0x10 : 0) | (context.rcode & 15);
  out[start + 4] = 0;
  out[start + 5] = query.questionEnd < 0 ? 0 : query.questions;
  set16(out, start + 6, context.answers);
  set16(out, start + 8, context.authorities);
  set16(out, start + 10, context.additionals);
}
