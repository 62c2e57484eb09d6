import { setImmediate } from 'node:timers/promises';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { eachBatch } from '../../../kafka/records/batch.ts';
import type { RecordBatch, UnreadBatch } from '../../../kafka/records/batch.ts';
import { beginBatch, isWhole, unpackAside } from '../../../kafka/records/unpack.ts';
import type { Room } from '../../../kafka/records/unpack.ts';
import { createBatchWriter } from '../../../kafka/records/write.ts';
import type { BatchWriter } from '../../../kafka/records/write.ts';
import { inSlices } from '../../../ops/time-slice.ts';
import type { Masking } from './config.ts';
import { longestOf } from './replace.ts';

/** What came of a fetched `records` field. */
export interface Masked {
  bytes: Buffer;
  /** The batch for which there was no room, and before which the field ends now. */
  endsBefore: bigint | undefined;
}

/**
 * The batches of a fetched `records` field with fields of their values masked. A batch that is changed is no longer
 * compressed; one that is cut off at the end, as brokers may send it, is left out. The room is for all that is unpacked and for what
 * the batches become longer by. Others get their turns meanwhile. Throws MalformedMessage.
 */
export async function maskRecords(
  field: Buffer,
  maskings: readonly Masking[],
  owner: object,
  room: Room,
): Promise<Masked> {
  const masked: Buffer[] = [];
  for (const each of eachBatch(field)) {
    const hasAll = isWhole(room);
    const batch = beginBatch(room, each) ? await maskBatch(each, maskings, owner, room) : undefined;
    if (batch === undefined && hasAll)
      throw new MalformedMessage('record batch', 'it becomes too long when it is masked', 0);
    if (batch === undefined)
      return { bytes: Buffer.concat(masked), endsBefore: each.bytes.readBigInt64BE(0) };
    masked.push(batch);
  }
  return { bytes: Buffer.concat(masked), endsBefore: undefined };
}

/** Undefined if there is no room for it. */
async function maskBatch(
  unread: UnreadBatch,
  maskings: readonly Masking[],
  owner: object,
  room: Room,
): Promise<Buffer | undefined> {
  const { bytes } = unread;
  const batch = await unpackAside(unread, owner, room);
  if (batch.control) return bytes;
  // Written as they come: a batch may have millions of them.
  const writer = createBatchWriter({ ...batch, compression: 'none' });
  const most = bytes.length + room.left;
  const isChanged = await inSlices(batchSteps(batch, maskings, writer, most));
  if (writer.length > most) return undefined;
  if (!isChanged) return bytes;
  const masked = await writer.done(() => setImmediate());
  room.left -= Math.max(0, masked.length - bytes.length);
  return masked;
}

/** Writes the records, masked; false if nothing of them is. Ends as soon as there is more than may be. */
function* batchSteps(
  batch: RecordBatch,
  maskings: readonly Masking[],
  writer: BatchWriter,
  most: number,
): Generator<undefined, boolean> {
  let isChanged = false;
  for (const record of batch.records()) {
    const value = record.value && (yield* valueSteps(record.value, maskings));
    writer.add(value ? { ...record, value } : record);
    if (writer.length > most) return false;
    isChanged ||= Boolean(value);
    yield;
  }
  return isChanged;
}

/** The value after all rules; undefined if none changed it. */
function* valueSteps(value: Buffer, maskings: readonly Masking[]): Generator<undefined, Buffer | undefined> {
  let masked: Buffer | undefined;
  const longest = longestOf(value);
  for (const masking of maskings) masked = (yield* masking(masked ?? value, longest)) ?? masked;
  return masked;
}
