import type { KeyRing } from '../../../crypto/key-ring.ts';
import { eachBatch, HEADER_LENGTH, MAX_DECOMPRESSED } from '../../../kafka/records/batch.ts';
import type { RecordBatch } from '../../../kafka/records/batch.ts';
import { compressAside } from '../../../kafka/records/compression.ts';
import { beginBatch, roomForMessage } from '../../../kafka/records/unpack.ts';
import type { Room } from '../../../kafka/records/unpack.ts';
import { openRecords, Unsealed } from './open.ts';
import type { Opener } from './open.ts';
import { Output } from './output.ts';
import { sealRecords } from './seal.ts';
import { completeHead, emptied, isSealable, plainBatches, plainRecords, readSound } from './sound-batch.ts';
import type { Sealed } from './sound-batch.ts';
import { createTimeSlice } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';
import { findEnvelope, findStoredEnvelope } from './visible-records.ts';
import type { FoundEnvelope } from './visible-records.ts';
import { openWholeBatch } from './whole-batch.ts';

/** Seals the values of the batches of a `records` field with a data key of this key-encryption key. */
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

/** What came of a fetched `records` field. */
export interface Opened {
  /** The field in the clear; undefined if nothing in it was sealed, and the field then is as it was. */
  bytes: Buffer | undefined;
  /** Batches that could not be opened and were left out. */
  skipped: Unopened[];
  /** The batch that could not be opened and at which the field ends now. */
  failed: Unopened | undefined;
  /** The offset before which the field ends now: that of the batch that could not be opened, or for which there was no room. */
  endsBefore: bigint | undefined;
}

/** A batch that cannot be opened. */
export interface Unopened {
  offset: bigint;
  error: unknown;
}

/** What is unpacked of a fetched message is freed batch by batch: so this bounds the work on it, and a whole fetch of an honest client fits. */
export const roomForOpening = (): Room => roomForMessage(8 * MAX_DECOMPRESSED);

/**
 * Opens the batches of a fetched `records` field, over which the result is written. A batch that is cut off at the end
 * stays as it is: clients ignore it and ask again. One that cannot be opened ends the field, so that clients get what
 * precedes it; if `maySkip` says so, it is left empty instead, and clients go on behind it. One for which there is no room ends it, too.
 */
export async function openBatches(
  field: Buffer,
  opener: Opener,
  yieldTurn = createTimeSlice(),
  maySkip: (error: unknown) => boolean = () => false,
  room = roomForOpening(),
): Promise<Opened> {
  const work = new FieldOutput(field);
  const skipped: Unopened[] = [];
  let start = 0;
  for (const each of eachBatch(field)) {
    const { magic, bytes } = each;
    const turn = yieldTurn();
    if (turn) await turn;
    const end = start + bytes.length;
    const offset = bytes.readBigInt64BE(0);
    if (!beginBatch(room, each))
      return { bytes: work.endAt(start), skipped, failed: undefined, endsBefore: offset };
    const head = Buffer.from(bytes.subarray(0, HEADER_LENGTH)); // opening writes over it
    work.startBatch(start);
    try {
      if (magic >= 2) {
        const batch = await readSound(bytes, yieldTurn);
        if (isSealable(batch) && (await openBatch(batch, start, opener, work, room, yieldTurn)))
          work.copied = end;
      } else if (opener.mustBeSealed) throw new Unsealed();
    } catch (error) {
      work.undoBatch();
      if (magic < 2 || !maySkip(error))
        return { bytes: work.endAt(start), skipped, failed: { offset, error }, endsBefore: offset };
      skipped.push({ offset, error });
      work.copyUpTo(start);
      work.output.release(end);
      work.output.append(await emptied(head, yieldTurn));
      work.copied = end;
    }
    start = end;
  }
  const bytes = work.copied === 0 ? undefined : work.endAt(field.length);
  return { bytes, skipped, failed: undefined, endsBefore: undefined };
}

/** A field in the making: what is not opened is copied as it is, in as few pieces as possible. */
class FieldOutput {
  readonly output: Output;
  /** Everything before this offset of the field is in the output. */
  copied = 0;
  readonly #field: Buffer;
  #before = { at: 0, copied: 0, start: 0 };

  constructor(field: Buffer) {
    this.#field = field;
    this.output = new Output(field);
  }

  copyUpTo(offset: number): void {
    this.output.release(offset);
    this.output.append(this.#field, this.copied, offset);
    this.copied = offset;
  }

  startBatch(start: number): void {
    this.#before = { at: this.output.at, copied: this.copied, start };
  }

  /** Takes back what was written of the batch; what precedes it stays. */
  undoBatch(): void {
    const { at, copied, start } = this.#before;
    if (this.copied === copied) return;
    this.output.at = at + start - copied;
    this.copied = start;
  }

  /** The result, which ends with this offset of the field. */
  endAt(offset: number): Buffer {
    this.copyUpTo(offset);
    return this.output.done();
  }
}

/** Writes the batch with its records opened, and what precedes it; false if none was sealed. */
async function openBatch(
  batch: RecordBatch,
  start: number,
  opener: Opener,
  work: FieldOutput,
  room: Room,
  yieldTurn: YieldTurn,
): Promise<boolean> {
  const { output } = work;
  const stored =
    batch.compression === 'gzip' ? findStoredEnvelope(batch.bytes.subarray(HEADER_LENGTH)) : undefined;
  if (stored) return openWhole(batch, stored, start, opener, work, yieldTurn);
  const records = await plainRecords(batch, opener.owner, room);
  const found = findEnvelope(records);
  if (found) return openWhole(batch, found, start, opener, work, yieldTurn);
  const recordsAt = start + HEADER_LENGTH;
  let batchAt = 0;
  const begin = () => {
    work.copyUpTo(recordsAt);
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

/** Writes a batch that was sealed as a whole. */
async function openWhole(
  batch: RecordBatch,
  found: FoundEnvelope,
  start: number,
  opener: Opener,
  work: FieldOutput,
  yieldTurn: YieldTurn,
): Promise<true> {
  const { content, restore } = await openWholeBatch(batch, found, opener);
  work.copyUpTo(start + HEADER_LENGTH);
  const { output } = work;
  const batchAt = output.at - HEADER_LENGTH;
  output.release(start + batch.bytes.length);
  output.append(content);
  const opened = output.done().subarray(batchAt);
  restore(opened);
  await completeHead(opened, yieldTurn);
  return true;
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

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
