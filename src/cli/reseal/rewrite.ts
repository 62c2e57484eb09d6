import { timestampOf } from '../../kafka/records/batch.ts';
import type { KafkaRecord, RecordBatch } from '../../kafka/records/batch.ts';
import type { Compression } from '../../kafka/records/compression.ts';
import { encodeBatch } from '../../kafka/records/write.ts';

/** From batches as they were fetched to batches as they are produced. Pure. */

/** A transaction of which the broker says that it was aborted. */
export interface AbortedTransaction {
  producerId: bigint;
  firstOffset: bigint;
}

/** Records that become one batch. */
export interface Chunk {
  compression: Compression;
  records: TimedRecord[];
}

type TimedRecord = Pick<KafkaRecord, 'key' | 'value' | 'headers'> & { timestamp: bigint };

/** Well below what brokers take by default (1 MiB), also where sealing makes it larger. */
const CHUNK_BYTES = 400_000;
/** What a record takes besides keys and values. */
const RECORD_BYTES = 32;

/**
 * The batches with records that count: no markers of transactions, and nothing of a transaction that was aborted. Brokers send these
 * all the same, and leave it to clients to drop them.
 */
export function committedBatches(
  batches: readonly RecordBatch[],
  aborted: readonly AbortedTransaction[],
): RecordBatch[] {
  const waiting = aborted.toSorted((a, b) => Number(a.firstOffset - b.firstOffset));
  const active = new Set<bigint>();
  return batches.filter((batch) => {
    const last = batch.baseOffset + BigInt(batch.lastOffsetDelta);
    while (waiting[0] && waiting[0].firstOffset <= last) active.add(waiting.shift()!.producerId);
    if (batch.control) {
      if (isAbort(batch)) active.delete(batch.producerId);
      return false;
    }
    return !(batch.transactional && active.has(batch.producerId));
  });
}

/** The key of a marker: its version and its type, which is 0 where the transaction was aborted. */
function isAbort(batch: RecordBatch): boolean {
  const [marker] = batch.records();
  return marker?.key?.readInt16BE(2) === 0;
}

/** All records from this offset on, in batches of a good size, each compressed as its first record was. */
export function chunksOf(batches: readonly RecordBatch[], from: bigint): Chunk[] {
  const chunks: Chunk[] = [];
  let room = 0;
  for (const batch of batches)
    for (const record of batch.records()) {
      // A batch is delivered whole, also if only its end was asked for.
      if (batch.baseOffset + BigInt(record.offsetDelta) < from) continue;
      const size = sizeOf(record);
      let chunk = chunks.at(-1);
      if (!chunk || room < size) {
        chunks.push((chunk = { compression: batch.compression, records: [] }));
        room = CHUNK_BYTES;
      }
      const { key, value, headers } = record;
      chunk.records.push({ key, value, headers, timestamp: timestampOf(batch, record) });
      room -= size;
    }
  return chunks;
}

function sizeOf({ key, value, headers }: KafkaRecord): number {
  let size = RECORD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
  for (const header of headers) size += header.key.length + (header.value?.length ?? 0) + 4;
  return size;
}

/** Who writes, and what its next record in a partition is called. */
export interface ProducerState {
  producerId: bigint;
  producerEpoch: number;
  baseSequence: number;
}

/** A batch of a transaction, with the times that its records had. */
export function batchOf({ compression, records }: Chunk, producer: ProducerState): Buffer {
  const baseTimestamp = records[0]?.timestamp ?? -1n;
  return encodeBatch(
    { ...producer, compression, baseTimestamp, transactional: true },
    records.map(({ timestamp, ...record }, i) => ({
      ...record,
      offsetDelta: i,
      timestampDelta: Number(timestamp - baseTimestamp),
    })),
  );
}

/** Sequences begin anew after the largest int32. */
export const nextSequence = (before: number, count: number): number => (before + count) % 2 ** 31;
