import { aesGcm } from '../../../crypto/aes-gcm.ts';
import type { Pinned } from '../../../crypto/cipher.ts';
import { IV_BYTES, TAG_BYTES } from '../../../crypto/cipher.ts';
import type { DataKey } from '../../../crypto/data-key.ts';
import type { KeyRing } from '../../../crypto/key-ring.ts';
import { BadEnvelope } from '../../../crypto/kms.ts';
import { readParcel } from '../../../crypto/parcel.ts';
import type { Parcel, ParcelHeader } from '../../../crypto/parcel.ts';
import { readWrapper } from '../../../crypto/wrapper.ts';
import { findMarker } from './marker.ts';
import { copyBytes, readLayout, RecordLayout, Scan, varintSize, writeVarint } from './record.ts';

/** Lengths can need more bytes in the clear than in the parcel. */
const MOST_ADDED = 3 * 5;

/** The data key that the last record used. Nearly always the next one uses it too, and the same bytes precede its IV. */
interface Current {
  prefix: Buffer;
  key: DataKey;
}

/**
 * Opens the sealed values of uncompressed records; records in the clear pass. Returns undefined if there was nothing to
 * open, else the records behind `headRoom` free bytes. Throws BadEnvelope, UnknownKey or KmsUnavailable if one record
 * cannot be opened: none is then.
 */
export async function openRecords(
  records: Buffer,
  count: number,
  ring: KeyRing,
  headRoom = 0,
): Promise<Buffer | undefined> {
  const held = new Map<string, DataKey>();
  const scan = new Scan(records);
  const layout = new RecordLayout();
  let output: Buffer = Buffer.alloc(0);
  let at = headRoom;
  let copied = 0; // everything before this offset of `records` is in the output
  let current: Current | undefined;
  try {
    for (let i = 0; i < count; i++) {
      const recordStart = scan.at;
      readLayout(scan, layout);
      const dropped = layout.valueLength < 0 ? undefined : findMarker(records, layout);
      if (dropped === undefined) continue;
      if (!current || !precededBy(records, layout, current.prefix)) {
        current = await keyOf(records, layout, ring, held);
      }
      const parcel = openParcel(records, layout, current);
      output = ensureRoom(
        output,
        at,
        layout.end - copied + addedByHeaders(parcel),
        headRoom + records.length,
      );
      at = copyBytes(records, copied, recordStart, output, at);
      at = writeRecord(records, layout, parcel, dropped, output, at);
      copied = layout.end;
    }
  } finally {
    for (const key of held.values()) key.release();
  }
  if (copied === 0) return undefined;
  output = ensureRoom(output, at, records.length - copied, 0);
  return output.subarray(0, copyBytes(records, copied, records.length, output, at));
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

/** Where values are decrypted: the received bytes stay as they are, since they may be forwarded after all. */
let scratch: Pinned = aesGcm.pin(Buffer.allocUnsafeSlow(64 * 1024));
const LARGEST_KEPT_SCRATCH = 1024 * 1024;

function openParcel(records: Buffer, layout: RecordLayout, { prefix, key }: Current): Parcel {
  const ivAt = layout.valueStart + prefix.length;
  const size = layout.valueStart + layout.valueLength - ivAt;
  let room = scratch;
  if (size > room.buffer.length) room = aesGcm.pin(Buffer.allocUnsafeSlow(size));
  if (room !== scratch && size <= LARGEST_KEPT_SCRATCH) scratch = room;
  copyBytes(records, ivAt, ivAt + size, room.buffer, 0);
  if (!key.cipher.apply(room, IV_BYTES, size - TAG_BYTES)) throw new BadEnvelope('its tag does not fit');
  return readParcel(room.buffer, IV_BYTES, size - TAG_BYTES);
}

function addedByHeaders({ headers }: Parcel): number {
  return MOST_ADDED + (headers?.length ?? 0);
}

function ensureRoom(output: Buffer, used: number, more: number, atFirst: number): Buffer {
  if (used + more <= output.length) return output;
  const larger = Buffer.allocUnsafe(Math.max(used + more, output.length === 0 ? atFirst : output.length * 2));
  output.copy(larger, 0, 0, used);
  return larger;
}

function writeRecord(
  records: Buffer,
  layout: RecordLayout,
  parcel: Parcel,
  dropped: number,
  output: Buffer,
  from: number,
): number {
  const { valueStart } = layout;
  const value =
    parcel.value === undefined ? records.subarray(valueStart, valueStart + layout.valueLength) : parcel.value;
  const valueLength = value === null ? -1 : value.length;
  const headersStart = layout.headersStart + dropped;
  const headerCount = parcel.headers?.length ?? layout.headerCount - (dropped > 0 ? 1 : 0);
  const headersSize = parcel.headers ? sizeOfHeaders(parcel.headers) : layout.end - headersStart;
  const before = layout.valueLengthAt - layout.start;
  const length =
    before + varintSize(valueLength) + (value?.length ?? 0) + varintSize(headerCount) + headersSize;
  let at = writeVarint(output, from, length);
  at = copyBytes(records, layout.start, layout.valueLengthAt, output, at);
  at = writeVarint(output, at, valueLength);
  if (value) at = copyBytes(value, 0, value.length, output, at);
  at = writeVarint(output, at, headerCount);
  if (parcel.headers) return writeHeaders(parcel.headers, output, at);
  return copyBytes(records, headersStart, layout.end, output, at);
}

function sizeOfHeaders(headers: readonly ParcelHeader[]): number {
  const sizeOf = (bytes: Buffer | null) => varintSize(bytes?.length ?? -1) + (bytes?.length ?? 0);
  return headers.reduce((sum, { key, value }) => sum + sizeOf(key) + sizeOf(value), 0);
}

function writeHeaders(headers: readonly ParcelHeader[], output: Buffer, from: number): number {
  let at = from;
  for (const bytes of headers.flatMap(({ key, value }) => [key, value])) {
    at = writeVarint(output, at, bytes?.length ?? -1);
    if (bytes) at = copyBytes(bytes, 0, bytes.length, output, at);
  }
  return at;
}
