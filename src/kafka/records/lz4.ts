import { MalformedMessage } from '../malformed.ts';

/**
 * LZ4 frames, read only (the writer is WebAssembly). Written here because the data comes from strangers: the WebAssembly
 * decoder leaks memory at every malformed input, and no decoder of a whole frame lets us bound what comes out.
 *
 *   magic 04224d18, FLG, BD, [content size 8], [dictionary 4], header checksum 1,
 *   blocks: size (top bit: stored as is), data, [checksum 4]; size 0 ends; [content checksum 4]
 *
 * Checksums are skipped: Kafka's batches have their own, and its oldest clients wrote a wrong one in the header.
 */

const MAGIC = 0x18_4d_22_04;
const STORED = 0x8000_0000;

const fail = (reason: string, at: number): never => {
  throw new MalformedMessage('lz4 data', reason, at);
};

interface Frame {
  blockChecksum: boolean;
  contentChecksum: boolean;
  largestBlock: number;
  start: number;
}

function readHeader(source: Buffer): Frame {
  if (source.length < 7 || source.readUInt32LE(0) !== MAGIC) fail('no frame', 0);
  const flags = source[4]!;
  const blockSize = (source[5]! >> 4) & 7;
  if (flags >> 6 !== 1 || blockSize < 4) fail('an unknown kind of frame', 4);
  const contentSize = flags & 8 ? 8 : 0;
  const dictionary = flags & 1 ? 4 : 0;
  return {
    blockChecksum: (flags & 16) !== 0,
    contentChecksum: (flags & 4) !== 0,
    largestBlock: 1 << (8 + 2 * blockSize),
    start: 7 + contentSize + dictionary,
  };
}

/** Decompresses a frame into at most `limit` bytes. */
export function lz4Decompress(source: Buffer, limit: number): Buffer {
  const frame = readHeader(source);
  let output: Buffer = Buffer.alloc(0);
  let written = 0;
  let at = frame.start;
  for (;;) {
    if (at + 4 > source.length) fail('the frame has no end', at);
    const word = source.readUInt32LE(at);
    at += 4;
    if (word === 0) break;
    const stored = word >= STORED;
    const size = stored ? word - STORED : word;
    if (size > source.length - at) fail(`a block of ${size} bytes, ${source.length - at} left`, at);
    const room = stored ? size : Math.min(frame.largestBlock, size * 255);
    if (written + room > output.length) output = grow(output, written, written + room);
    if (stored) written += source.copy(output, written, at, at + size);
    else written = readBlock(source, at, at + size, output, written, written + room);
    if (written > limit) fail(`more than ${limit} bytes when decompressed`, at);
    at += size + (frame.blockChecksum ? 4 : 0);
  }
  if (at + (frame.contentChecksum ? 4 : 0) !== source.length) fail('bytes after the frame', at);
  return output.subarray(0, written);
}

function grow(output: Buffer, written: number, needed: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(needed, output.length * 2));
  output.copy(larger, 0, 0, written);
  return larger;
}

/** Decompresses one block; matches may reach back into earlier blocks. Returns where the output ends. */
function readBlock(
  source: Buffer,
  from: number,
  to: number,
  output: Buffer,
  start: number,
  room: number,
): number {
  let at = from;
  let out = start;
  for (;;) {
    if (at >= to) fail('a block ends within a sequence', at);
    const token = source[at++]!;
    let literals = token >> 4;
    if (literals === 15) {
      let more = 255;
      while (more === 255 && at < to) literals += more = source[at++]!;
    }
    if (literals > to - at || literals > room - out) fail('literals beyond the end', at);
    out = copyLiterals(source, at, literals, output, out);
    at += literals;
    if (at === to) return out;
    if (at + 2 > to) fail('a block ends within a sequence', at);
    const distance = source[at]! | (source[at + 1]! << 8);
    at += 2;
    let length = (token & 15) + 4;
    if (length === 19) {
      let more = 255;
      while (more === 255 && at < to) length += more = source[at++]!;
    }
    if (distance === 0 || distance > out || length > room - out) fail('a match outside of the output', at);
    out = copyMatch(output, out, distance, length);
  }
}

/** Copies short runs byte by byte: a call into native code costs more than fifty of them. */
function copyLiterals(source: Buffer, at: number, length: number, output: Buffer, out: number): number {
  if (length <= 64) for (let i = 0; i < length; i++) output[out + i] = source[at + i]!;
  else source.copy(output, out, at, at + length);
  return out + length;
}

/** Repeats what is `distance` bytes back; the two may overlap, which repeats a pattern. */
function copyMatch(output: Buffer, out: number, distance: number, length: number): number {
  const from = out - distance;
  if (length <= 64 || distance < length) for (let i = 0; i < length; i++) output[out + i] = output[from + i]!;
  else output.copyWithin(out, from, from + length);
  return out + length;
}
