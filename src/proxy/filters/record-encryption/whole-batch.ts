import { aesGcm } from '../../../crypto/aes-gcm.ts';
import { additionalData, batchEnvelopeHead, readBatchEnvelope } from '../../../crypto/batch-envelope.ts';
import type { BatchEnvelope, BatchPlace } from '../../../crypto/batch-envelope.ts';
import { IV_BYTES, TAG_BYTES } from '../../../crypto/cipher.ts';
import { createIvCounter } from '../../../crypto/iv-counter.ts';
import type { IvCounter } from '../../../crypto/iv-counter.ts';
import type { KeyRing, SealingKey } from '../../../crypto/key-ring.ts';
import { BadEnvelope } from '../../../crypto/kms.ts';
import { ATTRIBUTE, HEADER_LENGTH } from '../../../kafka/records/batch.ts';
import type { RecordBatch } from '../../../kafka/records/batch.ts';
import { COMPRESSIONS } from '../../../kafka/records/compression.ts';
import { roomForMessage } from '../../../kafka/records/unpack.ts';
import type { Opener } from './open.ts';
import { completeHead, plainBatches } from './sound-batch.ts';
import type { Sealed } from './sound-batch.ts';
import { storedGzip } from './stored-gzip.ts';
import { createTimeSlice } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';
import { firstRecord, visibleRecords } from './visible-records.ts';
import type { FoundEnvelope, VisibleRecords } from './visible-records.ts';

/**
 * `isthmus/1`: whole batches, sealed as their producer has compressed them. Brokers see records with nothing in them but
 * timestamps, the first of which has the envelope as its value; see README.md, which has the format to the byte.
 */

const ATTRIBUTES_AT = 21;
const BASE_TIMESTAMP_AT = 27;
const GZIP = COMPRESSIONS.indexOf('gzip');

/** Seals the batches of a `records` field of this partition with a data key of this key-encryption key. */
export async function sealWholeBatches(
  field: Buffer,
  kekId: string,
  ring: KeyRing,
  place: BatchPlace,
  room = roomForMessage(),
  yieldTurn = createTimeSlice(),
): Promise<Sealed> {
  const plain = await plainBatches(field, ring, room, yieldTurn);
  // Before a key is asked for: it counts what it seals, and records may turn out to be none.
  const toSeal = new Map<RecordBatch, VisibleRecords>();
  for (const { batch, records } of plain)
    if (records) toSeal.set(batch, await visibleRecords(records, batch.count, yieldTurn));
  if (toSeal.size === 0) return { bytes: field, count: 0 };
  const key = await ring.sealingKey(kekId, toSeal.size);
  const ivs = createIvCounter();
  try {
    const sealed: Buffer[] = [];
    let count = 0;
    for (const { batch } of plain) {
      const seen = toSeal.get(batch);
      sealed.push(seen ? await sealBatch(batch, seen, key, place, ivs, yieldTurn) : batch.bytes);
      if (seen) count += batch.count;
    }
    return { bytes: sealed.length === 1 ? sealed[0]! : Buffer.concat(sealed), count };
  } finally {
    key.release();
  }
}

async function sealBatch(
  batch: RecordBatch,
  seen: VisibleRecords,
  key: SealingKey,
  place: BatchPlace,
  ivs: IvCounter,
  yieldTurn: YieldTurn,
): Promise<Buffer> {
  const content = batch.bytes.subarray(HEADER_LENGTH);
  const head = batchEnvelopeHead(COMPRESSIONS.indexOf(batch.compression), batch.baseTimestamp, key.edek);
  const first = firstRecord(seen.first, head.length + IV_BYTES + content.length + TAG_BYTES);
  const textAt = first.valueAt + head.length + IV_BYTES;
  head.copy(first.bytes, first.valueAt);
  ivs.writeNext(first.bytes, textAt - IV_BYTES);
  content.copy(first.bytes, textAt);
  const additional = additionalData(place, batch, head);
  key.cipher.apply(aesGcm.pin(first.bytes), textAt, textAt + content.length, additional);
  const sealed = await storedGzip(first.bytes, seen.others, yieldTurn, HEADER_LENGTH);
  batch.bytes.copy(sealed, 0, 0, HEADER_LENGTH);
  setCompression(sealed, GZIP);
  await completeHead(sealed, yieldTurn);
  return sealed;
}

function setCompression(batch: Buffer, compression: number): void {
  const attributes = batch.readInt16BE(ATTRIBUTES_AT);
  batch.writeInt16BE((attributes & ~ATTRIBUTE.compression) | compression, ATTRIBUTES_AT);
}

/** The records of an opened batch, still compressed, and what to set in its head. */
export interface OpenedBatch {
  content: Buffer;
  /** Puts back into the head what the producer had there. */
  restore: (head: Buffer) => void;
}

/** Opens the envelope of a batch, in place. Throws BadEnvelope, UnknownKey or KmsUnavailable. */
export async function openWholeBatch(
  batch: RecordBatch,
  { records, valueStart, valueEnd }: FoundEnvelope,
  opener: Opener,
): Promise<OpenedBatch> {
  const envelope = readBatchEnvelope(records, valueStart, valueEnd);
  if (COMPRESSIONS[envelope.compression] === undefined) throw new BadEnvelope('an unknown compression');
  const additional = additionalData(opener.place, batch, envelope.head);
  const key = await opener.openingKey(envelope.edek);
  try {
    if (!key.cipher.apply(aesGcm.pin(records), envelope.start, envelope.end, additional))
      throw new BadEnvelope('its tag does not fit this topic, partition and batch');
  } finally {
    key.release();
  }
  return openedBatch(records, envelope);
}

function openedBatch(records: Buffer, envelope: BatchEnvelope): OpenedBatch {
  const { compression, baseTimestamp, start, end } = envelope;
  return {
    content: records.subarray(start, end),
    restore(head) {
      setCompression(head, compression);
      head.writeBigInt64BE(baseTimestamp, BASE_TIMESTAMP_AT);
    },
  };
}
