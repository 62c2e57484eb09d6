import type { Reader } from './reader.ts';
import { NEVER, includes } from './schema.ts';
import type { Field, Schema } from './schema.ts';
import type { Writer } from './writer.ts';

/**
 * Turns a schema and a version into straight-line JavaScript, one function a struct and one an array: a decoder
 * that walks the schema instead is several times slower. Only names and numbers of our own schemas get into the
 * text. A decoded object has every field of the message, in every version: what the version lacks has its default.
 */

export type Decode = (reader: Reader) => unknown;
export type Encode = (writer: Writer, value: unknown) => void;

interface Target {
  version: number;
  flexible: boolean;
  /** Source text of the functions so far, and the name of each struct's. */
  functions: string[];
  structs: Map<Field[], string>;
  arrays: number;
}

const ZERO_UUID = 'A'.repeat(22);
export const FIXED_SIZES: Readonly<Record<string, number>> = {
  bool: 1,
  int8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  float64: 8,
  uuid: 16,
};

const isPlain = (field: Field, { version }: Target) =>
  field.tag === undefined && includes(field.versions, version);
const isTagged = (field: Field, { version }: Target) =>
  field.tag !== undefined && includes(field.versions, version);
const isNullable = (field: Field, { version }: Target) => includes(field.nullable, version);

/** The fewest bytes that a value of this field can take. */
function smallestSize(field: Field, target: Target): number {
  if (field.array || field.type === 'bytes' || field.type === 'records') return target.flexible ? 1 : 4;
  if (field.type === 'string') return target.flexible ? 1 : 2;
  if (!field.fields) return FIXED_SIZES[field.type]!;
  return isNullable(field, target) ? 1 : smallestStruct(field.fields, target);
}

function smallestStruct(fields: Field[], target: Target): number {
  let size = target.flexible ? 1 : 0;
  for (const field of fields) if (isPlain(field, target)) size += smallestSize(field, target);
  return Math.max(size, 1);
}

/** An array's elements as a field of their own; only the array as a whole may be null. */
const elementOf = (field: Field): Field => ({ ...field, array: false, nullable: NEVER });

/** The default of a field as source text. */
function defaultOf(field: Field, target: Target): string {
  const present = includes(field.versions, target.version);
  if ((field.fallback === 'null' || field.type === 'records') && (isNullable(field, target) || !present))
    return 'null';
  if (field.array) return '[]';
  if (field.fields) return `{ ${field.fields.map((f) => `${f.name}: ${initialOf(f, target)}`).join(', ')} }`;
  switch (field.type) {
    case 'bool':
      return field.fallback === 'true' ? 'true' : 'false';
    case 'int64':
      return `${BigInt(field.fallback ?? 0)}n`;
    case 'uuid':
      return `'${ZERO_UUID}'`;
    case 'string':
      return JSON.stringify(field.fallback === 'null' ? '' : (field.fallback ?? ''));
    case 'bytes':
    case 'records':
      return 'EMPTY';
    default:
      return String(Number(field.fallback ?? 0));
  }
}

/** What a decoded object starts with: a tagged field that was not sent is undefined, so that it is not sent on. */
const initialOf = (field: Field, target: Target) =>
  field.tag === undefined ? defaultOf(field, target) : 'undefined';

function structReader(fields: Field[], target: Target): string {
  const known = target.structs.get(fields);
  if (known) return known;
  const name = `read${target.structs.size}`;
  target.structs.set(fields, name);
  const entries = fields.map(
    (f) => `${f.name}: ${isPlain(f, target) ? readOf(f, target) : initialOf(f, target)}`,
  );
  const tags = target.flexible ? tagReader(fields, name, target) : '';
  target.functions.push(
    `function ${name}(r) {\n const o = { ${[...entries, 'unknownTags: undefined'].join(', ')} };${tags}\n return o;\n}`,
  );
  return name;
}

/** Reads the tagged fields at the end of a struct; nearly always there are none. */
function tagReader(fields: Field[], name: string, target: Target): string {
  const cases = fields
    .filter((field) => isTagged(field, target))
    .map((field) => `case ${field.tag}: r.at = start; o.${field.name} = ${readOf(field, target)}; break;`);
  target.functions.push(`function ${name}Tags(r, o, n) {
 if (n * 2 > r.end - r.at) r.fail(n + ' tagged fields, ' + (r.end - r.at) + ' bytes left');
 r.spend(n);
 while (n-- > 0) {
  const tag = r.unsignedVarint(), size = r.unsignedVarint(), start = r.take(size);
  switch (tag) {
   ${cases.join('\n   ')}
   default: (o.unknownTags ??= []).push({ tag, data: r.bytes.subarray(start, start + size) });
  }
  if (r.at !== start + size) r.fail('tagged field ' + tag + ' is not as long as it says');
 }
}`);
  return `\n const n = r.unsignedVarint();\n if (n !== 0) ${name}Tags(r, o, n);`;
}

/** Source text that reads a field and is its value. */
function readOf(field: Field, target: Target): string {
  if (field.array) return `${arrayReader(field, target)}(r)`;
  const nullable = isNullable(field, target);
  if (field.fields) {
    const read = `${structReader(field.fields, target)}(r)`;
    return nullable ? `(r.int8() < 0 ? null : ${read})` : read;
  }
  return `r.${methodOf(field.type, target.flexible, nullable)}()`;
}

function methodOf(type: string, flexible: boolean, nullable: boolean): string {
  if (type in FIXED_SIZES) return type;
  const kind = type === 'string' ? 'String' : 'Bytes';
  if (flexible) return nullable ? `compactNullable${kind}` : `compact${kind}`;
  if (nullable) return `nullable${kind}`;
  return type === 'string' ? 'string' : 'bytesField';
}

function arrayReader(field: Field, target: Target): string {
  const element = elementOf(field);
  const name = `array${target.arrays++}`;
  const length = `r.${target.flexible ? 'compactArrayLength' : 'arrayLength'}(${smallestSize(element, target)})`;
  const none = isNullable(field, target) ? 'return null' : `r.fail('${field.name} is null')`;
  target.functions.push(`function ${name}(r) {
 const n = ${length};
 if (n < 0) ${none};
 const a = [];
 for (let i = 0; i < n; i++) a.push(${readOf(element, target)});
 return a;
}`);
  return name;
}

function structWriter(fields: Field[], target: Target): string {
  const known = target.structs.get(fields);
  if (known) return known;
  const name = `write${target.structs.size}`;
  target.structs.set(fields, name);
  const lines = fields.filter((field) => isPlain(field, target)).map((field) => writeField(field, target));
  if (target.flexible) lines.push(tagWriter(fields, target));
  target.functions.push(`function ${name}(w, o) {\n ${lines.join('\n ')}\n}`);
  return name;
}

function writeField(field: Field, target: Target): string {
  const value = `o.${field.name} === undefined ? ${defaultOf(field, target)} : o.${field.name}`;
  return `{ const v = ${value}; ${writeOf(field, target)} }`;
}

/** Known tags that are set and unknown ones that were kept, in ascending order of tag. */
function tagWriter(fields: Field[], target: Target): string {
  const tagged = fields.filter((field) => isTagged(field, target)).toSorted((a, b) => a.tag! - b.tag!);
  const count = tagged.map((field) => ` + (o.${field.name} !== undefined)`).join('');
  const lines = [`const u = o.unknownTags ?? NONE; let i = 0;`, `w.unsignedVarint(u.length${count});`];
  for (const field of tagged) {
    lines.push(`while (i < u.length && u[i].tag < ${field.tag}) w.unknownTag(u[i++]);`);
    const write = `const t = w.openTag(${field.tag}); ${writeOf(field, target)} w.closeTag(t);`;
    lines.push(`if (o.${field.name} !== undefined) { const v = o.${field.name}; ${write} }`);
  }
  lines.push('while (i < u.length) w.unknownTag(u[i++]);');
  return lines.join('\n ');
}

/** Source text that writes the value `v` of a field. */
function writeOf(field: Field, target: Target): string {
  const nullable = isNullable(field, target);
  if (field.array) {
    const plus = target.flexible ? ' + 1' : '';
    const length = `w.${target.flexible ? 'unsignedVarint' : 'int32'}`;
    const element = `const v = a[i]; ${writeOf(elementOf(field), target)}`;
    const each = `{ const a = v; ${length}(a.length${plus}); for (let i = 0; i < a.length; i++) { ${element} } }`;
    return nullable ? `if (v === null) ${length}(${target.flexible ? 0 : -1}); else ${each}` : each;
  }
  if (field.fields) {
    const write = `${structWriter(field.fields, target)}(w, v);`;
    return nullable ? `if (v === null) w.int8(-1); else { w.int8(1); ${write} }` : write;
  }
  if (field.type in FIXED_SIZES) return `w.${field.type}(v);`;
  const kind = field.type === 'string' ? 'String' : 'Bytes';
  const method = target.flexible ? `compact${kind}` : field.type === 'string' ? 'string' : 'bytesField';
  return nullable ? `w.${method}(v);` : `w.${method}(v ?? missing('${field.name}'));`;
}

function missing(field: string): never {
  throw new TypeError(`${field} cannot be null`);
}

function build(target: Target, top: string): unknown {
  const source = `'use strict';\n${target.functions.join('\n')}\nreturn ${top};`;
  // oxlint-disable-next-line typescript/no-implied-eval -- see the top of the file; nothing from outside gets in
  const make = new Function('EMPTY', 'NONE', 'missing', source);
  return make(Buffer.alloc(0), [], missing);
}

const targetOf = (schema: Schema, version: number): Target => ({
  version,
  flexible: includes(schema.flexible, version),
  functions: [],
  structs: new Map(),
  arrays: 0,
});

/** Compiles the decoder of a message in one version. */
export function compileDecoder(schema: Schema, version: number): Decode {
  const target = targetOf(schema, version);
  return build(target, structReader(schema.fields, target)) as Decode;
}

/** Compiles the encoder of a message in one version. */
export function compileEncoder(schema: Schema, version: number): Encode {
  const target = targetOf(schema, version);
  return build(target, structWriter(schema.fields, target)) as Encode;
}

/** The same for one field of the message alone, as it stands on the wire. */
export function compileField(schema: Schema, version: number, field: Field): { read: Decode; write: Encode } {
  const reading = targetOf(schema, version);
  const writing = targetOf(schema, version);
  const read = build(reading, `(r) => ${readOf(field, reading)}`) as Decode;
  const write = build(writing, `(w, v) => { ${writeOf(field, writing)} }`) as Encode;
  return { read, write };
}
