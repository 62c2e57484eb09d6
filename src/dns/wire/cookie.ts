import { sipHash } from './siphash.ts';
import type { ClientAddress } from './client-address.ts';

/**
 * Server cookies (RFC 7873 in the interoperable form of RFC 9018):
 *   version 1 | reserved 3 | seconds 4 | SipHash-2-4(client cookie 8 | version, reserved, seconds | client address) 8
 * They prove, without state on the server, that the client has the address it sends from. Every response carries a
 * fresh one, so none needs to be renewed on its own.
 */
export const CLIENT_COOKIE = 8;
export const SERVER_COOKIE = 16;

const VERSION = 1;
const VALID_SECONDS = 3600;
const AHEAD_SECONDS = 300;

/** The secret to sign with, and older ones that are still accepted. Sixteen bytes each; equal on all replicas of a service. */
export interface CookieSecrets {
  current: Uint8Array;
  previous: readonly Uint8Array[];
}

const input = new Uint8Array(CLIENT_COOKIE + 8 + 16);
const hash = new Uint8Array(8);

function hashInto(
  secret: Uint8Array,
  clientCookie: Uint8Array,
  at: number,
  client: ClientAddress,
  out: Uint8Array,
) {
  for (let i = 0; i < CLIENT_COOKIE; i++) input[i] = clientCookie[at + i]!;
  for (let i = 0; i < client.length; i++) input[16 + i] = client.bytes[i]!;
  sipHash(secret, input, 16 + client.length, out, 0);
}

/** Writes a server cookie for the client cookie at `cookieAt` in `query`. */
export function writeServerCookie(
  secrets: CookieSecrets,
  query: Uint8Array,
  cookieAt: number,
  client: ClientAddress,
  now: number,
  out: Uint8Array,
  at: number,
): void {
  input.fill(0, 8, 16);
  input[8] = VERSION;
  for (let i = 0; i < 4; i++) input[12 + i] = now >>> (24 - 8 * i);
  hashInto(secrets.current, query, cookieAt, client, hash);
  for (let i = 0; i < 8; i++) {
    out[at + i] = input[8 + i]!;
    out[at + 8 + i] = hash[i]!;
  }
}

/** Checks the server cookie that follows the client cookie at `cookieAt`. */
export function isValidServerCookie(
  secrets: CookieSecrets,
  query: Uint8Array,
  cookieAt: number,
  client: ClientAddress,
  now: number,
): boolean {
  const at = cookieAt + CLIENT_COOKIE;
  if (query[at] !== VERSION) return false;
  const stamp = (query[at + 4]! << 24) | (query[at + 5]! << 16) | (query[at + 6]! << 8) | query[at + 7]!;
  const age = (now - stamp) | 0; // serial number arithmetic (RFC 9018 section 4.3)
  if (age > VALID_SECONDS || age < -AHEAD_SECONDS) return false;
  for (let i = 0; i < 8; i++) input[8 + i] = query[at + i]!;
  if (matches(secrets.current, query, cookieAt, client)) return true;
  return secrets.previous.some((secret) => matches(secret, query, cookieAt, client));
}

function matches(secret: Uint8Array, query: Uint8Array, cookieAt: number, client: ClientAddress): boolean {
  hashInto(secret, query, cookieAt, client, hash);
  let difference = 0; // compared in constant time
  for (let i = 0; i < 8; i++) difference |= hash[i]! ^ query[cookieAt + CLIENT_COOKIE + 8 + i]!;
  return difference === 0;
}
