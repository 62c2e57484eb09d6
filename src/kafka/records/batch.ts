import { MalformedMessage } from '../malformed.ts';
import { Reader } from '../reader.ts';
import { checksumOf } from './checksum.ts';
import { COMPRESSIONS, decompress } from './compression.ts';
import type { Compression } from './compression.ts';
import { readLegacy } from './legacy.ts';

/**
 * What stands in a `records` field: batches, one after the other.
 *
 *   0 baseOffset int64     8 length int32, of what follows    12 partitionLeaderEpoch int32    16 magic int8
 *   17 crc uint32, CRC-32C of what follows    21 attributes int16    23 lastOffsetDelta int32
 *   27 baseTimestamp int64    35 maxTimestamp int64    43 producerId int64    51 producerEpoch int16
 *   53 baseSequence int32    57 count int32    61 records, compressed as one
 */

export const HEADER_LENGTH = 61;
export const ATTRIBUTE = {
  compression: 7,
  logAppendTime: 8,
  transactional: 16,
  control: 32,
  deleteHorizon: 64,
};
const PREFIX_LENGTH = 12;
const MAGIC_AT = 16;
const SMALLEST_LEGACY = 14;
const SMALLEST_HEADER = 2;
/** One of two bytes becomes an object of a hundred: no client has so many that it means. */
const MOST_HEADERS = 100_000;

/** Enough for any sane batch, and little enough that a crafted one does no harm. */
export const MAX_DECOMPRESSED = 64 * 1024 * 1024;

export interface RecordHeader {
  key: string;
  value: Buffer | null;
}

/** A record; keys and values are views, and so are those of headers. */
export interface KafkaRecord {
  offsetDelta: number;
  /** From the batch's `baseTimestamp`; see `timestampOf`. */
  timestampDelta: number;
  key: Buffer | null;
  value: Buffer | null;
  headers: RecordHeader[];
}

/** What a batch says of its records. */
export interface BatchHead {
  baseOffset: bigint;
  /** May be past the last record's, where compaction has removed some. */
  lastOffsetDelta: number;
  partitionLeaderEpoch: number;
  compression: Compression;
  timestampType: 'CreateTime' | 'LogAppendTime';
  transactional: boolean;
  control: boolean;
  deleteHorizon: boolean;
  baseTimestamp: bigint;
  maxTimestamp: bigint;
  producerId: bigint;
  producerEpoch: number;
  baseSequence: number;
}

export interface RecordBatch extends BatchHead {
  magic: number;
  count: number;
  /** The whole batch, as it came. */
  bytes: Buffer;
  /** Decompresses and decodes, record by record. Throws MalformedMessage. */
  records: () => Iterable<KafkaRecord>;
}

export interface ReadOptions {
  /** Whether to compare checksums: whoever writes a batch anew must, or a broken one comes out looking whole. */
  verify?: boolean;
  maxDecompressed?: number;
}

export const offsetOf = (batch: BatchHead, record: KafkaRecord): bigint =>
  batch.baseOffset + BigInt(record.offsetDelta);

/** A record's time; with LogAppendTime that of the batch. */
export const timestampOf = (batch: BatchHead, record: KafkaRecord): bigint =>
  batch.timestampType === 'LogAppendTime'
    ? batch.maxTimestamp
    : batch.baseTimestamp + BigInt(record.timestampDelta);

/** A batch, or a message of before there were batches, that nobody has looked into. */
export interface UnreadBatch {
  magic: number;
  bytes: Buffer;
}

/** The batches of a `records` field, one by one, without a look into them; what is cut off at the end comes back last. */
export function* eachBatch(bytes: Buffer): Generator<UnreadBatch, Buffer, undefined> {
  let at = 0;
  while (bytes.length - at > MAGIC_AT) {
    const length = bytes.readInt32BE(at + 8);
    const magic = bytes[at + MAGIC_AT]!;
    const smallest = magic < 2 ? SMALLEST_LEGACY : HEADER_LENGTH - PREFIX_LENGTH;
    if (magic > 2) throw new MalformedMessage('record batch', `unknown magic ${magic}`, at + MAGIC_AT);
    if (length < smallest) throw new MalformedMessage('record batch', `a length of ${length}`, at + 8);
    if (length > bytes.length - at - PREFIX_LENGTH) break;
    yield { magic, bytes: bytes.subarray(at, at + PREFIX_LENGTH + length) };
    at += PREFIX_LENGTH + length;
  }
  return bytes.subarray(at);
}

/** Cuts a `records` field into its batches and does not look into them. What is cut off at the end is `rest`. */
export function cutBatches(bytes: Buffer, maxBatches = Infinity): { unread: UnreadBatch[]; rest: Buffer } {
  const unread: UnreadBatch[] = [];
  const batches = eachBatch(bytes);
  for (let at = 0; ;) {
    const next = batches.next();
    if (next.done) return { unread, rest: next.value };
    if (unread.length === maxBatches)
      throw new MalformedMessage('records', `more than ${maxBatches} batches`, at);
    unread.push(next.value);
    at += next.value.bytes.length;
  }
}

/**
 * Splits a `records` field into its batches. A fetched field may end within one, as brokers send what fits: that part
 * is `rest`. In a produced field it must be empty.
 */
export function readBatches(
  bytes: Buffer,
  { verify = true, maxDecompressed = MAX_DECOMPRESSED }: ReadOptions = {},
): { batches: RecordBatch[]; rest: Buffer } {
  const { unread, rest } = cutBatches(bytes);
  const batches = unread.map((each) =>
    (each.magic < 2 ? readLegacy : readBatch)(each.bytes, verify, maxDecompressed),
  );
  return { batches, rest };
}

/** Reads the head of a batch (magic 2). */
export function readBatch(bytes: Buffer, verify = true, limit = MAX_DECOMPRESSED): RecordBatch {
  const reader = new Reader(bytes, 0, bytes.length, 'record batch');
  const baseOffset = reader.int64();
  reader.take(4);
  const partitionLeaderEpoch = reader.int32();
  const magic = reader.int8();
  const checksum = reader.uint32();
  if (verify && checksum !== checksumOf(bytes)) reader.fail('the checksum does not match');
  const attributes = reader.int16();
  const compression = COMPRESSIONS[attributes & ATTRIBUTE.compression];
  if (compression === undefined) return reader.fail('an unknown compression');
  const batch: RecordBatch = {
    magic,
    bytes,
    baseOffset,
    partitionLeaderEpoch,
    compression,
    timestampType: attributes & ATTRIBUTE.logAppendTime ? 'LogAppendTime' : 'CreateTime',
    transactional: (attributes & ATTRIBUTE.transactional) !== 0,
    control: (attributes & ATTRIBUTE.control) !== 0,
    deleteHorizon: (attributes & ATTRIBUTE.deleteHorizon) !== 0,
    lastOffsetDelta: reader.int32(),
    baseTimestamp: reader.int64(),
    maxTimestamp: reader.int64(),
    producerId: reader.int64(),
    producerEpoch: reader.int16(),
    baseSequence: reader.int32(),
    count: reader.int32(),
    records: () => readRecords(compression, bytes.subarray(HEADER_LENGTH), batch.count, limit),
  };
  if (batch.count < 0) reader.fail(`${batch.count} records`);
  return batch;
}

function* readRecords(
  compression: Compression,
  body: Buffer,
  count: number,
  limit: number,
): Generator<KafkaRecord, void, undefined> {
  const bytes = decompress(compression, body, limit);
  const reader = new Reader(bytes, 0, bytes.length, 'records');
  for (let i = 0; i < count; i++) yield readRecord(reader);
  if (reader.at !== reader.end) reader.fail(`${reader.end - reader.at} bytes after the last record`);
}

/** length varint, attributes int8, timestampDelta varlong, offsetDelta varint, key, value, headers. */
function readRecord(reader: Reader): KafkaRecord {
  const length = reader.varint();
  const end = reader.at + length;
  reader.take(1); // attributes: none is defined
  const record = {
    timestampDelta: reader.varlong(),
    offsetDelta: reader.varint(),
    key: readBytes(reader),
    value: readBytes(reader),
    headers: readHeaders(reader),
  };
  if (reader.at !== end) reader.fail(`a record that is not ${length} bytes long`);
  return record;
}

function readBytes(reader: Reader): Buffer | null {
  const length = reader.varint();
  if (length < 0) return null;
  const start = reader.take(length);
  return reader.bytes.subarray(start, start + length);
}

function readHeaders(reader: Reader): RecordHeader[] {
  const count = reader.varint();
  if (count < 0 || count > MOST_HEADERS || count * SMALLEST_HEADER > reader.end - reader.at)
    reader.fail(`${count} headers`);
  const headers: RecordHeader[] = [];
  for (let i = 0; i < count; i++) {
    const length = reader.varint();
    const start = reader.take(length);
    headers.push({ key: reader.bytes.toString('utf8', start, start + length), value: readBytes(reader) });
  }
  return headers;
}
