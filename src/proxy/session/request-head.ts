import { apiOf } from '../../kafka/apis.ts';

/** Reading requests just as far as needed. */

export const API = {
  produce: apiOf('Produce').key,
  metadata: apiOf('Metadata').key,
  apiVersions: apiOf('ApiVersions').key,
  saslHandshake: apiOf('SaslHandshake').key,
  saslAuthenticate: apiOf('SaslAuthenticate').key,
} as const;

/** Length, API key, API version, correlation id. */
export const REQUEST_HEAD = 12;
/** Length, correlation id. */
export const RESPONSE_HEAD = 8;

/** The acks of a Produce request that begins (with its length) at `at`; undefined if `end` comes too early. */
export function peekAcks(bytes: Buffer, at: number, end: number, apiVersion: number): number | undefined {
  const flexible = apiVersion >= apiOf('Produce').flexible;
  let next = at + REQUEST_HEAD;
  /** Moves past something with a length of two bytes, -1 for null. */
  const skipString = () => {
    if (next + 2 > end) return false;
    next += 2 + Math.max(0, bytes.readInt16BE(next));
    return true;
  };
  /** Reads a varint, -1 if it is not all there. */
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      if (next >= end) return -1;
      const byte = bytes[next++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    return -1;
  };
  if (!skipString()) return undefined; // client id
  if (flexible) {
    for (let tags = varint(); tags !== 0; tags--) {
      if (tags < 0 || varint() < 0) return undefined;
      const size = varint();
      if (size < 0) return undefined;
      next += size;
    }
    const length = varint(); // transactional id
    if (length < 0) return undefined;
    next += Math.max(0, length - 1);
  } else if (apiVersion >= 3 && !skipString()) {
    return undefined;
  }
  return next + 2 <= end ? bytes.readInt16BE(next) : undefined;
}

const HTTP = /^(GET|HEAD|POST|PUT|DELETE|OPTIONS|CONNECT|PATCH|TRACE|PRI) /;

/** Says what the first bytes of a connection look like, if they are no Kafka request. */
export function describeBytes(bytes: Buffer, at: number): string {
  const text = bytes.toString('latin1', at, at + 8);
  if (bytes[at] === 0x16 && bytes[at + 1] === 3) return 'this looks like TLS, and the port takes plaintext';
  if (HTTP.test(text)) return 'this looks like HTTP';
  if (text.startsWith('PROXY ') || text.startsWith('\r\n\r\n\0\r\nQ'))
    return 'this looks like the PROXY protocol, which is not enabled';
  return 'this is no Kafka request';
}

/** What is wrong with the first request of a connection; undefined if nothing is, as far as can be seen. */
export function badStart(bytes: Buffer, maxFrame: number): string | undefined {
  const length = bytes.readInt32BE(0);
  if (length < REQUEST_HEAD - 4 || length > maxFrame)
    return `a frame of ${length} bytes is announced: ${describeBytes(bytes, 0)}`;
  const apiKey = bytes.readInt16BE(4);
  if (!apiOf(apiKey))
    return `the first request has the unknown API key ${apiKey}: ${describeBytes(bytes, 0)}`;
  return undefined;
}
