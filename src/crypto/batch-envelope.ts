/**
 * The envelope of `isthmus/1`: the records of one batch, sealed together as their producer has compressed them.
 *
 *   1 byte   version: 1
 *   1 byte   cipher: 0 = AES-256-GCM with a 128-bit tag
 *   1 byte   compression of the sealed records, by its number in a batch
 *   8 bytes  base timestamp of the batch
 *   unsigned length of the wrapped data key, and the wrapped data key
 *   12 bytes IV
 *   rest     ciphertext of the records, 16 bytes tag
 *
 * The tag also covers `additionalData`: where the batch belongs, and what it says of its records. What brokers set, which is
 * the base offset, the leader's epoch, the type of timestamps and their maximum, cannot be covered.
 */
import { unsignedVarintSize, writeUnsignedVarint } from '../ops/varint.ts';
import { IV_BYTES, TAG_BYTES } from './cipher.ts';
import { EnvelopeReader } from './envelope-reader.ts';

export const BATCH_ENVELOPE_VERSION = 1;
const CIPHER_AES_256_GCM_128 = 0;
const FIXED_HEAD = 1 + 1 + 1 + 8;
/** First in all additional data, so that no other use of a data key can be taken for this one. */
const DOMAIN = Buffer.from('isthmus/1\0');
/** Transactional, count, producer id, epoch, base sequence. */
const FACTS_BYTES = 1 + 4 + 8 + 2 + 4;

/** Where a batch belongs. */
export interface BatchPlace {
  topic: string;
  partition: number;
}

/** What a batch says of its records that no broker changes. */
export interface BatchFacts {
  transactional: boolean;
  count: number;
  producerId: bigint;
  producerEpoch: number;
  baseSequence: number;
}

/** Where the parts of an envelope are. */
export interface BatchEnvelope {
  compression: number;
  baseTimestamp: bigint;
  edek: Buffer;
  /** What precedes the IV; part of the additional data. */
  head: Buffer;
  /** Start of the ciphertext; the IV is right before it. */
  start: number;
  /** End of the ciphertext; the tag is right behind it. */
  end: number;
}

/** What precedes the IV. */
export function batchEnvelopeHead(compression: number, baseTimestamp: bigint, edek: Buffer): Buffer {
  const head = Buffer.alloc(FIXED_HEAD + unsignedVarintSize(edek.length) + edek.length);
  head[0] = BATCH_ENVELOPE_VERSION;
  head[1] = CIPHER_AES_256_GCM_128;
  head[2] = compression;
  head.writeBigInt64BE(baseTimestamp, 3);
  edek.copy(head, writeUnsignedVarint(head, FIXED_HEAD, edek.length));
  return head;
}

/** Finds the parts of the envelope at buffer[start..end); throws BadEnvelope. Bytes are views. */
export function readBatchEnvelope(buffer: Buffer, start: number, end: number): BatchEnvelope {
  const reader = new EnvelopeReader(buffer, start, end);
  const fixed = reader.view(FIXED_HEAD);
  const [version, cipher, compression = 0] = fixed;
  if (version !== BATCH_ENVELOPE_VERSION) reader.fail(`version ${version} is not supported`);
  if (cipher !== CIPHER_AES_256_GCM_128) reader.fail(`cipher ${cipher} is not supported`);
  const edek = reader.view(reader.unsignedVarint());
  const head = buffer.subarray(start, reader.at);
  reader.view(IV_BYTES);
  if (end - reader.at < TAG_BYTES) reader.fail('it has no room for its tag');
  const baseTimestamp = fixed.readBigInt64BE(3);
  return { compression, baseTimestamp, edek, head, start: reader.at, end: end - TAG_BYTES };
}

/** What the tag covers beside the records. */
export function additionalData({ topic, partition }: BatchPlace, facts: BatchFacts, head: Buffer): Buffer {
  const name = Buffer.from(topic);
  const data = Buffer.alloc(DOMAIN.length + 2 + name.length + 4 + FACTS_BYTES + head.length);
  let at = DOMAIN.copy(data);
  at = data.writeUInt16BE(name.length, at);
  at += name.copy(data, at);
  at = data.writeInt32BE(partition, at);
  at = data.writeUInt8(facts.transactional ? 1 : 0, at);
  at = data.writeInt32BE(facts.count, at);
  at = data.writeBigInt64BE(facts.producerId, at);
  at = data.writeInt16BE(facts.producerEpoch, at);
  at = data.writeInt32BE(facts.baseSequence, at);
  head.copy(data, at);
  return data;
}
