import { varintSize, varlongSize } from '../../ops/varint.ts';
import { Writer } from '../writer.ts';
import { ATTRIBUTE, HEADER_LENGTH } from './batch.ts';
import type { BatchHead, KafkaRecord } from './batch.ts';
import { checksumInTurns, checksumOf } from './checksum.ts';
import { COMPRESSIONS, compress } from './compression.ts';

/**
 * A batch (magic 2) of these records. What `head` leaves out is as in a batch of a plain producer; a batch that was
 * read may stand for it, so that `encodeBatch(batch, [...batch.records()])` says the same again.
 */
export function encodeBatch(head: Partial<BatchHead>, records: readonly KafkaRecord[]): Buffer {
  const { compression = 'none' } = head;
  const room = compression === 'none' ? HEADER_LENGTH : 0;
  const writer = new Writer(room, 256 + records.length * 32);
  const written: Written = { count: 0, latest: 0 };
  for (const record of records) addRecord(writer, written, record);
  const body = writer.done();
  const batch =
    compression === 'none'
      ? body
      : Buffer.concat([Buffer.allocUnsafe(HEADER_LENGTH), compress(compression, body)]);
  writeHead(batch, head, written);
  batch.writeUInt32BE(checksumOf(batch), CHECKSUM_AT);
  return batch;
}

/** A batch (magic 2) that is written record by record. */
export interface BatchWriter {
  /** Of what has been written. */
  readonly length: number;
  add(record: KafkaRecord): void;
  /** The batch; others get their turns while its checksum is made. */
  done(yieldTurn: () => Promise<void>): Promise<Buffer>;
}

/** Writes a batch without compression, of however many records: none of them is kept. */
export function createBatchWriter(head: Partial<BatchHead> & { compression: 'none' }): BatchWriter {
  const writer = new Writer(HEADER_LENGTH);
  const written: Written = { count: 0, latest: 0 };
  return {
    get length() {
      return writer.at;
    },
    add: (record) => addRecord(writer, written, record),
    async done(yieldTurn) {
      const batch = writer.done();
      writeHead(batch, head, written);
      batch.writeUInt32BE(await checksumInTurns(batch, yieldTurn), CHECKSUM_AT);
      return batch;
    },
  };
}

/** What the head of a batch says of its records. */
interface Written {
  count: number;
  /** The largest difference of a record's time from the first one's. */
  latest: number;
}

function addRecord(writer: Writer, written: Written, record: KafkaRecord): void {
  writeRecord(writer, record);
  written.count += 1;
  written.latest = Math.max(written.latest, record.timestampDelta);
}

const CHECKSUM_AT = 17;

/** Fills in the first 61 bytes, but for the checksum. */
function writeHead(batch: Buffer, head: Partial<BatchHead>, { count, latest }: Written): void {
  const baseTimestamp = head.baseTimestamp ?? -1n;
  const lastOffsetDelta = head.lastOffsetDelta ?? Math.max(0, count - 1);
  batch.writeBigInt64BE(head.baseOffset ?? 0n, 0);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt32BE(head.partitionLeaderEpoch ?? -1, 12);
  batch.writeInt8(2, 16);
  batch.writeInt16BE(attributesOf(head), 21);
  batch.writeInt32BE(lastOffsetDelta, 23);
  batch.writeBigInt64BE(baseTimestamp, 27);
  batch.writeBigInt64BE(head.maxTimestamp ?? baseTimestamp + BigInt(latest), 35);
  batch.writeBigInt64BE(head.producerId ?? -1n, 43);
  batch.writeInt16BE(head.producerEpoch ?? -1, 51);
  batch.writeInt32BE(head.baseSequence ?? -1, 53);
  batch.writeInt32BE(count, 57);
}

function attributesOf(head: Partial<BatchHead>): number {
  let attributes = COMPRESSIONS.indexOf(head.compression ?? 'none');
  if (head.timestampType === 'LogAppendTime') attributes |= ATTRIBUTE.logAppendTime;
  if (head.transactional) attributes |= ATTRIBUTE.transactional;
  if (head.control) attributes |= ATTRIBUTE.control;
  if (head.deleteHorizon) attributes |= ATTRIBUTE.deleteHorizon;
  return attributes;
}

const bytesLength = (bytes: Buffer | null): number =>
  bytes === null ? 1 : varintSize(bytes.length) + bytes.length;

/** What the record takes behind its length: that comes first, and moving the record for it would cost more. */
function recordLength(record: KafkaRecord): number {
  let length = 1 + varlongSize(record.timestampDelta) + varintSize(record.offsetDelta);
  length += bytesLength(record.key) + bytesLength(record.value) + varintSize(record.headers.length);
  for (const { key, value } of record.headers) {
    const bytes = Buffer.byteLength(key);
    length += varintSize(bytes) + bytes + bytesLength(value);
  }
  return length;
}

function writeRecord(writer: Writer, record: KafkaRecord): void {
  writer.varint(recordLength(record));
  writer.int8(0); // attributes: none is defined
  writer.varlong(record.timestampDelta);
  writer.varint(record.offsetDelta);
  writeBytes(writer, record.key);
  writeBytes(writer, record.value);
  writer.varint(record.headers.length);
  for (const { key, value } of record.headers) {
    const length = Buffer.byteLength(key);
    writer.varint(length);
    writer.text(key, length);
    writeBytes(writer, value);
  }
}

function writeBytes(writer: Writer, bytes: Buffer | null): void {
  writer.varint(bytes === null ? -1 : bytes.length);
  if (bytes !== null) writer.raw(bytes);
}
