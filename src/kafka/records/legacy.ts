import { crc32 } from 'node:zlib';
import { Reader } from '../reader.ts';
import type { KafkaRecord, RecordBatch } from './batch.ts';
import { COMPRESSIONS, decompress } from './compression.ts';

/**
 * Messages from before record batches (magic 0 and 1), read only: old brokers and old logs still have them.
 *
 *   0 offset int64    8 length int32    12 crc uint32, CRC-32 of what follows    16 magic int8    17 attributes int8
 *   18 timestamp int64 (magic 1)    key int32 length, bytes    value int32 length, bytes
 *
 * A compressed message's value is messages again. Their offsets are absolute in magic 0; in magic 1 they count from 0,
 * and the outer offset is that of the last.
 */

const PREFIX_LENGTH = 12;
const CRC_FROM = 16;

interface Message {
  offset: bigint;
  magic: number;
  attributes: number;
  timestamp: bigint;
  key: Buffer | null;
  value: Buffer | null;
}

function readMessage(bytes: Buffer, verify: boolean): Message {
  const reader = new Reader(bytes, 0, bytes.length, 'message');
  const offset = reader.int64();
  reader.take(4);
  const checksum = reader.uint32();
  if (verify && checksum !== crc32(bytes.subarray(CRC_FROM))) reader.fail('the checksum does not match');
  const magic = reader.int8();
  const message = {
    offset,
    magic,
    attributes: reader.int8(),
    timestamp: magic === 1 ? reader.int64() : -1n,
    key: reader.nullableBytes(),
    value: reader.nullableBytes(),
  };
  if (reader.at !== reader.end) reader.fail(`${reader.end - reader.at} bytes too many`);
  return message;
}

function readInner(outer: Message, verify: boolean, limit: number): Message[] {
  const kind = COMPRESSIONS[outer.attributes & 7];
  if (kind === 'none') return [outer];
  const reader = new Reader(Buffer.alloc(0), 0, 0, 'compressed message');
  if (kind === undefined || outer.value === null)
    return reader.fail('an unknown compression, or nothing inside');
  const bytes = decompress(kind, outer.value, limit);
  const messages: Message[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.length - at < PREFIX_LENGTH ? Infinity : at + PREFIX_LENGTH + bytes.readInt32BE(at + 8);
    if (end > bytes.length || end < at + CRC_FROM) reader.fail('an inner message is cut off');
    messages.push(readMessage(bytes.subarray(at, end), verify));
    at = end;
  }
  const last = messages.at(-1);
  if (!last) return reader.fail('nothing inside');
  const shift = outer.magic === 1 ? outer.offset - last.offset : 0n;
  return messages.map((message) => ({ ...message, offset: message.offset + shift }));
}

/** Reads a message, with those in it if it is compressed, as a batch. */
export function readLegacy(bytes: Buffer, verify: boolean, limit: number): RecordBatch {
  const outer = readMessage(bytes, verify);
  const messages = readInner(outer, verify, limit);
  const baseOffset = messages[0]!.offset;
  const appended = outer.magic === 1 && (outer.attributes & 8) !== 0;
  const baseTimestamp = messages[0]!.timestamp;
  const records = messages.map((message): KafkaRecord => ({
    offsetDelta: Number(message.offset - baseOffset),
    timestampDelta: Number(message.timestamp - baseTimestamp),
    key: message.key,
    value: message.value,
    headers: [],
  }));
  return {
    magic: outer.magic,
    bytes,
    baseOffset,
    lastOffsetDelta: records.at(-1)!.offsetDelta,
    partitionLeaderEpoch: -1,
    compression: COMPRESSIONS[outer.attributes & 7]!,
    timestampType: appended ? 'LogAppendTime' : 'CreateTime',
    transactional: false,
    control: false,
    deleteHorizon: false,
    baseTimestamp,
    maxTimestamp: appended
      ? outer.timestamp
      : messages.reduce((max, { timestamp }) => (timestamp > max ? timestamp : max), -1n),
    producerId: -1n,
    producerEpoch: -1,
    baseSequence: -1,
    count: records.length,
    records: () => records,
  };
}
