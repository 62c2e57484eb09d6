import { encodeLong } from '../../../kafka/values/avro-walk.ts';
import type { AvroField, AvroType } from '../../../kafka/values/avro-schema.ts';

/** What a user wants to stand in the place of a field. */
export type Mask = string | number | boolean | null;

const MOST_BYTES = 65_536;
const MOST_TYPES = 10_000;
/** Bytes that are as much work as a type; they are copied into each record around them. */
const BYTES_A_STEP = 64;
const INT_ENDS = 2 ** 31;
/** No blocks. */
const NO_ITEMS = Buffer.from([0]);

/** A value of a type that shows nothing but the mask, in Avro's encoding; or in words, why there is none. What it takes is charged. */
export function maskOf(type: AvroType, mask: Mask, charge: (steps: number) => void): Buffer | string {
  /** Records that are being masked: within themselves they would never end. */
  const open = new Set<AvroType>();
  let left = MOST_TYPES;

  function find(of: AvroType): Buffer | string {
    left -= 1;
    if (left < 0) return 'has too many parts to be masked as a whole';
    const found = make(of);
    charge(1 + Math.floor(found.length / BYTES_A_STEP));
    return found;
  }

  function make(of: AvroType): Buffer | string {
    if (of.kind === 'union') return ofUnion(of.branches);
    if (of.kind === 'record') return ofRecord(of, of.fields);
    if (of.kind === 'enum') return ofEnum(of.symbols, mask);
    if (of.kind === 'fixed') return ofFixed(of.size, mask);
    return OF[of.kind](mask);
  }

  /** The first branch that can be masked so; null only if there is none, or if null is wanted. */
  function ofUnion(branches: readonly AvroType[]): Buffer | string {
    const none = branches.findIndex(({ kind }) => kind === 'null');
    if (mask === null && none >= 0) return encodeLong(none);
    for (const [i, branch] of branches.entries()) {
      const found = branch.kind === 'null' ? '' : find(branch);
      if (typeof found !== 'string') return Buffer.concat([encodeLong(i), found]);
    }
    return none >= 0 ? encodeLong(none) : 'is a union that has neither null nor a type for this mask';
  }

  function ofRecord(of: AvroType, fields: readonly AvroField[]): Buffer | string {
    if (open.has(of)) return 'is a record that has itself among its fields';
    open.add(of);
    const masked = ofFields(fields);
    open.delete(of);
    return masked;
  }

  function ofFields(fields: readonly AvroField[]): Buffer | string {
    const parts: Buffer[] = [];
    let length = 0;
    for (const { name, type: inner } of fields) {
      const found = find(inner);
      if (typeof found === 'string') return `is a record whose field ${name} ${found}`;
      parts.push(found);
      length += found.length;
      if (length > MOST_BYTES) return `would be longer than ${MOST_BYTES} bytes when it is masked`;
    }
    return Buffer.concat(parts);
  }
  return find(type);
}

const isWhole = (mask: Mask): mask is number => Number.isSafeInteger(mask);

function ofText(mask: Mask, what: string): Buffer | string {
  if (typeof mask !== 'string') return `is ${what}, whose mask has to be a text`;
  const bytes = Buffer.from(mask);
  return Buffer.concat([encodeLong(bytes.length), bytes]);
}

/** A number of so many bytes, the lowest first. */
function ofFraction(mask: Mask, what: string, size: 4 | 8): Buffer | string {
  if (typeof mask !== 'number' || (size === 4 && !Number.isFinite(Math.fround(mask))))
    return `is ${what}, whose mask has to be a number that it can hold`;
  const bytes = Buffer.alloc(size);
  if (size === 4) bytes.writeFloatLE(mask);
  else bytes.writeDoubleLE(mask);
  return bytes;
}

const OF = {
  null: () => Buffer.alloc(0),
  array: () => NO_ITEMS,
  map: () => NO_ITEMS,
  boolean: (mask: Mask) =>
    typeof mask === 'boolean'
      ? Buffer.from([mask ? 1 : 0])
      : 'is a boolean, whose mask has to be true or false',
  int: (mask: Mask) =>
    isWhole(mask) && mask >= -INT_ENDS && mask < INT_ENDS
      ? encodeLong(mask)
      : 'is an int, whose mask has to be a whole number of 32 bits',
  long: (mask: Mask) =>
    isWhole(mask) ? encodeLong(mask) : 'is a long, whose mask has to be a whole number within 2^53',
  float: (mask: Mask) => ofFraction(mask, 'a float', 4),
  double: (mask: Mask) => ofFraction(mask, 'a double', 8),
  bytes: (mask: Mask) => ofText(mask, 'bytes'),
  string: (mask: Mask) => ofText(mask, 'a string'),
};

function ofEnum(symbols: readonly string[], mask: Mask): Buffer | string {
  const place = symbols.indexOf(mask as string);
  return place >= 0 ? encodeLong(place) : 'is an enum, whose mask has to be one of its symbols';
}

/** The text's bytes, cut off or filled up with zeros. */
function ofFixed(size: number, mask: Mask): Buffer | string {
  if (typeof mask !== 'string') return 'is fixed, whose mask has to be a text';
  if (size > MOST_BYTES) return `is fixed of more than ${MOST_BYTES} bytes`;
  const bytes = Buffer.alloc(size);
  bytes.write(mask);
  return bytes;
}
