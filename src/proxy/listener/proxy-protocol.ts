import { isIP } from 'node:net';

/**
 * The PROXY protocol (versions 1 and 2, HAProxy's specification): a load balancer that ends the client's connection
 * says before anything else whose it was. Unknown address families and LOCAL connections carry no address.
 */

export type ProxyHeader =
  | { found: 'more' }
  /** These bytes do not begin with a header. */
  | { found: 'none' }
  | { found: 'bad'; why: string }
  | { found: 'header'; length: number; source: string | undefined };

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V1_START = Buffer.from('PROXY ', 'latin1');
const V1_LONGEST = 107;
const V2_FIXED = 16;
/** Addresses and a handful of extensions; the specification allows 64 KiB and nobody sends that. */
const V2_LONGEST = 4096;
const V1_PATTERN = /^PROXY (?:UNKNOWN.*|(TCP[46]) (\S+) (\S+) (\d{1,5}) (\d{1,5}))\r\n$/;

const begins = (bytes: Buffer, with_: Buffer) => {
  const length = Math.min(bytes.length, with_.length);
  return bytes.subarray(0, length).equals(with_.subarray(0, length));
};

/** Reads the header at the start of a connection. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader {
  if (bytes.length === 0) return { found: 'more' };
  if (begins(bytes, SIGNATURE)) return bytes.length < V2_FIXED ? { found: 'more' } : parseV2(bytes);
  if (begins(bytes, V1_START)) return parseV1(bytes);
  return { found: 'none' };
}

function parseV1(bytes: Buffer): ProxyHeader {
  const end = bytes.indexOf('\r\n');
  if (end < 0 && bytes.length < V1_LONGEST) return { found: 'more' };
  if (end < 0 || end + 2 > V1_LONGEST) return { found: 'bad', why: 'a version 1 header without an end' };
  const match = V1_PATTERN.exec(bytes.toString('latin1', 0, end + 2));
  const [, family, source] = match ?? [];
  const isAddress = family === undefined || isIP(source ?? '') === Number(family.slice(-1));
  if (!match || !isAddress) return { found: 'bad', why: 'a version 1 header that cannot be read' };
  return { found: 'header', length: end + 2, source };
}

function parseV2(bytes: Buffer): ProxyHeader {
  const version = bytes[12]! >> 4;
  const command = bytes[12]! & 0xf;
  const family = bytes[13]! >> 4;
  const size = bytes.readUInt16BE(14);
  if (version !== 2 || command > 1) return { found: 'bad', why: `version ${version}, command ${command}` };
  if (size > V2_LONGEST) return { found: 'bad', why: `a header of ${size} bytes` };
  const length = V2_FIXED + size;
  if (bytes.length < length) return { found: 'more' };
  const addresses = bytes.subarray(V2_FIXED, length);
  return { found: 'header', length, source: command === 1 ? sourceOf(family, addresses) : undefined };
}

function sourceOf(family: number, addresses: Buffer): string | undefined {
  if (family === 1 && addresses.length >= 12) return [...addresses.subarray(0, 4)].join('.');
  if (family !== 2 || addresses.length < 36) return undefined;
  const groups = Array.from({ length: 8 }, (_, i) => addresses.readUInt16BE(i * 2).toString(16));
  return groups.join(':');
}
