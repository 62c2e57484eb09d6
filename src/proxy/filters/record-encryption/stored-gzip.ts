/**
 * Gzip (RFC 1952) of two parts: bytes that do not compress, in stored blocks, and behind them small records that do. What a
 * broker reads is an ordinary gzip stream, and nobody has spent time on compressing ciphertext; whoever wants only the
 * first part finds it without decompressing anything.
 */
import { crc32 } from 'node:zlib';
import { deflateRecords } from './record-deflate.ts';
import type { YieldTurn } from './time-slice.ts';

/** Deflate, no flags, no time, no level, unknown system. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
const TRAILER_BYTES = 8;
const MOST_STORED = 0xffff;
const STORED_HEAD_BYTES = 5;
/** The first byte of a stored block that is not the last: nothing precedes it in that byte. */
const STORED = 0;

/** Gzip of both parts, with `headRoom` free bytes before it. */
export async function storedGzip(
  stored: Buffer,
  records: Buffer,
  yieldTurn: YieldTurn,
  headRoom = 0,
): Promise<Buffer> {
  const packed = await deflateRecords(records, yieldTurn);
  const blocks = Math.ceil(stored.length / MOST_STORED);
  const size = HEAD.length + blocks * STORED_HEAD_BYTES + stored.length + packed.length + TRAILER_BYTES;
  const gzip = Buffer.allocUnsafeSlow(headRoom + size);
  let at = headRoom + HEAD.copy(gzip, headRoom);
  for (let from = 0; from < stored.length; from += MOST_STORED) {
    const length = Math.min(MOST_STORED, stored.length - from);
    at = gzip.writeUInt8(STORED, at);
    at = gzip.writeUInt16LE(length, at);
    at = gzip.writeUInt16LE(length ^ MOST_STORED, at);
    at += stored.copy(gzip, at, from, from + length);
  }
  at += packed.copy(gzip, at);
  at = gzip.writeUInt32LE(crc32(records, crc32(stored)), at);
  gzip.writeUInt32LE((stored.length + records.length) >>> 0, at);
  return gzip;
}

/**
 * The first part of such a stream, a view where it is in one block; undefined if the stream was made by somebody else.
 * Nothing is checked but its form: whoever uses it has other means to know that it is right.
 */
export function storedPart(gzip: Buffer): Buffer | undefined {
  if (gzip.length < HEAD.length || HEAD.compare(gzip, 0, HEAD.length) !== 0) return undefined;
  const parts: Buffer[] = [];
  let at = HEAD.length;
  while (at + STORED_HEAD_BYTES <= gzip.length && gzip[at] === STORED) {
    const length = gzip.readUInt16LE(at + 1);
    at += STORED_HEAD_BYTES;
    if (length === 0 || length > gzip.length - at) return undefined;
    parts.push(gzip.subarray(at, at + length));
    at += length;
  }
  return parts.length === 1 ? parts[0] : parts.length > 1 ? Buffer.concat(parts) : undefined;
}
