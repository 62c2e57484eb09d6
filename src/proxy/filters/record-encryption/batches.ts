import type { KeyRing } from '../../../crypto/key-ring.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { checksumOf, HEADER_LENGTH, MAX_DECOMPRESSED, readBatches } from '../../../kafka/records/batch.ts';
import type { RecordBatch } from '../../../kafka/records/batch.ts';
import { compress, decompress } from '../../../kafka/records/compression.ts';
import { openRecords } from './open.ts';
import { sealRecords } from './seal.ts';

/** Messages of a format without headers: there is nowhere to put the mark. */
export class TooOldToSeal extends Error {
  constructor(magic: number) {
    super(`records of format ${magic} have no headers and cannot be sealed`);
    this.name = 'TooOldToSeal';
  }
}

/** A `records` field, sealed, and how many records that were. */
export interface Sealed {
  bytes: Buffer;
  count: number;
}

/** Seals the batches of a `records` field with a data key of this key-encryption key. */
export async function sealBatches(field: Buffer, kekId: string, ring: KeyRing): Promise<Sealed> {
  const { batches, rest } = readBatches(field);
  if (rest.length > 0) throw new MalformedMessage('records', 'the last batch is cut off', field.length);
  const old = batches.find(({ magic }) => magic < 2);
  if (old) throw new TooOldToSeal(old.magic);
  const count = batches.reduce((sum, batch) => sum + (isSealable(batch) ? batch.count : 0), 0);
  if (count === 0) return { bytes: field, count };
  const key = await ring.sealingKey(kekId, count);
  try {
    const sealed = batches.map((batch) => {
      if (!isSealable(batch)) return batch.bytes;
      return withRecords(batch, sealRecords(plainRecords(batch), batch.count, key, HEADER_LENGTH));
    });
    return { bytes: joined(sealed), count };
  } finally {
    key.release();
  }
}

/**
 * Opens the batches of a fetched `records` field; undefined if nothing in it was sealed. A batch that is cut off at the
 * end stays as it is: clients ignore it and ask again.
 */
export async function openBatches(field: Buffer, ring: KeyRing): Promise<Buffer | undefined> {
  const { batches, rest } = readBatches(field);
  const parts: Buffer[] = [];
  let changed = false;
  for (const batch of batches) {
    const opened =
      batch.magic === 2 && isSealable(batch)
        ? await openRecords(plainRecords(batch), batch.count, ring, HEADER_LENGTH)
        : undefined;
    parts.push(opened ? withRecords(batch, opened) : batch.bytes);
    changed ||= opened !== undefined;
  }
  return changed ? joined([...parts, rest]) : undefined;
}

/** Control batches carry the ends of transactions, in a format of the broker's; compaction can leave a batch empty. */
function isSealable({ control, count }: RecordBatch): boolean {
  return !control && count > 0;
}

function plainRecords({ compression, bytes }: RecordBatch): Buffer {
  return decompress(compression, bytes.subarray(HEADER_LENGTH), MAX_DECOMPRESSED);
}

/** The batch with other records, which stand behind room for its head. All that it says of them still holds. */
function withRecords({ compression, bytes }: RecordBatch, records: Buffer): Buffer {
  const batch =
    compression === 'none'
      ? records
      : Buffer.concat([
          bytes.subarray(0, HEADER_LENGTH),
          compress(compression, records.subarray(HEADER_LENGTH)),
        ]);
  bytes.copy(batch, 0, 0, HEADER_LENGTH);
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeUInt32BE(checksumOf(batch), 17);
  return batch;
}

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
