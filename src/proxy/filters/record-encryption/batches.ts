import type { KeyRing } from '../../../crypto/key-ring.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { checksumOf, HEADER_LENGTH, MAX_DECOMPRESSED, readBatches } from '../../../kafka/records/batch.ts';
import type { RecordBatch } from '../../../kafka/records/batch.ts';
import { compress, decompress } from '../../../kafka/records/compression.ts';
import { createTimeSlice } from './time-slice.ts';
import { openRecords } from './open.ts';
import { Output } from './output.ts';
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

/** A record of nothing: seven lengths and deltas of one byte. */
const SMALLEST_RECORD = 7;
/** Brokers take one batch a partition; to read countless tiny ones would cost more than it costs to send them. */
const MOST_BATCHES = 1000;
/** About what a record grows by. */
const SEALING_ADDS = 128;

/** The memory that one message may still take beyond its own size, whatever its batches unpack and grow to. */
export interface Room {
  left: number;
}

/** For a million records, or for 128 MiB when decompressed. */
export const roomForMessage = (): Room => ({ left: 2 * MAX_DECOMPRESSED });

/** Seals the batches of a `records` field with a data key of this key-encryption key. */
export async function sealBatches(
  field: Buffer,
  kekId: string,
  ring: KeyRing,
  room = roomForMessage(),
): Promise<Sealed> {
  const { batches, rest } = readBatches(field, { maxBatches: MOST_BATCHES });
  if (rest.length > 0) throw new MalformedMessage('records', 'the last batch is cut off', field.length);
  const old = batches.find(({ magic }) => magic < 2);
  if (old) throw new TooOldToSeal(old.magic);
  // Before a key is asked for: it counts the records that it seals, and a batch may claim any number.
  const plain = batches.map((batch) => (isSealable(batch) ? plainRecords(batch, room) : undefined));
  const count = batches.reduce((sum, batch, i) => sum + (plain[i] ? batch.count : 0), 0);
  if (count === 0) return { bytes: field, count };
  const key = await ring.sealingKey(kekId, count);
  try {
    const sealed = batches.map((batch, i) => {
      const records = plain[i];
      return records
        ? withRecords(batch, sealRecords(records, batch.count, key, HEADER_LENGTH))
        : batch.bytes;
    });
    return { bytes: joined(sealed), count };
  } finally {
    key.release();
  }
}

/**
 * Opens the batches of a fetched `records` field, over which the result is written; undefined if nothing in it was
 * sealed, and the field then is as it was. A batch that is cut off at the end stays as it is: clients ignore it and ask again.
 */
export async function openBatches(
  field: Buffer,
  ring: KeyRing,
  yieldTurn = createTimeSlice(),
): Promise<Buffer | undefined> {
  const { batches } = readBatches(field);
  const output = new Output(field);
  let copied = 0; // everything before this offset of the field is in the output
  let start = 0;
  for (const batch of batches) {
    const turn = yieldTurn();
    if (turn) await turn;
    const end = start + batch.bytes.length;
    const copyUpTo = (offset: number) => {
      output.release(offset);
      output.append(field, copied, offset);
    };
    if (batch.magic === 2 && isSealable(batch) && (await openBatch(batch, start, ring, output, copyUpTo))) {
      copied = end;
    }
    start = end;
  }
  if (copied === 0) return undefined;
  output.release(field.length);
  output.append(field, copied);
  return output.done();
}

/** Writes the batch with its records opened; false if none was sealed. `copyUpTo` writes what precedes it. */
async function openBatch(
  batch: RecordBatch,
  start: number,
  ring: KeyRing,
  output: Output,
  copyUpTo: (offset: number) => void,
): Promise<boolean> {
  const records = plainRecords(batch, { left: Infinity }); // of the broker's, and freed batch by batch
  const recordsAt = start + HEADER_LENGTH;
  let batchAt = 0;
  const begin = () => {
    copyUpTo(recordsAt);
    batchAt = output.at - HEADER_LENGTH;
  };
  if (batch.compression === 'none') {
    if (!(await openRecords(records, batch.count, ring, output, recordsAt, begin))) return false;
  } else {
    const opened = new Output(records);
    if (!(await openRecords(records, batch.count, ring, opened))) return false;
    begin();
    output.release(start + batch.bytes.length);
    output.append(compress(batch.compression, opened.done()));
  }
  completeHead(output.done().subarray(batchAt));
  return true;
}

/** Control batches carry the ends of transactions, in a format of the broker's; compaction can leave a batch empty. */
function isSealable({ control, count }: RecordBatch): boolean {
  return !control && count > 0;
}

/** The records as they are without compression; what that takes is taken from the room. */
function plainRecords({ compression, bytes, count }: RecordBatch, room: Room): Buffer {
  const limit = Math.min(MAX_DECOMPRESSED, room.left);
  const records = decompress(compression, bytes.subarray(HEADER_LENGTH), limit);
  if (count * SMALLEST_RECORD > records.length)
    throw new MalformedMessage('record batch', `${count} records in ${records.length} bytes`, HEADER_LENGTH);
  room.left -= count * SEALING_ADDS + (compression === 'none' ? 0 : records.length);
  if (room.left < 0) throw new MalformedMessage('records', 'more than one message may hold', HEADER_LENGTH);
  return records;
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
  completeHead(batch);
  return batch;
}

/** Sets what depends on the records: length and checksum. */
function completeHead(batch: Buffer): void {
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeUInt32BE(checksumOf(batch), 17);
}

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
