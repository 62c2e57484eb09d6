import { varintSize, varlongSize } from '../../ops/varint.ts';
import { Writer } from '../writer.ts';
import { ATTRIBUTE, HEADER_LENGTH } from './batch.ts';
import type { BatchHead, KafkaRecord } from './batch.ts';
import { checksumOf } from './checksum.ts';
import { COMPRESSIONS, compress } from './compression.ts';

/**
 * A batch (magic 2) of these records. What `head` leaves out is as in a batch of a plain producer; a batch that was
 * read may stand for it, so that `encodeBatch(batch, [...batch.records()])` says the same again.
 */
export function encodeBatch(head: Partial<BatchHead>, records: readonly KafkaRecord[]): Buffer {
  const { compression = 'none' } = head;
  const room = compression === 'none' ? HEADER_LENGTH : 0;
  const writer = new Writer(room, 256 + records.length * 32);
  for (const record of records) writeRecord(writer, record);
  const body = writer.done();
  if (compression === 'none') return writeHead(body, head, records);
  return writeHead(
    Buffer.concat([Buffer.allocUnsafe(HEADER_LENGTH), compress(compression, body)]),
    head,
    records,
  );
}

/** Fills in the first 61 bytes, the checksum last. */
function writeHead(batch: Buffer, head: Partial<BatchHead>, records: readonly KafkaRecord[]): Buffer {
  const baseTimestamp = head.baseTimestamp ?? -1n;
  const lastOffsetDelta = head.lastOffsetDelta ?? Math.max(0, records.length - 1);
  batch.writeBigInt64BE(head.baseOffset ?? 0n, 0);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt32BE(head.partitionLeaderEpoch ?? -1, 12);
  batch.writeInt8(2, 16);
  batch.writeInt16BE(attributesOf(head), 21);
  batch.writeInt32BE(lastOffsetDelta, 23);
  batch.writeBigInt64BE(baseTimestamp, 27);
  batch.writeBigInt64BE(head.maxTimestamp ?? baseTimestamp + BigInt(latest(records)), 35);
  batch.writeBigInt64BE(head.producerId ?? -1n, 43);
  batch.writeInt16BE(head.producerEpoch ?? -1, 51);
  batch.writeInt32BE(head.baseSequence ?? -1, 53);
  batch.writeInt32BE(records.length, 57);
  batch.writeUInt32BE(checksumOf(batch), 17);
  return batch;
}

const latest = (records: readonly KafkaRecord[]): number =>
  records.reduce((max, { timestampDelta }) => Math.max(max, timestampDelta), 0);

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
