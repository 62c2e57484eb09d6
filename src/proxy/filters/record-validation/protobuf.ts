/**
 * Protocol Buffers: whether bytes are a message of a type. Fields of the type must have the form that it says; required ones must be there, once
 * pieces of a message that come one after the other are put together, as parsers do it.
 */
import { isUtf8 } from 'node:buffer';
import { Reader } from '../../../kafka/reader.ts';
import { registryHeaderOf } from '../../../kafka/values/registry-header.ts';
import type { Field, InnerType, MessageType, ScalarType } from './protobuf-descriptor.ts';
import { bytesOf, readInt32, readPart, readTag, skipField, WIRE } from './protobuf-wire.ts';
import type { Tag } from './protobuf-wire.ts';
import { valueCheck } from './value-check.ts';
import type { ValueCheck } from './value-check.ts';

export interface ProtobufChoice {
  refusesUnknown: boolean;
  hasHeader: boolean;
}

/** What has been seen of a message. */
interface Seen {
  type: MessageType;
  /** Those of its required fields that were there. */
  required: Set<number>;
  /** The last messages in fields that are not repeated: another piece adds to what is there. */
  inner: Map<number, Seen>;
  /** The field of each oneof that counts: the last one. */
  chosen: Map<number, number>;
}

interface Run {
  refusesUnknown: boolean;
  effort: number;
  depth: number;
  /** Messages of which it is remembered what is in them. */
  pieces: number;
}

/** As parsers have it if nothing else is asked of them. */
const MOST_DEPTH = 100;
const MOST_PIECES = 100_000;
const MOST_PLACES = 100;
const YIELD_EVERY = 512;
const WHAT = 'Protobuf message';
const UNKNOWN: MessageType = { fields: new Map(), required: new Set(), isDemanding: false, places: [] };

/** Undefined if nothing is required of it. */
const nothingOf = (type: MessageType): Seen | undefined =>
  type.isDemanding ? { type, required: new Set(), inner: new Map(), chosen: new Map() } : undefined;

const isComplete = ({ type, required, inner }: Seen): boolean =>
  required.size === type.required.size && [...inner.values()].every(isComplete);

/** Checks for a message of this type. */
export const protobufCheck = (type: MessageType, { refusesUnknown, hasHeader }: ProtobufChoice): ValueCheck =>
  valueCheck(function* steps(bytes) {
    const reader = new Reader(bytes, 0, bytes.length, WHAT);
    if (hasHeader) readHeader(reader, type);
    yield* whole(reader, type, { refusesUnknown, effort: 0, depth: 0, pieces: 0 });
  });

/** The header of Confluent's serializers: behind the number of the schema, the place of the message among those of its file. */
function readHeader(reader: Reader, { places }: MessageType): void {
  const header = registryHeaderOf(reader.bytes, 4);
  if (!header) reader.fail('no header of a registry');
  reader.take(header.end);
  const count = reader.varint();
  if (count < 0 || count > MOST_PLACES) reader.fail('no place of a message');
  const place = count === 0 ? '0' : Array.from({ length: count }, () => reader.varint()).join();
  if (!places.includes(place)) reader.fail('another message of the file');
}

/** A message that is not in pieces. */
function* whole(reader: Reader, type: MessageType, run: Run, group?: number): Generator<undefined, true> {
  const seen = nothingOf(type);
  yield* read(reader, type, seen, run, group);
  if (seen && !isComplete(seen)) reader.fail('a required field is missing');
  return true;
}

/** Reads to the end, or to the end of the group of this number. */
function* read(
  reader: Reader,
  type: MessageType,
  seen: Seen | undefined,
  run: Run,
  group?: number,
): Generator<undefined, true> {
  if (run.depth > MOST_DEPTH) reader.fail('messages nested deeper than is looked at');
  run.depth += 1;
  for (;;) {
    if (++run.effort % YIELD_EVERY === 0) yield;
    if (reader.at === reader.end && group === undefined) break;
    const tag = readTag(reader);
    if (tag.wire === WIRE.groupEnd && tag.number === group) break;
    const field = type.fields.get(tag.number);
    const steps = field ? known(reader, field, tag, seen, run) : unknown(reader, tag, run);
    const counts = typeof steps === 'boolean' ? steps : yield* steps;
    if (seen && field && counts) note(seen, field, tag.number);
  }
  run.depth -= 1;
  return true;
}

/** What comes of a field: whether it counts, at once or in steps. */
type Outcome = boolean | Generator<undefined, boolean>;

function unknown(reader: Reader, { number, wire }: Tag, run: Run): Outcome {
  if (run.refusesUnknown) reader.fail('an unknown field');
  if (wire === WIRE.group) return read(reader, UNKNOWN, undefined, run, number);
  skipField(reader, wire);
  return false;
}

function known(reader: Reader, field: Field, tag: Tag, seen: Seen | undefined, run: Run): Outcome {
  const { type, isRepeated } = field;
  if ('message' in type) return message(reader, field, type, tag, seen, run);
  if (tag.wire === FORMS[type.kind]) return scalar(reader, type, run);
  if (tag.wire === WIRE.bytes && isRepeated) return packed(readPart(reader), type, run);
  return reader.fail('a field of another form');
}

function message(
  reader: Reader,
  field: Field,
  { kind, message: type }: InnerType,
  { number, wire }: Tag,
  seen: Seen | undefined,
  run: Run,
): Outcome {
  const isGroup = kind === 'group';
  if (wire !== (isGroup ? WIRE.group : WIRE.bytes)) reader.fail('a field of another form');
  const inner = isGroup ? reader : readPart(reader);
  const end = isGroup ? number : undefined;
  if (field.isRepeated) return whole(inner, type, run, end);
  if (seen && type.isDemanding && ++run.pieces > MOST_PIECES) reader.fail('more messages than are looked at');
  return read(inner, type, seen && piecesOf(seen, field, number, type), run, end);
}

/** What has been seen of the message in this field, if no other of its oneof came in between. */
function piecesOf(
  { inner, chosen }: Seen,
  { oneof }: Field,
  number: number,
  type: MessageType,
): Seen | undefined {
  const before = oneof === undefined || chosen.get(oneof) === number ? inner.get(number) : undefined;
  const seen = before ?? nothingOf(type);
  if (seen) inner.set(number, seen);
  return seen;
}

/** A field was there: one of a oneof takes the place of those before. */
function note({ type, required, inner, chosen }: Seen, { oneof }: Field, number: number): void {
  if (type.required.has(number)) required.add(number);
  if (oneof === undefined) return;
  const before = chosen.get(oneof);
  if (before !== undefined && before !== number) inner.delete(before);
  chosen.set(oneof, number);
}

const FORMS = {
  varint: WIRE.varint,
  enum: WIRE.varint,
  fixed32: WIRE.fixed32,
  fixed64: WIRE.fixed64,
  string: WIRE.bytes,
  bytes: WIRE.bytes,
};

/** False if it is a number that its enum does not have. */
function scalar(reader: Reader, type: ScalarType, run: Run): boolean {
  if (type.kind === 'enum') {
    const isKnown = hasNumber(type.numbers, readInt32(reader));
    if (!isKnown && run.refusesUnknown) reader.fail('a number that is not of the enum');
    return isKnown;
  }
  if (type.kind !== 'string') skipField(reader, FORMS[type.kind]);
  else if (!isUtf8(bytesOf(readPart(reader)))) reader.fail('a string that is not UTF-8');
  return true;
}

const hasNumber = (numbers: ReadonlySet<number> | undefined, number: number): boolean =>
  numbers?.has(number) ?? true;

/** Numbers one after the other. */
function* packed(part: Reader, type: ScalarType, run: Run): Generator<undefined, boolean> {
  while (part.at < part.end) {
    if (++run.effort % YIELD_EVERY === 0) yield;
    scalar(part, type, run);
  }
  return true;
}
