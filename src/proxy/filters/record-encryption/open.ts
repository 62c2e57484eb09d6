import { aesGcm } from '../../../crypto/aes-gcm.ts';
import type { Pinned } from '../../../crypto/cipher.ts';
import { IV_BYTES, TAG_BYTES } from '../../../crypto/cipher.ts';
import type { DataKey } from '../../../crypto/data-key.ts';
import type { KeyRing } from '../../../crypto/key-ring.ts';
import { BadEnvelope } from '../../../crypto/kms.ts';
import { readParcel } from '../../../crypto/parcel.ts';
import type { ParcelHeader } from '../../../crypto/parcel.ts';
import { readWrapper } from '../../../crypto/wrapper.ts';
import { findMarker } from './marker.ts';
import { Output } from './output.ts';
import { readLayout, RecordLayout, Scan, varintSize } from './record.ts';

/** Room for the lengths of a record, which may need more bytes than they had. */
const LENGTHS = 4 * 5;
/** How a parcel ends that has no headers in it. */
const NO_HEADERS = 0x03;

/** The data key that the last record used. Nearly always the next one uses it too, and the same bytes precede its IV. */
interface Current {
  prefix: Buffer;
  key: DataKey;
}

/**
 * Opens the sealed values of uncompressed records and appends all records to the output; records in the clear pass. If
 * there is nothing to open it returns false and appends nothing; else `begin` is called before the first byte is
 * written. Throws BadEnvelope, UnknownKey or KmsUnavailable if one record cannot be opened: none is then.
 */
export async function openRecords(
  records: Buffer,
  count: number,
  ring: KeyRing,
  output: Output,
  begin: () => void = () => {},
): Promise<boolean> {
  const held = new Map<string, DataKey>();
  const scan = new Scan(records);
  const layout = new RecordLayout();
  let source: Pinned | undefined;
  let current: Current | undefined;
  let copied = 0; // everything before this offset of `records` is in the output
  try {
    for (let i = 0; i < count; i++) {
      const recordStart = scan.at;
      readLayout(scan, layout);
      const dropped = layout.valueLength < 0 ? undefined : findMarker(records, layout);
      if (dropped === undefined) continue;
      if (!current || !precededBy(records, layout, current.prefix)) {
        current = await keyOf(records, layout, ring, held);
      }
      if (copied === 0) begin();
      output.reserve(layout.end - copied + LENGTHS);
      output.copy(records, copied, recordStart);
      openRecord((source ??= aesGcm.pin(records)), layout, current, dropped, output);
      copied = layout.end;
    }
  } finally {
    for (const key of held.values()) key.release();
  }
  if (copied === 0) return false;
  output.append(records, copied, records.length);
  return true;
}

function precededBy(records: Buffer, { valueStart, valueLength }: RecordLayout, prefix: Buffer): boolean {
  if (valueLength < prefix.length + IV_BYTES + TAG_BYTES) return false;
  // The bytes that differ between two data keys are at the end: there a mismatch shows soonest.
  for (let i = prefix.length - 1; i >= 0; i--) if (records[valueStart + i] !== prefix[i]) return false;
  return true;
}

async function keyOf(
  records: Buffer,
  { valueStart, valueLength }: RecordLayout,
  ring: KeyRing,
  held: Map<string, DataKey>,
): Promise<Current> {
  const wrapper = readWrapper(records, valueStart, valueStart + valueLength);
  const id = wrapper.edek.toString('latin1');
  let key = held.get(id);
  if (!key) held.set(id, (key = await ring.openingKey(wrapper.edek)));
  return { prefix: records.subarray(valueStart, wrapper.start - IV_BYTES), key };
}

/**
 * Writes one record in the clear. A parcel with nothing but a value is the value's length and the value, as they stand
 * in a record, and one more byte: so it is decrypted to where it belongs. The received bytes are left as they are.
 */
function openRecord(
  source: Pinned,
  layout: RecordLayout,
  { prefix, key }: Current,
  dropped: number,
  output: Output,
): void {
  const recordAt = output.at;
  const text = layout.valueStart + prefix.length + IV_BYTES;
  const textEnd = layout.valueStart + layout.valueLength - TAG_BYTES;
  const size = textEnd - text;
  const headersStart = layout.headersStart + dropped;
  const headerCount = layout.headerCount - (dropped > 0 ? 1 : 0);
  const before = layout.valueLengthAt - layout.start;
  output.varint(before + size - 1 + varintSize(headerCount) + layout.end - headersStart);
  output.copy(source.buffer, layout.start, layout.valueLengthAt);
  if (!key.cipher.apply(source, text, textEnd, output.pinned, output.at)) {
    throw new BadEnvelope('its tag does not fit');
  }
  const parcelAt = output.at;
  if (!isValueOnly(output.pinned.buffer, parcelAt, size)) {
    const parcel = Buffer.from(output.pinned.buffer.subarray(parcelAt, parcelAt + size));
    output.at = recordAt;
    return writeRecord(source.buffer, layout, parcel, dropped, output);
  }
  output.at = parcelAt + size - 1;
  output.varint(headerCount);
  output.copy(source.buffer, headersStart, layout.end);
}

function isValueOnly(bytes: Buffer, at: number, size: number): boolean {
  if (size < 2 || bytes[at + size - 1] !== NO_HEADERS) return false;
  const scan = new Scan(bytes, at);
  const length = scan.varint();
  return length >= 0 && scan.at + length + 1 === at + size;
}

/** Writes a record whose parcel has headers in it, or no value. We never seal so, but the format allows it. */
function writeRecord(
  records: Buffer,
  layout: RecordLayout,
  parcelBytes: Buffer,
  dropped: number,
  output: Output,
): void {
  const parcel = readParcel(parcelBytes, 0, parcelBytes.length);
  const { valueStart } = layout;
  const value =
    parcel.value === undefined ? records.subarray(valueStart, valueStart + layout.valueLength) : parcel.value;
  const headersStart = layout.headersStart + dropped;
  const headerCount = parcel.headers?.length ?? layout.headerCount - (dropped > 0 ? 1 : 0);
  const headers = parcel.headers ? encodeHeaders(parcel.headers) : records.subarray(headersStart, layout.end);
  const valueLength = value === null ? -1 : value.length;
  const before = layout.valueLengthAt - layout.start;
  const length =
    before + varintSize(valueLength) + (value?.length ?? 0) + varintSize(headerCount) + headers.length;
  output.reserve(length + LENGTHS);
  output.varint(length);
  output.copy(records, layout.start, layout.valueLengthAt);
  output.varint(valueLength);
  if (value) output.copy(value, 0, value.length);
  output.varint(headerCount);
  output.copy(headers, 0, headers.length);
}

function encodeHeaders(headers: readonly ParcelHeader[]): Buffer {
  const fields = headers.flatMap(({ key, value }) => [key, value]);
  const output = new Output(0, 0);
  for (const bytes of fields) {
    output.reserve((bytes?.length ?? 0) + LENGTHS);
    output.varint(bytes?.length ?? -1);
    if (bytes) output.copy(bytes, 0, bytes.length);
  }
  return output.done();
}
