import { aesGcm } from '../../../crypto/aes-gcm.ts';
import type { BatchPlace } from '../../../crypto/batch-envelope.ts';
import type { Pinned } from '../../../crypto/cipher.ts';
import { IV_BYTES, TAG_BYTES } from '../../../crypto/cipher.ts';
import type { DataKey } from '../../../crypto/data-key.ts';
import { BadEnvelope } from '../../../crypto/kms.ts';
import { readParcel } from '../../../crypto/parcel.ts';
import type { ParcelHeader } from '../../../crypto/parcel.ts';
import { readWrapper } from '../../../crypto/wrapper.ts';
import { varintSize, writeVarint } from '../../../ops/varint.ts';
import { findMarker } from './marker.ts';
import type { Output } from './output.ts';
import { readLayout, recordReader, RecordLayout } from './record.ts';
import { createWorkload } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';

/** How a parcel ends that has no headers in it. */
const NO_HEADERS = 0x03;
const NOTHING = Buffer.alloc(0);

/** The data key that the last record used. Nearly always the next one uses it too, and the same bytes precede its IV. */
interface Current {
  prefix: Buffer;
  key: DataKey;
}

/** What may be opened, and what must be. */
export interface Opener {
  /** The data key of this wrapped key, held for the caller; throws if the records at hand must not be sealed with it. */
  openingKey(edek: Buffer): DataKey | Promise<DataKey>;
  /** Whether a value in the clear is refused. */
  readonly mustBeSealed?: boolean;
  /** Where the records are: what was sealed for another place is not opened. */
  readonly place: BatchPlace;
  /** With whom all that is opened for one virtual cluster waits in line. */
  readonly owner: object;
}

/** A value in the clear where all must be sealed: somebody has written it past this filter, or changed it. */
export class Unsealed extends Error {
  constructor() {
    super('a record is not sealed, and the topic must not have such');
    this.name = 'Unsealed';
  }
}

/**
 * Opens the sealed values of uncompressed records, which are the source of the output from `base` on, and writes all
 * records; those in the clear pass, if they may. If there is nothing to open it returns false and writes nothing; else
 * `begin` is called before the first byte is written. Throws Unsealed, BadEnvelope, UnknownKey or KmsUnavailable if one
 * record cannot be opened: then the source is spoilt.
 */
export async function openRecords(
  records: Buffer,
  count: number,
  opener: Opener,
  output: Output,
  yieldTurn: YieldTurn,
  { base = 0, begin = () => {} }: { base?: number; begin?: () => void } = {},
): Promise<boolean> {
  const held = new Map<string, DataKey>();
  const reader = recordReader(records);
  const layout = new RecordLayout();
  const workload = createWorkload(yieldTurn);
  let source: Pinned | undefined;
  let current: Current | undefined;
  let copied = 0; // everything before this offset of `records` is in the output
  try {
    for (let i = 0; i < count; i++) {
      const turn = workload(layout.valueLength);
      if (turn) await turn;
      const recordStart = reader.at;
      readLayout(reader, layout);
      if (layout.valueLength < 0) continue;
      const dropped = findMarker(records, layout);
      if (dropped === undefined) {
        if (opener.mustBeSealed) throw new Unsealed();
        continue;
      }
      if (!current || !precededBy(records, layout, current.prefix)) {
        current = await keyOf(records, layout, opener, held);
      }
      if (copied === 0) begin();
      output.release(base + recordStart);
      output.append(records, copied, recordStart);
      output.release(base + layout.end);
      openRecord((source ??= aesGcm.pin(records)), layout, current, dropped, output);
      copied = layout.end;
    }
  } finally {
    for (const key of held.values()) key.release();
  }
  if (copied === 0) return false;
  output.release(base + records.length);
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
  opener: Opener,
  held: Map<string, DataKey>,
): Promise<Current> {
  const wrapper = readWrapper(records, valueStart, valueStart + valueLength);
  const id = wrapper.edek.toString('latin1');
  let key = held.get(id);
  if (!key) held.set(id, (key = await opener.openingKey(wrapper.edek)));
  // A copy, because the records are written over.
  return { prefix: Buffer.from(records.subarray(valueStart, wrapper.start - IV_BYTES)), key };
}

/**
 * Writes one record in the clear. A parcel with nothing but a value is the value's length and the value, as they stand
 * in a record, and one more byte.
 */
function openRecord(
  source: Pinned,
  layout: RecordLayout,
  { prefix, key }: Current,
  dropped: number,
  output: Output,
): void {
  const { buffer } = source;
  const text = layout.valueStart + prefix.length + IV_BYTES;
  const textEnd = layout.valueStart + layout.valueLength - TAG_BYTES;
  if (!key.cipher.apply(source, text, textEnd)) throw new BadEnvelope('its tag does not fit');
  if (!isValueOnly(buffer, text, textEnd)) return writeRecord(buffer, layout, text, textEnd, dropped, output);
  const headersStart = layout.headersStart + dropped;
  const headerCount = layout.headerCount - (dropped > 0 ? 1 : 0);
  const before = layout.valueLengthAt - layout.start;
  const length = before + textEnd - 1 - text + varintSize(headerCount) + layout.end - headersStart;
  output.reserve(varintSize(length) + length);
  output.varint(length);
  output.copy(buffer, layout.start, layout.valueLengthAt);
  output.copy(buffer, text, textEnd - 1);
  output.varint(headerCount);
  output.copy(buffer, headersStart, layout.end);
}

function isValueOnly(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < 2 || bytes[end - 1] !== NO_HEADERS) return false;
  const reader = recordReader(bytes, start);
  const length = reader.varint();
  return length >= 0 && reader.at + length + 1 === end;
}

/** Writes a record whose parcel has headers in it, or no value. We never seal so, but the format allows it. */
function writeRecord(
  records: Buffer,
  layout: RecordLayout,
  text: number,
  textEnd: number,
  dropped: number,
  output: Output,
): void {
  const { valueStart, valueLength } = layout;
  const { value = records.subarray(valueStart, valueStart + valueLength), headers } = readParcel(
    records,
    text,
    textEnd,
  );
  const headerCount = headers?.length ?? layout.headerCount - (dropped > 0 ? 1 : 0);
  const body = Buffer.concat([
    records.subarray(layout.start, layout.valueLengthAt),
    varintOf(value === null ? -1 : value.length),
    value ?? NOTHING,
    varintOf(headerCount),
    headers ? encodeHeaders(headers) : records.subarray(layout.headersStart + dropped, layout.end),
  ]);
  output.append(Buffer.concat([varintOf(body.length), body]));
}

function encodeHeaders(headers: readonly ParcelHeader[]): Buffer {
  const fields = headers.flatMap(({ key, value }) => [key, value]);
  return Buffer.concat(fields.flatMap((bytes) => [varintOf(bytes?.length ?? -1), bytes ?? NOTHING]));
}

function varintOf(value: number): Buffer {
  const bytes = Buffer.alloc(varintSize(value));
  writeVarint(bytes, 0, value);
  return bytes;
}
