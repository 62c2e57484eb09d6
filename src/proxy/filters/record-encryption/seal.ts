import { aesGcm } from '../../../crypto/aes-gcm.ts';
import { IV_BYTES, TAG_BYTES } from '../../../crypto/cipher.ts';
import { createIvCounter } from '../../../crypto/iv-counter.ts';
import type { SealingKey } from '../../../crypto/key-ring.ts';
import { parcelSize, writeParcel } from '../../../crypto/parcel.ts';
import { wrapperSize } from '../../../crypto/wrapper.ts';
import { varintSize, writeVarint } from '../../../ops/varint.ts';
import { MARKER } from './marker.ts';
import { copyBytes, readLayout, recordReader, RecordLayout } from './record.ts';
import { createTimeSlice, createWorkload } from './time-slice.ts';

/** What sealing can add to a record beside the wrapper's prefix: mark, IV, tag, parcel, and lengths that grow. */
const MOST_ADDED = MARKER.length + IV_BYTES + TAG_BYTES + 6 + 3 * 5;

/**
 * Seals the values of uncompressed records, and leaves `headRoom` free bytes before them. A record without a value is a
 * tombstone: it stays as it is, or the broker's compaction would no longer know it for one.
 */
export async function sealRecords(
  records: Buffer,
  count: number,
  key: Pick<SealingKey, 'cipher' | 'prefix'>,
  headRoom = 0,
  yieldTurn = createTimeSlice(),
  ivs = createIvCounter(),
): Promise<Buffer> {
  const output = Buffer.allocUnsafeSlow(headRoom + records.length + count * (key.prefix.length + MOST_ADDED));
  const pinned = aesGcm.pin(output);
  const reader = recordReader(records);
  const layout = new RecordLayout();
  const workload = createWorkload(yieldTurn);
  let at = headRoom;
  for (let i = 0; i < count; i++) {
    const recordStart = reader.at;
    readLayout(reader, layout);
    if (layout.valueLength < 0) {
      at = copyBytes(records, recordStart, layout.end, output, at);
      continue;
    }
    const text = writeOpenRecord(records, layout, key.prefix, output, at);
    ivs.writeNext(output, text.start - IV_BYTES);
    key.cipher.apply(pinned, text.start, text.end);
    at = text.recordEnd;
    const turn = workload(layout.valueLength);
    if (turn) await turn;
  }
  if (reader.at !== records.length) reader.fail('there are bytes behind the last record');
  return output.subarray(0, at);
}

/** Writes the sealed record, but for its IV, with the parcel still in the clear, and says where that is. */
function writeOpenRecord(
  records: Buffer,
  layout: RecordLayout,
  prefix: Buffer,
  output: Buffer,
  from: number,
): { start: number; end: number; recordEnd: number } {
  const valueLength = wrapperSize(prefix, parcelSize(layout.valueLength));
  const before = layout.valueLengthAt - layout.start;
  const headers = layout.end - layout.headersStart;
  const headerCount = layout.headerCount + 1;
  const length =
    before + varintSize(valueLength) + valueLength + varintSize(headerCount) + MARKER.length + headers;
  let at = writeVarint(output, from, length);
  at = copyBytes(records, layout.start, layout.valueLengthAt, output, at);
  at = writeVarint(output, at, valueLength);
  const start = copyBytes(prefix, 0, prefix.length, output, at) + IV_BYTES;
  const { valueStart } = layout;
  const end = writeParcel(output, start, records, valueStart, valueStart + layout.valueLength);
  at = writeVarint(output, end + TAG_BYTES, headerCount);
  at = copyBytes(MARKER, 0, MARKER.length, output, at);
  const recordEnd = copyBytes(records, layout.headersStart, layout.end, output, at);
  return { start, end, recordEnd };
}
