import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { lz4Compress } from '@platformatic/wasm-utils';
import { MalformedMessage } from '../malformed.ts';
import { lz4Decompress } from './lz4.ts';
import { snappyCompress, snappyDecompress } from './snappy.ts';

/** The compressions of record batches, in the order of their numbers on the wire. */
export const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

interface Codec {
  compress(data: Buffer): Buffer;
  decompress(data: Buffer, limit: number): Buffer;
}

const CODECS: Record<Compression, Codec> = {
  none: { compress: (data) => data, decompress: (data) => data },
  gzip: {
    compress: (data) => gzipSync(data),
    decompress: (data, limit) => inflate('gzip', () => gunzipSync(data, { maxOutputLength: limit })),
  },
  snappy: { compress: snappyCompress, decompress: snappyDecompress },
  lz4: { compress: lz4Compress, decompress: lz4Decompress },
  zstd: {
    compress: (data) => zstdCompressSync(data),
    decompress: (data, limit) => inflate('zstd', () => zstdDecompressSync(data, { maxOutputLength: limit })),
  },
};

/** zlib's own errors, as ours. */
function inflate(kind: Compression, work: () => Buffer): Buffer {
  try {
    return work();
  } catch (error) {
    throw new MalformedMessage(`${kind} data`, error instanceof Error ? error.message : String(error), 0);
  }
}

/** Compresses the records of a batch. */
export function compress(kind: Compression, data: Buffer): Buffer {
  return data.length === 0 ? data : CODECS[kind].compress(data);
}

/** Decompresses the records of a batch; throws MalformedMessage if they are broken or more than `limit` bytes. */
export function decompress(kind: Compression, data: Buffer, limit: number): Buffer {
  return data.length === 0 ? data : CODECS[kind].decompress(data, limit);
}
