/**
 * Walks through a value in Avro's binary encoding by its schema, and notes where parts of it are to be replaced. The bytes do not say what they are,
 * so some that are of another schema fit by chance: what fails is what no consumer could read.
 */
import { isUtf8 } from 'node:buffer';
import { varlongSize, writeVarlong } from '../../ops/varint.ts';
import { Reader } from '../reader.ts';
import type { AvroType } from './avro-schema.ts';

/** What is to be replaced in values of a type. Those of a union have it by the number of the branch. */
export interface Replacement {
  /** Stands in the place of the whole value. */
  by?: Buffer;
  /** Of fields by their names, of items by their places, of values of a map by their keys. */
  parts?: ReadonlyMap<string, Replacement>;
  /** Of items and of values of a map that are not among those. */
  others?: Replacement | undefined;
}

/** Where bytes are to be replaced, in order: from and to, and what stands there instead. */
export interface Edits {
  spans: number[];
  by: Buffer[];
}

interface Run extends Edits {
  left: number;
  depth: number;
}

const MOST_VALUES = 1_000_000;
const MOST_DEPTH = 200;
const YIELD_EVERY = 512;
const MOST_LONG_BYTES = 10;

/** Reads a value that begins at `start` and ends with the bytes, step by step. Throws MalformedMessage if it is none of this type, or too much of one. */
export function* avroSteps(
  bytes: Buffer,
  start: number,
  type: AvroType,
  replacement?: Replacement,
): Generator<undefined, Edits> {
  const reader = new Reader(bytes, start, bytes.length, 'Avro value');
  const run: Run = { left: MOST_VALUES, depth: 0, spans: [], by: [] };
  const steps = visit(reader, type, run, replacement);
  if (steps) yield* steps;
  if (reader.at !== bytes.length) reader.fail('more bytes than the value has');
  return run;
}

/** What has no parts is read at once; of all else these are the steps. */
type Steps = Generator<undefined, void> | void;

function visit(reader: Reader, type: AvroType, run: Run, replacement: Replacement | undefined): Steps {
  return replacement?.by ? replace(reader, type, run, replacement.by) : read(reader, type, run, replacement);
}

function* replace(reader: Reader, type: AvroType, run: Run, by: Buffer): Generator<undefined, void> {
  const start = reader.at;
  const steps = read(reader, type, run, undefined);
  if (steps) yield* steps;
  note(run, start, reader.at, by);
}

function note(run: Run, from: number, to: number, by: Buffer): void {
  run.spans.push(from, to);
  run.by.push(by);
}

function read(reader: Reader, type: AvroType, run: Run, replacement: Replacement | undefined): Steps {
  if (type.kind === 'union') {
    const branch = readLong(reader);
    const of = type.branches[branch] ?? reader.fail('no branch of the union');
    return visit(reader, of, run, replacement?.parts?.get(String(branch)));
  }
  run.left -= 1;
  if (run.left < 0) reader.fail('more values than are looked at');
  switch (type.kind) {
    case 'null':
      return;
    case 'boolean':
      return readBoolean(reader);
    case 'int':
      return void readInt(reader);
    case 'long':
      return void readLong(reader);
    case 'float':
      return void reader.take(4);
    case 'double':
      return void reader.take(8);
    case 'bytes':
      return void readBytes(reader);
    case 'string':
      return void readString(reader);
    case 'fixed':
      return void reader.take(type.size);
    case 'enum':
      if (type.symbols[readInt(reader)] === undefined) reader.fail('no symbol of the enum');
      return;
    case 'record':
      return record(reader, type.fields, run, replacement?.parts);
    case 'array':
    case 'map':
      return blocks(reader, type, run, replacement);
  }
}

function* record(
  reader: Reader,
  fields: readonly { name: string; type: AvroType }[],
  run: Run,
  parts: ReadonlyMap<string, Replacement> | undefined,
): Generator<undefined, void> {
  if (run.depth >= MOST_DEPTH) reader.fail('records nested deeper than is looked at');
  run.depth += 1;
  for (const { name, type } of fields) {
    const steps = visit(reader, type, run, parts?.get(name));
    if (steps) yield* steps;
    if (run.left % YIELD_EVERY === 0) yield;
  }
  run.depth -= 1;
}

/** Arrays and maps are blocks of items, each with its count; a count below zero has the size of the block behind it. */
function* blocks(
  reader: Reader,
  { kind, items }: { kind: 'array' | 'map'; items: AvroType },
  run: Run,
  replacement: Replacement | undefined,
): Generator<undefined, void> {
  let place = 0;
  for (;;) {
    const start = reader.at;
    const count = readLong(reader);
    if (count === 0) return;
    const size = count < 0 ? readLong(reader) : undefined;
    const first = reader.at;
    // Its size may not be what it was once something in it is replaced, so it goes without.
    if (replacement && size !== undefined) note(run, start, first, encodeLong(-count));
    for (let i = Math.abs(count); i > 0; i--) {
      const step = kind === 'map' ? readString(reader) : place++;
      const of = replacement && (replacement.parts?.get(String(step)) ?? replacement.others);
      const steps = visit(reader, items, run, of);
      if (steps) yield* steps;
      if (run.left % YIELD_EVERY === 0) yield;
    }
    if (size !== undefined && reader.at - first !== size)
      reader.fail('a block that is not as long as it says');
  }
}

/** ZigZag of up to 64 bits; what no number holds exactly is of no use as a length, and no harm elsewhere. */
function readLong(reader: Reader): number {
  const start = reader.at;
  while ((reader.bytes[reader.take(1)]! & 0x80) !== 0)
    if (reader.at - start >= MOST_LONG_BYTES) reader.fail('a number of more than 64 bits');
  let value = 0;
  for (let at = reader.at - 1; at >= start; at--) value = value * 128 + (reader.bytes[at]! & 0x7f);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

function readInt(reader: Reader): number {
  const value = readLong(reader);
  return value < -(2 ** 31) || value >= 2 ** 31 ? reader.fail('an int of more than 32 bits') : value;
}

function readBytes(reader: Reader): Buffer {
  const length = readLong(reader);
  const start = reader.take(length);
  return reader.bytes.subarray(start, start + length);
}

function readBoolean(reader: Reader): void {
  if (reader.bytes[reader.take(1)]! > 1) reader.fail('no boolean');
}

function readString(reader: Reader): Buffer {
  const bytes = readBytes(reader);
  return isUtf8(bytes) ? bytes : reader.fail('a string that is not UTF-8');
}

/** A number as Avro writes it, of what a JavaScript number holds exactly. */
export function encodeLong(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(varlongSize(value));
  writeVarlong(bytes, 0, value);
  return bytes;
}
