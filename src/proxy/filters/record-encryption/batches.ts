import type { KeyRing } from '../../../crypto/key-ring.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { cutBatches, HEADER_LENGTH, MAX_DECOMPRESSED, readBatch } from '../../../kafka/records/batch.ts';
import type { RecordBatch } from '../../../kafka/records/batch.ts';
import { checksumInTurns } from '../../../kafka/records/checksum.ts';
import { compressAside, decompressAside } from '../../../kafka/records/compression.ts';
import { openRecords, Unsealed } from './open.ts';
import type { Opener } from './open.ts';
import { Output } from './output.ts';
import { sealRecords } from './seal.ts';
import { createTimeSlice } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';

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

const CHECKSUM_AT = 17;
/** A record of nothing: seven lengths and deltas of one byte. */
const SMALLEST_RECORD = 7;
/** Brokers take one batch a partition; to read countless tiny ones would cost more than it costs to send them. */
const MOST_BATCHES = 1000;
/** About what a record grows by. */
const SEALING_ADDS = 128;

/** So much may come of any batch, and beyond that so many times what was sent: records that repeat themselves more are none. */
const FREE_EXPANSION = 4 * 1024 * 1024;
const MOST_EXPANSION = 128;

/** The memory that one message may still take beyond its own size, whatever its batches unpack and grow to. */
export interface Room {
  left: number;
}

/** For a million records, or for 128 MiB when decompressed. */
export const roomForMessage = (): Room => ({ left: 2 * MAX_DECOMPRESSED });

/** A batch with its records in the clear; undefined if there are none to seal. */
interface PlainBatch {
  batch: RecordBatch;
  records: Buffer | undefined;
}

/** Seals the batches of a `records` field with a data key of this key-encryption key. */
export async function sealBatches(
  field: Buffer,
  kekId: string,
  ring: KeyRing,
  room = roomForMessage(),
  yieldTurn = createTimeSlice(),
): Promise<Sealed> {
  // Before a key is asked for: it counts the records that it seals, and a batch may claim any number.
  const plain = await plainBatches(field, ring, room, yieldTurn);
  const count = plain.reduce((sum, { batch, records }) => sum + (records ? batch.count : 0), 0);
  if (count === 0) return { bytes: field, count };
  const key = await ring.sealingKey(kekId, count);
  try {
    const sealed: Buffer[] = [];
    for (const { batch, records } of plain) {
      sealed.push(
        records
          ? await withRecords(
              batch,
              await sealRecords(records, batch.count, key, HEADER_LENGTH, yieldTurn),
              ring,
              yieldTurn,
            )
          : batch.bytes,
      );
    }
    return { bytes: joined(sealed), count };
  } finally {
    key.release();
  }
}

async function plainBatches(
  field: Buffer,
  owner: object,
  room: Room,
  yieldTurn: YieldTurn,
): Promise<PlainBatch[]> {
  const { unread, rest } = cutBatches(field, MOST_BATCHES);
  if (rest.length > 0) throw new MalformedMessage('records', 'the last batch is cut off', field.length);
  const old = unread.find(({ magic }) => magic < 2);
  if (old) throw new TooOldToSeal(old.magic);
  const plain: PlainBatch[] = [];
  for (const { bytes } of unread) {
    const turn = yieldTurn();
    if (turn) await turn;
    const batch = await readSound(bytes, yieldTurn);
    const most = Math.max(FREE_EXPANSION, bytes.length * MOST_EXPANSION);
    plain.push({
      batch,
      records: isSealable(batch) ? await plainRecords(batch, owner, room, most) : undefined,
    });
  }
  return plain;
}

/**
 * Opens the batches of a fetched `records` field, over which the result is written; undefined if nothing in it was
 * sealed, and the field then is as it was. A batch that is cut off at the end stays as it is: clients ignore it and ask again.
 */
export async function openBatches(
  field: Buffer,
  opener: Opener,
  yieldTurn = createTimeSlice(),
): Promise<Buffer | undefined> {
  const { unread } = cutBatches(field);
  const output = new Output(field);
  let copied = 0; // everything before this offset of the field is in the output
  let start = 0;
  for (const { magic, bytes } of unread) {
    const turn = yieldTurn();
    if (turn) await turn;
    const end = start + bytes.length;
    const copyUpTo = (offset: number) => {
      output.release(offset);
      output.append(field, copied, offset);
    };
    if (magic < 2) {
      if (opener.mustBeSealed) throw new Unsealed();
    } else {
      const batch = await readSound(bytes, yieldTurn);
      const open = () => openBatch(batch, start, opener, output, copyUpTo, yieldTurn);
      if (isSealable(batch) && (await open())) copied = end;
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
  opener: Opener,
  output: Output,
  copyUpTo: (offset: number) => void,
  yieldTurn: YieldTurn,
): Promise<boolean> {
  const records = await plainRecords(batch, opener.owner, { left: Infinity }); // of the broker's, and freed batch by batch
  const recordsAt = start + HEADER_LENGTH;
  let batchAt = 0;
  const begin = () => {
    copyUpTo(recordsAt);
    batchAt = output.at - HEADER_LENGTH;
  };
  if (batch.compression === 'none') {
    const place = { base: recordsAt, begin };
    if (!(await openRecords(records, batch.count, opener, output, yieldTurn, place))) return false;
  } else {
    const opened = new Output(records);
    if (!(await openRecords(records, batch.count, opener, opened, yieldTurn))) return false;
    const compressed = await compressAside(batch.compression, opened.done(), opener.owner);
    begin();
    output.release(start + batch.bytes.length);
    output.append(compressed);
  }
  await completeHead(output.done().subarray(batchAt), yieldTurn);
  return true;
}

/** A batch whose checksum fits: written anew, a broken one would come out looking whole. */
async function readSound(bytes: Buffer, yieldTurn: YieldTurn): Promise<RecordBatch> {
  const batch = readBatch(bytes, false);
  if (bytes.readUInt32BE(CHECKSUM_AT) !== (await checksumInTurns(bytes, yieldTurn)))
    throw new MalformedMessage('record batch', 'the checksum does not match', CHECKSUM_AT);
  return batch;
}

/** Control batches carry the ends of transactions, in a format of the broker's; compaction can leave a batch empty. */
function isSealable({ control, count }: RecordBatch): boolean {
  return !control && count > 0;
}

/** The records as they are without compression; what that takes is taken from the room. */
async function plainRecords(
  { compression, bytes, count }: RecordBatch,
  owner: object,
  room: Room,
  most = MAX_DECOMPRESSED,
): Promise<Buffer> {
  const limit = Math.min(most, MAX_DECOMPRESSED, room.left);
  const unpacked = decompressAside(compression, bytes.subarray(HEADER_LENGTH), limit, owner);
  const records = unpacked instanceof Promise ? await unpacked : unpacked;
  if (count * SMALLEST_RECORD > records.length)
    throw new MalformedMessage('record batch', `${count} records in ${records.length} bytes`, HEADER_LENGTH);
  room.left -= count * SEALING_ADDS + (compression === 'none' ? 0 : records.length);
  if (room.left < 0) throw new MalformedMessage('records', 'more than one message may hold', HEADER_LENGTH);
  return records;
}

/** The batch with other records, which stand behind room for its head. All that it says of them still holds. */
async function withRecords(
  { compression, bytes }: RecordBatch,
  records: Buffer,
  owner: object,
  yieldTurn: YieldTurn,
): Promise<Buffer> {
  const batch =
    compression === 'none'
      ? records
      : Buffer.concat([
          bytes.subarray(0, HEADER_LENGTH),
          await compressAside(compression, records.subarray(HEADER_LENGTH), owner),
        ]);
  bytes.copy(batch, 0, 0, HEADER_LENGTH);
  await completeHead(batch, yieldTurn);
  return batch;
}

/** Sets what depends on the records: length and checksum. */
async function completeHead(batch: Buffer, yieldTurn: YieldTurn): Promise<void> {
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeUInt32BE(await checksumInTurns(batch, yieldTurn), CHECKSUM_AT);
}

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
