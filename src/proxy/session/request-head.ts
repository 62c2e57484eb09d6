import { apiOf } from '../../kafka/apis.ts';
import { MalformedMessage } from '../../kafka/malformed.ts';
import { Reader } from '../../kafka/reader.ts';
import { neverFits } from '../net/byte-budget.ts';
import { BadTraffic } from './frame-stream.ts';

/** Reading requests just as far as needed. */

export const API = {
  produce: apiOf('Produce').key,
  metadata: apiOf('Metadata').key,
  apiVersions: apiOf('ApiVersions').key,
  saslHandshake: apiOf('SaslHandshake').key,
  saslAuthenticate: apiOf('SaslAuthenticate').key,
} as const;

/** The requests of a login: those that a broker answers before it knows who asks. */
export const isLogin = (apiKey: number): boolean =>
  apiKey === API.apiVersions || apiKey === API.saslHandshake || apiKey === API.saslAuthenticate;

/**
 * As much as is passed on at once. A broker sets a request's announced length aside as soon as it sees it: announcements without
 * anything behind them would cost it all its memory. Produce requests are rightly large and pass at once; others wait here until they are whole.
 */
export const LARGE_REQUEST = 65_536;
/** As much as a broker takes of a client that has not logged in. */
const LARGEST_LOGIN = 524_288;

/** What is wrong with the length of a request of a login. Only SaslAuthenticate carries something that may be long: a token, a ticket. */
export function badLogin(apiKey: number, length: number): string | undefined {
  const most = apiKey === API.saslAuthenticate ? LARGEST_LOGIN : LARGE_REQUEST;
  if (length <= most) return undefined;
  return `a request of ${length} bytes before the login is complete, ${most} are allowed`;
}

/** Length, API key, API version, correlation id. */
export const REQUEST_HEAD = 12;
/** Length, correlation id. */
export const RESPONSE_HEAD = 8;

/** The acks of a Produce request that begins (with its length) at `at`; undefined if `end` comes too early. */
export function peekAcks(bytes: Buffer, at: number, end: number, apiVersion: number): number | undefined {
  const reader = new Reader(bytes, at + REQUEST_HEAD, end, 'Produce request');
  try {
    skipToAcks(reader, apiVersion);
    return reader.int16();
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined;
    throw error;
  }
}

function skipToAcks(reader: Reader, apiVersion: number): void {
  const skipString = () => reader.take(Math.max(0, reader.int16())); // -1 is null
  skipString(); // client id
  if (apiVersion >= apiOf('Produce').flexible) {
    for (let tags = reader.unsignedVarint(); tags > 0; tags--) {
      reader.unsignedVarint();
      reader.take(reader.unsignedVarint());
    }
    reader.take(Math.max(0, reader.unsignedVarint() - 1)); // transactional id
  } else if (apiVersion >= 3) skipString();
}

const HTTP = /^(GET|HEAD|POST|PUT|DELETE|OPTIONS|CONNECT|PATCH|TRACE|PRI) /;

/** Says what the first bytes of a connection look like, if they are no Kafka request. */
export function describeBytes(bytes: Buffer, at: number): string {
  const text = bytes.toString('latin1', at, at + 8);
  if (bytes[at] === 0x16 && bytes[at + 1] === 3) return 'this looks like TLS, and the port takes plaintext';
  if (HTTP.test(text)) return 'this looks like HTTP';
  if (text.startsWith('PROXY ') || text.startsWith('\r\n\r\n\0\r\nQ'))
    return 'this looks like the PROXY protocol, which is not enabled, or not for this source';
  return 'this is no Kafka request';
}

/**
 * Throws if the first request of a connection is none, as far as can be seen. Whatever would be refused later for its length alone is
 * refused now, before a broker connection is spent on it: all but Produce has to be held whole.
 */
export function checkStart(bytes: Buffer, maxFrame: number, mostHeld: number): void {
  const bad = badStart(bytes, maxFrame);
  if (bad !== undefined) throw new BadTraffic(bad);
  const [frame, apiKey] = [bytes.readInt32BE(0) + 4, bytes.readInt16BE(4)];
  if (!isLogin(apiKey) && apiKey !== API.produce && frame > mostHeld) throw neverFits(frame, mostHeld);
}

function badStart(bytes: Buffer, maxFrame: number): string | undefined {
  const length = bytes.readInt32BE(0);
  if (length < REQUEST_HEAD - 4 || length > maxFrame)
    return `a frame of ${length} bytes is announced: ${describeBytes(bytes, 0)}`;
  const apiKey = bytes.readInt16BE(4);
  if (!apiOf(apiKey))
    return `the first request has the unknown API key ${apiKey}: ${describeBytes(bytes, 0)}`;
  return isLogin(apiKey) ? badLogin(apiKey, length) : undefined;
}
