import { MalformedMessage } from '../../../kafka/malformed.ts';
import { ATTRIBUTE, cutBatches, HEADER_LENGTH, readBatch } from '../../../kafka/records/batch.ts';
import type { RecordBatch } from '../../../kafka/records/batch.ts';
import { checksumInTurns } from '../../../kafka/records/checksum.ts';
import { unpackRecords } from '../../../kafka/records/unpack.ts';
import type { Room } from '../../../kafka/records/unpack.ts';
import type { YieldTurn } from './time-slice.ts';

/** What both formats have in common: batches that are checked before, and made whole after they were changed. */

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
const ATTRIBUTES_AT = 21;
const COUNT_AT = 57;
/** A record of nothing: seven lengths and deltas of one byte. */
const SMALLEST_RECORD = 7;
/** Brokers take one batch a partition; to read countless tiny ones would cost more than it costs to send them. */
const MOST_BATCHES = 1000;
/** About what a record grows by. */
const SEALING_ADDS = 128;

/** A batch with its records in the clear; undefined if there are none to seal. */
export interface PlainBatch {
  batch: RecordBatch;
  records: Buffer | undefined;
}

/** The batches of a produced `records` field. */
export async function plainBatches(
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
    const records = isSealable(batch) ? await plainRecords(batch, owner, room) : undefined;
    if (records) takeForSealing(room, batch);
    plain.push({ batch, records });
  }
  return plain;
}

/** A batch whose checksum fits: written anew, a broken one would come out looking whole. */
export async function readSound(bytes: Buffer, yieldTurn: YieldTurn): Promise<RecordBatch> {
  const batch = readBatch(bytes, false);
  if (bytes.readUInt32BE(CHECKSUM_AT) !== (await checksumInTurns(bytes, yieldTurn)))
    throw new MalformedMessage('record batch', 'the checksum does not match', CHECKSUM_AT);
  return batch;
}

/** Control batches carry the ends of transactions, in a format of the broker's; compaction can leave a batch empty. */
export function isSealable({ control, count }: RecordBatch): boolean {
  return !control && count > 0;
}

/** The records as they are without compression; what that takes is taken from the room. */
export async function plainRecords(batch: RecordBatch, owner: object, room: Room): Promise<Buffer> {
  const records = await unpackRecords(batch, owner, room);
  const { count } = batch;
  if (count * SMALLEST_RECORD > records.length)
    throw new MalformedMessage('record batch', `${count} records in ${records.length} bytes`, HEADER_LENGTH);
  return records;
}

/** A room is for a million sealed records, or for 128 MiB when decompressed. */
function takeForSealing(room: Room, { count }: RecordBatch): void {
  room.left -= count * SEALING_ADDS;
  if (room.left < 0) throw new MalformedMessage('records', 'more than one message may hold', HEADER_LENGTH);
}

/** Sets what depends on the records: length and checksum. */
export async function completeHead(batch: Buffer, yieldTurn: YieldTurn): Promise<void> {
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeUInt32BE(await checksumInTurns(batch, yieldTurn), CHECKSUM_AT);
}

/** A batch without its records, as compaction leaves one: clients go on behind its last offset. */
export async function emptied(head: Buffer, yieldTurn: YieldTurn): Promise<Buffer> {
  const batch = Buffer.from(head.subarray(0, HEADER_LENGTH));
  batch.writeInt16BE(batch.readInt16BE(ATTRIBUTES_AT) & ~ATTRIBUTE.compression, ATTRIBUTES_AT);
  batch.writeInt32BE(0, COUNT_AT);
  await completeHead(batch, yieldTurn);
  return batch;
}
