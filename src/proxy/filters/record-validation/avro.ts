import { isUtf8 } from 'node:buffer';
import { MalformedMessage } from '../../../kafka/malformed.ts';
import { Reader } from '../../../kafka/reader.ts';

/**
 * Avro (1.11), structure alone: whether bytes are a value of a schema in Avro's binary encoding. Logical types are what they are made of. Avro's bytes do
 * not say what they are, so some that are of another schema fit by chance: this refuses what no consumer could read.
 */

/** Reads past a value of a schema, at once or in steps; throws MalformedMessage where there is none. */
type Skip = (reader: Reader, run: Run) => void | Generator<undefined, void>;

interface Run {
  left: number;
  depth: number;
}

export type AvroCheck = (bytes: Buffer) => Generator<undefined, boolean>;

const MOST_VALUES = 1_000_000;
const MOST_DEPTH = 200;
const YIELD_EVERY = 512;
const MOST_LONG_BYTES = 10;

type Values = Record<string, unknown>;
const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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

function skipBytes(reader: Reader): Buffer {
  const length = readLong(reader);
  const start = reader.take(length);
  return reader.bytes.subarray(start, start + length);
}

function* go(skip: Skip, reader: Reader, run: Run): Generator<undefined, void> {
  const steps = skip(reader, run);
  if (steps) yield* steps;
}

function readBoolean(reader: Reader): void {
  if (reader.bytes[reader.take(1)]! > 1) reader.fail('no boolean');
}

function readString(reader: Reader): void {
  if (!isUtf8(skipBytes(reader))) reader.fail('a string that is not UTF-8');
}

const PRIMITIVES: Record<string, Skip> = {
  null: () => {},
  boolean: readBoolean,
  int: (reader) => void readInt(reader),
  long: (reader) => void readLong(reader),
  float: (reader) => void reader.take(4),
  double: (reader) => void reader.take(8),
  bytes: (reader) => void skipBytes(reader),
  string: readString,
};

/** Makes a check of a schema; throws with the place of what is wrong. `hasId`: five bytes come first, as Confluent's serializers write them. */
export function compileAvroSchema(schema: unknown, hasId: boolean): AvroCheck {
  const skip = createCompiler()(schema, '', 'schema');
  return function* check(bytes) {
    const reader = new Reader(bytes, 0, bytes.length, 'Avro value');
    try {
      if (hasId && (reader.bytes[reader.take(1)] !== 0 || reader.take(4) < 0)) return false;
      yield* go(skip, reader, { left: MOST_VALUES, depth: 0 });
      return reader.at === bytes.length;
    } catch (error) {
      if (error instanceof MalformedMessage) return false;
      throw error;
    }
  };
}

/** Counts what is read, so that neither nesting nor lists of nothing take for ever. */
const bounded = (find: () => Skip): Skip =>
  function* (reader, run) {
    run.left -= 1;
    if (run.left < 0 || run.depth >= MOST_DEPTH) reader.fail('more values than are looked at');
    if (run.left % YIELD_EVERY === 0) yield;
    run.depth += 1;
    yield* go(find(), reader, run);
    run.depth -= 1;
  };

/** Arrays and maps are blocks of items, each with its count; a count below zero has the size of the block behind it. */
const blocks = (item: Skip, isMap: boolean): Skip =>
  function* (reader, run) {
    for (;;) {
      const count = readLong(reader);
      if (count === 0) return;
      if (count < 0) readLong(reader);
      for (let i = Math.abs(count); i > 0; i--) {
        if (isMap) readString(reader);
        yield* go(item, reader, run);
      }
    }
  };

const fullName = (name: string, namespace: string): string =>
  name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;

function createCompiler() {
  /** Named types, by their full names; a type may lead to itself. */
  const named = new Map<string, Skip>();

  function compile(schema: unknown, namespace: string, at: string): Skip {
    if (typeof schema === 'string') return byName(schema, namespace, at);
    if (Array.isArray(schema)) return union(schema, namespace, at);
    if (!isObject(schema)) throw new Error(`${at} must be a schema of Avro`);
    switch (schema['type']) {
      case 'record':
      case 'error':
      case 'enum':
      case 'fixed':
        return define(schema, namespace, at);
      case 'array':
        return blocks(compile(schema['items'], namespace, `${at}.items`), false);
      case 'map':
        return blocks(compile(schema['values'], namespace, `${at}.values`), true);
      default:
        return compile(schema['type'], namespace, `${at}.type`);
    }
  }

  function byName(name: string, namespace: string, at: string): Skip {
    const primitive = Object.hasOwn(PRIMITIVES, name) ? PRIMITIVES[name] : undefined;
    if (primitive) return bounded(() => primitive);
    const full = named.has(fullName(name, namespace)) ? fullName(name, namespace) : name;
    if (!named.has(full)) throw new Error(`${at} names a type that is not defined before it`);
    return bounded(() => named.get(full)!);
  }

  function union(branches: readonly unknown[], namespace: string, at: string): Skip {
    const options = branches.map((each, i) => compile(each, namespace, `${at}.${i}`));
    return function* (reader, run) {
      yield* go(options[readLong(reader)] ?? reader.fail('no branch of the union'), reader, run);
    };
  }

  /** A type with a name: it is known by that from here on, also within itself. */
  function define(schema: Values, namespace: string, at: string): Skip {
    const { name, namespace: own = namespace } = schema;
    if (typeof name !== 'string' || name === '' || typeof own !== 'string')
      throw new Error(`${at} must have a name`);
    const full = fullName(name, own);
    if (named.has(full)) throw new Error(`${at} defines a name again`);
    let skip: Skip | undefined;
    const self = bounded(() => skip!);
    named.set(full, self);
    const inner = full.includes('.') ? full.slice(0, full.lastIndexOf('.')) : '';
    if (schema['type'] === 'enum') skip = enumeration(schema['symbols'], at);
    else if (schema['type'] === 'fixed') skip = fixed(schema['size'], at);
    else skip = record(schema['fields'], inner, at);
    return self;
  }

  function record(fields: unknown, namespace: string, at: string): Skip {
    if (!Array.isArray(fields) || !fields.every(isObject))
      throw new Error(`${at}.fields must be a list of fields`);
    const skips = fields.map(({ type }, i) => compile(type, namespace, `${at}.fields.${i}.type`));
    return function* (reader, run) {
      for (const skip of skips) yield* go(skip, reader, run);
    };
  }
  return compile;
}

function enumeration(symbols: unknown, at: string): Skip {
  if (!Array.isArray(symbols) || symbols.length === 0) throw new Error(`${at}.symbols must be a list`);
  return (reader) => {
    const index = readInt(reader);
    if (index < 0 || index >= symbols.length) reader.fail('no symbol of the enum');
  };
}

function fixed(size: unknown, at: string): Skip {
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw new Error(`${at}.size must be a number of bytes`);
  return (reader) => void reader.take(size);
}
