import {
  gunzip,
  gunzipSync,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib';
import { promisify } from 'node:util';
import { lz4Compress } from '@platformatic/wasm-utils';
import { MalformedMessage } from '../malformed.ts';
import { runInThread } from './compression-thread.ts';
import { lz4Decompress } from './lz4.ts';
import { snappyCompress, snappyDecompress } from './snappy.ts';

/** The compressions of record batches, in the order of their numbers on the wire. */
export const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

interface Codec {
  compress(data: Buffer): Buffer;
  decompress(data: Buffer, limit: number): Buffer;
  /** The same in another thread. */
  compressAside(data: Buffer): Promise<Buffer>;
  decompressAside(data: Buffer, limit: number): Promise<Buffer>;
  /** So many bytes are compressed, or come of decompressing, within a few milliseconds: not worth another thread. */
  compressAtOnce: number;
  decompressAtOnce: number;
}

type Zlib = (data: Buffer, options: { maxOutputLength?: number; chunkSize: number }) => Promise<Buffer>;

/** How much zlib gives at a time: after each piece it looks whether that is too much by now. */
const chunkSize = 128 * 1024;

function zlibCodec(
  kind: Compression,
  sync: {
    compress: (data: Buffer) => Buffer;
    decompress: (data: Buffer, options: { maxOutputLength: number }) => Buffer;
  },
  aside: { compress: Zlib; decompress: Zlib },
): Codec {
  return {
    compress: sync.compress,
    decompress: (data, maxOutputLength) => {
      try {
        return sync.decompress(data, { maxOutputLength });
      } catch (error) {
        throw malformed(kind, error);
      }
    },
    compressAside: (data) => aside.compress(data, { chunkSize }),
    decompressAside: (data, maxOutputLength) =>
      aside.decompress(data, { maxOutputLength, chunkSize }).catch((error: unknown) => {
        throw malformed(kind, error);
      }),
    compressAtOnce: 32 * 1024,
    decompressAtOnce: 256 * 1024,
  };
}

/** zlib's own errors, as ours. */
const malformed = (kind: Compression, error: unknown) =>
  new MalformedMessage(`${kind} data`, error instanceof Error ? error.message : String(error), 0);

/** LZ4 and Snappy are JavaScript and WebAssembly. */
const threadCodec = (
  kind: 'lz4' | 'snappy',
  compress: Codec['compress'],
  decompress: Codec['decompress'],
): Codec => ({
  compress,
  decompress,
  compressAside: (data) => runInThread({ kind, work: 'compress', data, limit: 0 }),
  decompressAside: (data, limit) => runInThread({ kind, work: 'decompress', data, limit }),
  compressAtOnce: 1024 * 1024,
  decompressAtOnce: 1024 * 1024,
});

const CODECS: Record<Exclude<Compression, 'none'>, Codec> = {
  gzip: zlibCodec(
    'gzip',
    { compress: gzipSync, decompress: gunzipSync },
    { compress: promisify(gzip), decompress: promisify(gunzip) },
  ),
  snappy: threadCodec('snappy', snappyCompress, snappyDecompress),
  lz4: threadCodec('lz4', lz4Compress, lz4Decompress),
  zstd: zlibCodec(
    'zstd',
    { compress: zstdCompressSync, decompress: zstdDecompressSync },
    { compress: promisify(zstdCompress), decompress: promisify(zstdDecompress) },
  ),
};

/** Compresses the records of a batch. */
export function compress(kind: Compression, data: Buffer): Buffer {
  return kind === 'none' || data.length === 0 ? data : CODECS[kind].compress(data);
}

/** Decompresses the records of a batch; throws MalformedMessage if they are broken or more than `limit` bytes. */
export function decompress(kind: Compression, data: Buffer, limit: number): Buffer {
  return kind === 'none' || data.length === 0 ? data : CODECS[kind].decompress(data, limit);
}

/** Compresses without keeping this thread from anything else for more than a few milliseconds. */
export function compressAside(kind: Compression, data: Buffer): Buffer | Promise<Buffer> {
  if (kind === 'none' || data.length === 0) return data;
  const codec = CODECS[kind];
  return data.length <= codec.compressAtOnce ? codec.compress(data) : codec.compressAside(data);
}

/** Decompresses as `decompress` does, and without keeping this thread from anything else for more than a few milliseconds. */
export function decompressAside(kind: Compression, data: Buffer, limit: number): Buffer | Promise<Buffer> {
  if (kind === 'none' || data.length === 0) return data;
  const codec = CODECS[kind];
  const atOnce = Math.min(limit, codec.decompressAtOnce);
  // How much it will be is known only when it has been tried: what is short seldom becomes long.
  if (data.length > codec.decompressAtOnce / 2) return codec.decompressAside(data, limit);
  try {
    return codec.decompress(data, atOnce);
  } catch (error) {
    if (atOnce === limit || !(error instanceof MalformedMessage)) throw error;
    return codec.decompressAside(data, limit);
  }
}
