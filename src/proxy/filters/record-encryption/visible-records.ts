/**
 * What a broker sees of the records of a batch that is sealed as a whole. It wants as many records as the batch says, each
 * with its offset and timestamp; so these are there, without keys, values and headers. The first has the envelope as its
 * value, and a header that marks it.
 */
import { BadEnvelope } from '../../../crypto/kms.ts';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { Reader } from '../../../kafka/reader.ts';
import { readVarint, skipVarlong, varintSize, writeVarint } from '../../../ops/varint.ts';
import { storedPart } from './stored-gzip.ts';
import { readLayout, recordReader, RecordLayout, skipField } from './record.ts';
import { createWorkload } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';

const NAME = Buffer.from('isthmus.dev/sealed');
const VERSION = 1;
const NULL = 1; // ZigZag of -1

/** The headers of the first record: how many, and the mark. */
const MARK: Buffer = (() => {
  const bytes = Buffer.alloc(1 + 1 + NAME.length + 1 + 1);
  let at = writeVarint(bytes, 0, 1);
  at = writeVarint(bytes, at, NAME.length);
  at += NAME.copy(bytes, at);
  at = writeVarint(bytes, at, 1);
  bytes[at] = VERSION;
  return bytes;
})();

/** Attributes, timestamp delta and offset delta of the first record as they are, and all others whole. */
export interface VisibleRecords {
  first: Buffer;
  others: Buffer;
}

/** Behind the offset delta: no key, no value, no headers. */
const TAIL = [NULL, NULL, 0];
/** Attributes, a timestamp of ten bytes, an offset of five, and the tail. */
const MOST_BYTES = 1 + 1 + 10 + 5 + TAIL.length;

/**
 * What is to be seen of uncompressed records. No broker will look into them again, so all that one would refuse is
 * refused here; throws MalformedMessage.
 */
export async function visibleRecords(
  records: Buffer,
  count: number,
  yieldTurn: YieldTurn,
): Promise<VisibleRecords> {
  const reader = recordReader(records);
  const layout = new RecordLayout();
  const others = Buffer.allocUnsafe(count * MOST_BYTES);
  const workload = createWorkload(yieldTurn);
  let first = others;
  let at = 0;
  for (let i = 0; i < count; i++) {
    const turn = workload(0);
    if (turn) await turn;
    readLayout(reader, layout);
    checkHeaders(records, layout);
    const from = layout.start;
    const to = endOfDeltas(records, layout, i);
    if (i === 0) {
      first = Buffer.from(records.subarray(from, to));
      continue;
    }
    at = writeVarint(others, at, to - from + TAIL.length);
    for (let each = from; each < to; each++) others[at++] = records[each]!;
    for (const byte of TAIL) others[at++] = byte;
  }
  if (reader.at !== records.length) reader.fail('there are bytes behind the last record');
  return { first, others: others.subarray(0, at) };
}

/** Where the deltas of a record end, which must be the one of this number. */
function endOfDeltas(records: Buffer, { start, end }: RecordLayout, number: number): number {
  const reader = new Reader(records, start + 1, end, 'record');
  skipVarlong(reader);
  const offset = readVarint(reader);
  if (offset !== number) reader.fail(`record ${number} has the offset ${offset}`);
  return reader.at;
}

function checkHeaders(records: Buffer, { headerCount, headersStart, end }: RecordLayout): void {
  const reader = new Reader(records, headersStart, end, 'record');
  for (let i = 0; i < headerCount; i++) {
    if (skipField(reader, end) < 0) reader.fail('a header without a key');
    skipField(reader, end);
  }
  if (reader.at !== end) reader.fail(`${end - reader.at} bytes behind the last header`);
}

/** The first record, with room for a value of this size. */
export function firstRecord(deltas: Buffer, valueLength: number): { bytes: Buffer; valueAt: number } {
  const length = deltas.length + 1 + varintSize(valueLength) + valueLength + MARK.length;
  const bytes = Buffer.allocUnsafeSlow(varintSize(length) + length);
  let at = writeVarint(bytes, 0, length);
  at += deltas.copy(bytes, at);
  bytes[at++] = NULL;
  const valueAt = writeVarint(bytes, at, valueLength);
  MARK.copy(bytes, valueAt + valueLength);
  return { bytes, valueAt };
}

/** Where in uncompressed records the envelope of their batch is. */
export interface FoundEnvelope {
  records: Buffer;
  valueStart: number;
  valueEnd: number;
}

/** The envelope of uncompressed records, if the first of them is marked; throws BadEnvelope if the mark is of an unknown version. */
export function findEnvelope(records: Buffer): FoundEnvelope | undefined {
  const layout = new RecordLayout();
  readLayout(recordReader(records), layout);
  const { valueStart, valueLength, headerCount, headersStart, end } = layout;
  if (valueLength < 0 || headerCount !== 1) return undefined;
  const markAt = headersStart - 1; // one header: its count is one byte
  const versionAt = MARK.length - 1;
  if (end - markAt !== MARK.length) return undefined;
  if (MARK.compare(records, markAt, end - 1, 0, versionAt) !== 0) return undefined;
  if (records[end - 1] !== VERSION)
    throw new BadEnvelope(`its version is ${records[end - 1]}, and only ${VERSION} is supported`);
  return { records, valueStart, valueEnd: valueStart + valueLength };
}

/** The same in records that are still compressed as we have written them, without decompressing anything. */
export function findStoredEnvelope(gzip: Buffer): FoundEnvelope | undefined {
  const records = storedPart(gzip);
  try {
    return records && findEnvelope(records);
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined; // others store blocks, too, and cut records by them
    throw error;
  }
}
