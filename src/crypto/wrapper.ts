/**
 * The wrapper, version 2: the value of a sealed record.
 *
 *   1 byte   cipher: 0 = AES-256-GCM with a 128-bit tag
 *   unsigned length of the wrapped data key, and the wrapped data key
 *   1 byte   additional authenticated data: 0 = none
 *   12 bytes IV
 *   rest     ciphertext of the parcel, 16 bytes tag
 *
 * Everything before the IV is the same for all records of one data key, so it is made once.
 */
import { unsignedVarintSize, writeUnsignedVarint } from '../ops/varint.ts';
import { IV_BYTES, TAG_BYTES } from './cipher.ts';
import { EnvelopeReader } from './envelope-reader.ts';

/** Marks a sealed record; its value is the one byte of the version. */
export const ENCRYPTION_HEADER = 'kroxylicious.io/encryption';
export const ENCRYPTION_VERSION = 2;

const CIPHER_AES_256_GCM_128 = 0;
const AAD_NONE = 0;
/** The original writes the length from a signed 16-bit number. */
const MAX_EDEK_BYTES = 0x7fff;

/** Where the parts of a wrapper are. */
export interface Wrapper {
  edek: Buffer;
  /** Start of the ciphertext; the IV is right before it. */
  start: number;
  /** End of the ciphertext; the tag is right behind it. */
  end: number;
}

/** What stands before the IV in every record that this wrapped data key seals. */
export function wrapperPrefix(edek: Buffer): Buffer {
  if (edek.length > MAX_EDEK_BYTES) throw new Error(`a wrapped data key of ${edek.length} bytes is too long`);
  const prefix = Buffer.alloc(1 + unsignedVarintSize(edek.length) + edek.length + 1);
  prefix[0] = CIPHER_AES_256_GCM_128;
  const at = writeUnsignedVarint(prefix, 1, edek.length);
  edek.copy(prefix, at);
  prefix[prefix.length - 1] = AAD_NONE;
  return prefix;
}

/** The size of a wrapper around a parcel of this size. */
export function wrapperSize(prefix: Buffer, parcelBytes: number): number {
  return prefix.length + IV_BYTES + parcelBytes + TAG_BYTES;
}

/** Finds the parts of the wrapper at buffer[start..end). The wrapped key is a view. */
export function readWrapper(buffer: Buffer, start: number, end: number): Wrapper {
  const reader = new EnvelopeReader(buffer, start, end);
  const [cipher] = reader.view(1);
  if (cipher !== CIPHER_AES_256_GCM_128) reader.fail(`cipher ${cipher} is not supported`);
  const edek = reader.view(reader.unsignedVarint());
  const [aad] = reader.view(1);
  if (aad !== AAD_NONE) reader.fail(`additional data of kind ${aad} is not supported`);
  reader.view(IV_BYTES);
  if (end - reader.at < TAG_BYTES) reader.fail('it has no room for its tag');
  return { edek, start: reader.at, end: end - TAG_BYTES };
}
