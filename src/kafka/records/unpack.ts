import { setImmediate } from 'node:timers/promises';
import { MalformedMessage } from '../malformed.ts';
import { ATTRIBUTE, HEADER_LENGTH, MAX_DECOMPRESSED, readBatch } from './batch.ts';
import type { RecordBatch, UnreadBatch } from './batch.ts';
import { checksumInTurns } from './checksum.ts';
import { letRest } from './compression-thread.ts';
import { decompressAside } from './compression.ts';

const CHECKSUM_AT = 17;
const ATTRIBUTES_AT = 21;

/** So much may come of any batch, and beyond that so many times what was sent: records that repeat themselves more are an attack. */
const FREE_EXPANSION = 4 * 1024 * 1024;
const MOST_EXPANSION = 128;
/** What a batch takes beside its bytes, however short it is. */
const BATCH_COST = 1024;

/**
 * The memory that one message may still take beyond its own size, whatever its batches unpack and grow to. Everything that unpacks a
 * message takes from one: a batch that is bounded alone says nothing of a message with thousands of them.
 */
export interface Room {
  left: number;
  readonly size: number;
  /** When the work on the message began, by `performance.now()`. */
  readonly since: number;
}

/** At least as much as a batch may unpack to, and as much again for what is made of it. */
export const roomForMessage = (size = 2 * MAX_DECOMPRESSED): Room => ({
  left: size,
  size,
  since: performance.now(),
});

/** How much may come of a batch, whatever the room. */
const mostOf = ({ length }: Buffer): number =>
  Math.min(MAX_DECOMPRESSED, Math.max(FREE_EXPANSION, length * MOST_EXPANSION));

/** Whether nothing has been taken yet: what does not fit now never will. */
export const isWhole = ({ left, size }: Room): boolean => left === size;

/**
 * Begins with the next batch of a fetched field. False if the room may be too small for what it unpacks to: then the field ends before
 * it, and its reader asks for it again. A whole room is never too small.
 */
export function beginBatch(room: Room, { magic, bytes }: UnreadBatch): boolean {
  const isPacked = magic === 2 && (bytes.readInt16BE(ATTRIBUTES_AT) & ATTRIBUTE.compression) !== 0;
  if (!isWhole(room) && room.left < BATCH_COST + (isPacked ? mostOf(bytes) : 0)) return false;
  room.left -= BATCH_COST;
  return true;
}

/**
 * The records of a batch as they are without compression, unpacked in another thread where that takes long; `owner` is whose turn that
 * is. What they take is taken from the room; whoever sends more than it holds has to wait afterwards. Throws MalformedMessage.
 */
export async function unpackRecords(
  { compression, bytes }: RecordBatch,
  owner: object,
  room: Room,
): Promise<Buffer> {
  const packed = bytes.subarray(HEADER_LENGTH);
  if (compression === 'none') return packed;
  const most = Math.min(mostOf(bytes), room.left);
  try {
    if (most <= 0) throw new MalformedMessage('records', 'more than one message may hold', HEADER_LENGTH);
    const records = await decompressAside(compression, packed, most, owner);
    room.left -= records.length;
    return records;
  } catch (error) {
    room.left -= most; // so much may have been unpacked until then
    if (room.left <= 0) letRest(owner, performance.now() - room.since);
    throw error;
  }
}

/** A batch (magic 2) that is whole, without compression: others get their turns while its checksum is made. Throws MalformedMessage. */
export async function unpackAside(
  { magic, bytes }: UnreadBatch,
  owner: object,
  room: Room,
): Promise<RecordBatch> {
  if (magic < 2) throw new MalformedMessage('records', `format ${magic} cannot be read here`, 0);
  if (bytes.readUInt32BE(CHECKSUM_AT) !== (await checksumInTurns(bytes, () => setImmediate())))
    throw new MalformedMessage('record batch', 'the checksum does not match', CHECKSUM_AT);
  const batch = readBatch(bytes, false);
  if (batch.compression === 'none') return batch;
  const records = await unpackRecords(batch, owner, room);
  const whole = Buffer.concat([bytes.subarray(0, HEADER_LENGTH), records]);
  whole.writeInt16BE(whole.readInt16BE(ATTRIBUTES_AT) & ~ATTRIBUTE.compression, ATTRIBUTES_AT);
  whole.writeInt32BE(whole.length - 12, 8);
  return readBatch(whole, false);
}
