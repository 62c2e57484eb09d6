import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { lz4Compress } from '@platformatic/wasm-utils';
import { messageOf } from '../../ops/errors.ts';
import { MalformedMessage } from '../malformed.ts';
import { isResting, runInThread } from './compression-thread.ts';
import { lz4Decompress } from './lz4.ts';
import { snappyCompress, snappyDecompress } from './snappy.ts';

/** The compressions of record batches, in the order of their numbers on the wire. */
export const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

interface Codec {
  compress(data: Buffer): Buffer;
  decompress(data: Buffer, limit: number): Buffer;
  /** So many bytes are compressed, or come of decompressing, within a few milliseconds: not worth another thread. */
  compressAtOnce: number;
  decompressAtOnce: number;
}

type Unpack = (data: Buffer, options: { maxOutputLength: number; chunkSize: number }) => Buffer;

/** How much zlib gives at a time: after each piece it looks whether that is too much by now. */
const CHUNK = 128 * 1024;

const zlibCodec = (kind: Compression, compress: Codec['compress'], unpack: Unpack): Codec => ({
  compress,
  decompress(data, limit) {
    try {
      return unpack(data, { maxOutputLength: limit, chunkSize: Math.min(CHUNK, Math.max(limit, 1024)) });
    } catch (error) {
      throw new MalformedMessage(`${kind} data`, messageOf(error), 0); // zlib's own errors, as ours
    }
  },
  compressAtOnce: 32 * 1024,
  decompressAtOnce: 256 * 1024,
});

/** Those of JavaScript and WebAssembly. */
const fastCodec = (compress: Codec['compress'], decompress: Codec['decompress']): Codec => ({
  compress,
  decompress,
  compressAtOnce: 1024 * 1024,
  decompressAtOnce: 1024 * 1024,
});

const CODECS: Record<Exclude<Compression, 'none'>, Codec> = {
  gzip: zlibCodec('gzip', gzipSync, gunzipSync),
  snappy: fastCodec(snappyCompress, snappyDecompress),
  lz4: fastCodec(lz4Compress, lz4Decompress),
  zstd: zlibCodec('zstd', zstdCompressSync, zstdDecompressSync),
};

/** Compresses the records of a batch. */
export function compress(kind: Compression, data: Buffer): Buffer {
  return kind === 'none' || data.length === 0 ? data : CODECS[kind].compress(data);
}

/** Decompresses the records of a batch; throws MalformedMessage if they are broken or more than `limit` bytes. */
export function decompress(kind: Compression, data: Buffer, limit: number): Buffer {
  return kind === 'none' || data.length === 0 ? data : CODECS[kind].decompress(data, limit);
}

/**
 * Compresses without keeping this thread from anything else for more than a few milliseconds. What takes longer is done in
 * another, in which owners take turns.
 */
export function compressAside(kind: Compression, data: Buffer, owner: object): Buffer | Promise<Buffer> {
  if (kind === 'none' || data.length === 0) return data;
  const codec = CODECS[kind];
  if (data.length <= codec.compressAtOnce) return codec.compress(data);
  return runInThread({ kind, work: 'compress', data, limit: 0 }, owner);
}

/** Decompresses as `decompress` does, and as `compressAside` without keeping this thread from anything else. */
export function decompressAside(
  kind: Compression,
  data: Buffer,
  limit: number,
  owner: object,
): Buffer | Promise<Buffer> {
  if (kind === 'none' || data.length === 0) return data;
  const codec = CODECS[kind];
  const aside = () => runInThread({ kind, work: 'decompress', data, limit }, owner);
  const atOnce = Math.min(limit, codec.decompressAtOnce);
  // How much it will be is known only when it has been tried: what is short seldom becomes long.
  if (data.length > codec.decompressAtOnce / 2 || isResting(owner)) return aside();
  try {
    return codec.decompress(data, atOnce);
  } catch (error) {
    if (atOnce === limit || !(error instanceof MalformedMessage)) throw error;
    return aside();
  }
}
