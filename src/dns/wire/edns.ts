import { isValidServerCookie, CLIENT_COOKIE, SERVER_COOKIE, writeServerCookie } from './cookie.ts';
import { EDNS_OPTION, TYPE } from './constants.ts';
import { put16, set16 } from './message.ts';
import type { ClientAddress } from './client-address.ts';
import type { CookieSecrets } from './cookie.ts';
import type { Message } from './message.ts';
import type { Query } from './query.ts';

const MAX_TCP = 65_535;
const OPT_SIZE = 11;

/** What EDNS needs to know of a query and of the response that is being written. */
export interface EdnsContext {
  readonly query: Query;
  /** The query as it was received. */
  bytes: Uint8Array;
  client: ClientAddress;
  /** The time in seconds, for cookies. */
  now: number;
  readonly message: Message;
  rcode: number;
  /** An info code of RFC 8914; 0 for none. */
  extendedError: number;
  readonly options: EdnsOptions;
}

export interface EdnsOptions {
  /** The largest response over UDP; a client that can take less says so. */
  maxUdpPayload: number;
  cookies: CookieSecrets;
}

/** Whether the client proved its address with a valid server cookie. */
export function hasValidCookie({ query, options, bytes, client, now }: EdnsContext): boolean {
  if (query.cookieAt < 0 || !query.serverCookie) return false;
  return isValidServerCookie(options.cookies, bytes, query.cookieAt, client, now);
}

/** How large a response may be without OPT and its options, which come last. (A response with an extended error has no records.) */
export function sizeLimit(query: Query, maxUdpPayload: number, tcp: boolean): number {
  let limit = MAX_TCP;
  if (!tcp) limit = query.edns ? Math.min(Math.max(query.payload, 512), maxUdpPayload) : 512;
  if (query.edns) limit -= OPT_SIZE;
  if (query.cookieAt >= 0) limit -= 4 + CLIENT_COOKIE + SERVER_COOKIE;
  return limit;
}

/** Writes the OPT record: payload size, upper bits of the rcode, a cookie if the query had one, an extended error. */
export function putOpt(context: EdnsContext): void {
  const { query, message, options, bytes, client, now } = context;
  const { out } = message;
  out[message.at++] = 0;
  put16(message, TYPE.OPT);
  put16(message, options.maxUdpPayload);
  out[message.at++] = context.rcode >> 4;
  out[message.at++] = 0; // our version
  put16(message, query.dnssecOk ? 0x8000 : 0);
  const lengthAt = message.at;
  message.at += 2;
  if (query.cookieAt >= 0) {
    put16(message, EDNS_OPTION.COOKIE);
    put16(message, CLIENT_COOKIE + SERVER_COOKIE);
    for (let i = 0; i < CLIENT_COOKIE; i++) out[message.at++] = bytes[query.cookieAt + i]!;
    writeServerCookie(options.cookies, bytes, query.cookieAt, client, now, out, message.at);
    message.at += SERVER_COOKIE;
  }
  if (context.extendedError > 0) {
    put16(message, EDNS_OPTION.EDE);
    put16(message, 2);
    put16(message, context.extendedError);
  }
  set16(out, lengthAt, message.at - lengthAt - 2);
}
