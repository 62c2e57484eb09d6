import { setImmediate } from 'node:timers/promises';
import { cutBatches } from '../../../kafka/records/batch.ts';
import type { RecordBatch } from '../../../kafka/records/batch.ts';
import { unpackAside } from '../../../kafka/records/unpack.ts';
import { createBatchWriter } from '../../../kafka/records/write.ts';
import type { BatchWriter } from '../../../kafka/records/write.ts';
import { inSlices } from '../../../ops/time-slice.ts';
import type { Masking } from './config.ts';

/**
 * The batches of a fetched `records` field with fields of their values masked. A batch that is changed is no longer
 * compressed; one that is cut off at the end, as brokers may send it, is left out. Others get their turns meanwhile. Throws
 * MalformedMessage.
 */
export async function maskRecords(
  field: Buffer,
  maskings: readonly Masking[],
  owner: object,
): Promise<Buffer> {
  const masked: Buffer[] = [];
  for (const each of cutBatches(field).unread) {
    const batch = await unpackAside(each, owner);
    // Written as they come: a batch may have millions of them.
    const writer = createBatchWriter({ ...batch, compression: 'none' });
    const isChanged = !batch.control && (await inSlices(batchSteps(batch, maskings, writer)));
    masked.push(isChanged ? await writer.done(() => setImmediate()) : each.bytes);
  }
  return Buffer.concat(masked);
}

/** Writes the records, masked; false if nothing of them is. */
function* batchSteps(
  batch: RecordBatch,
  maskings: readonly Masking[],
  writer: BatchWriter,
): Generator<undefined, boolean> {
  let isChanged = false;
  for (const record of batch.records()) {
    const value = record.value && (yield* valueSteps(record.value, maskings));
    writer.add(value ? { ...record, value } : record);
    isChanged ||= Boolean(value);
    yield;
  }
  return isChanged;
}

/** The value after all rules; undefined if none changed it. */
function* valueSteps(value: Buffer, maskings: readonly Masking[]): Generator<undefined, Buffer | undefined> {
  let masked: Buffer | undefined;
  for (const masking of maskings) masked = (yield* masking(masked ?? value)) ?? masked;
  return masked;
}
