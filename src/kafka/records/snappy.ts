import {
  snappyCompress as compressChunk,
  snappyDecompress as decompressChunk,
} from '@platformatic/wasm-utils';
import { MalformedMessage } from '../malformed.ts';
import { Reader } from '../reader.ts';

/**
 * Snappy as Kafka has it: Java writes the "xerial" framing (a header, then chunks with their lengths), others may write
 * one raw chunk, and every reader takes both. The WebAssembly decoder leaks memory at every malformed input until it
 * breaks, so it is given nothing but chunks that were walked through first: that costs a tenth of the decoding.
 */

const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
const MAGIC_LENGTH = 8;
const CHUNK = 32 * 1024;
const WHAT = 'snappy data';

const fail = (reason: string, at: number): never => {
  throw new MalformedMessage(WHAT, reason, at);
};

/** Compresses with the framing that all of Kafka's clients read. */
export function snappyCompress(data: Buffer): Buffer {
  const parts: Buffer[] = [XERIAL];
  for (let at = 0; at < data.length; at += CHUNK) {
    const chunk = compressChunk(data.subarray(at, at + CHUNK));
    const length = Buffer.allocUnsafe(4);
    length.writeInt32BE(chunk.length);
    parts.push(length, chunk);
  }
  return Buffer.concat(parts);
}

/** Decompresses framed or raw data into at most `limit` bytes. */
export function snappyDecompress(source: Buffer, limit: number): Buffer {
  const framed =
    source.length >= XERIAL.length && source.compare(XERIAL, 0, MAGIC_LENGTH, 0, MAGIC_LENGTH) === 0;
  if (!framed) return readChunk(source, 0, source.length, limit);
  const chunks: Buffer[] = [];
  let total = 0;
  for (let at = XERIAL.length; at < source.length;) {
    if (at + 4 > source.length) fail('a chunk without a length', at);
    const length = source.readInt32BE(at);
    at += 4;
    if (length < 0 || length > source.length - at) fail(`a chunk of ${length} bytes`, at);
    const chunk = readChunk(source, at, at + length, limit - total);
    chunks.push(chunk);
    total += chunk.length;
    at += length;
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, total);
}

function readChunk(source: Buffer, from: number, to: number, limit: number): Buffer {
  const reader = new Reader(source, from, to, WHAT);
  const size = reader.unsignedVarint();
  if (size > limit) fail(`more than ${limit} bytes when decompressed`, from);
  const found = sizeOfElements(source, reader.at, to);
  if (found !== size) fail(`${found} bytes instead of ${size}`, to);
  return decompressChunk(source.subarray(from, to));
}

/** Walks the literals and copies, checks that each is possible, and returns how many bytes come out. */
function sizeOfElements(source: Buffer, from: number, to: number): number {
  let at = from;
  let out = 0;
  while (at < to) {
    const tag = source[at++]!;
    const kind = tag & 3;
    let length = (tag >> 2) + 1;
    if (kind === 0) {
      const extra = length > 60 ? length - 60 : 0;
      if (extra > 0) length = littleEndian(source, at, to, extra) + 1;
      at += extra + length;
      if (at > to) fail('literals beyond the end', at);
    } else {
      const bytes = kind === 3 ? 4 : kind;
      let distance = littleEndian(source, at, to, bytes);
      if (kind === 1) {
        distance += (tag >> 5) * 256;
        length = ((tag >> 2) & 7) + 4;
      }
      at += bytes;
      if (distance === 0 || distance > out) fail('a copy of what is not there', at);
    }
    out += length;
  }
  return out;
}

function littleEndian(source: Buffer, at: number, to: number, bytes: number): number {
  if (at + bytes > to) fail('an element is cut off', at);
  let number = source[at]!;
  if (bytes > 1) number |= source[at + 1]! << 8;
  if (bytes > 2) number |= source[at + 2]! << 16;
  return bytes > 3 ? number + source[at + 3]! * 0x100_0000 : number;
}
