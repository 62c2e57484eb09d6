import { apiOf, isSupported } from './apis.ts';
import { FIXED_SIZES, compileField } from './compile.ts';
import type { Decode, Encode } from './compile.ts';
import { Reader } from './reader.ts';
import { includes, schemaOf } from './schema.ts';
import type { Field, Schema } from './schema.ts';
import type { ProduceResponseNodeEndpoint } from './schemas/types.ts';
import { Writer } from './writer.ts';

/**
 * Produce v10+, Fetch v16+, ShareFetch and ShareAcknowledge responses carry broker addresses behind everything else
 * (KIP-951), and nearly always none. So the body is walked by its lengths alone, records and all, to see whether any
 * are there; nothing is decoded and nothing allocated a topic or a partition.
 */

const FIELD = 'nodeEndpoints';

/** An address as it stands in these responses; all four APIs have the same struct. */
export type NodeEndpoint = ProduceResponseNodeEndpoint;

/** Where the addresses are: `start` to `end`; `sizeAt` is where a tagged field's size begins, or -1. */
export interface Span {
  sizeAt: number;
  start: number;
  end: number;
}

type Walk = (reader: Reader) => Span | undefined;

interface Skim {
  what: string;
  walk: Walk;
  read: Decode;
  write: Encode;
}

/** Source text that moves `r` past these fields; runs of fixed size are passed in one step. */
function skipFields(fields: Field[], version: number, flexible: boolean): string {
  let run = 0;
  let text = '';
  const flush = () => {
    if (run > 0) text += `r.take(${run});`;
    run = 0;
  };
  for (const field of fields) {
    if (field.tag !== undefined || !includes(field.versions, version)) continue;
    const size = field.array ? undefined : FIXED_SIZES[field.type];
    if (size !== undefined) {
      run += size;
      continue;
    }
    flush();
    text += skipVariable(field, version, flexible);
  }
  flush();
  return text;
}

const SKIP_TAGS =
  'for (let t = r.unsignedVarint(); t > 0; t--) { r.unsignedVarint(); r.take(r.unsignedVarint()); }';

function skipVariable(field: Field, version: number, flexible: boolean): string {
  const plainLength = field.type === 'string' && !field.array ? 'r.int16()' : 'r.int32()';
  const length = flexible ? 'r.unsignedVarint() - 1' : plainLength;
  const struct = (fields: Field[]) => skipFields(fields, version, flexible) + (flexible ? SKIP_TAGS : '');
  if (!field.array) {
    if (!field.fields) return `{ const n = ${length}; if (n > 0) r.take(n); }`;
    return includes(field.nullable, version)
      ? `if (r.int8() >= 0) { ${struct(field.fields)} }`
      : struct(field.fields);
  }
  const size = FIXED_SIZES[field.type];
  if (size !== undefined) return `{ const n = ${length}; if (n > 0) r.take(n * ${size}); }`;
  const element = field.fields
    ? struct(field.fields)
    : skipVariable({ ...field, array: false }, version, flexible);
  return `for (let n = ${length}; n > 0; n--) { ${element} }`;
}

/** Source text that ends with the span of the field, or undefined if it is not there. */
function findField(field: Field, schema: Schema, version: number): string {
  const before = schema.fields.slice(0, schema.fields.indexOf(field));
  const flexible = includes(schema.flexible, version);
  if (field.tag === undefined) {
    const skip = `${skipFields(before, version, flexible)} const start = r.at; ${skipVariable(field, version, flexible)}`;
    return `${skip} return { sizeAt: -1, start, end: r.at };`;
  }
  return `${skipFields(schema.fields, version, flexible)}
for (let t = r.unsignedVarint(); t > 0; t--) {
  const tag = r.unsignedVarint(), sizeAt = r.at, size = r.unsignedVarint(), start = r.take(size);
  if (tag === ${field.tag}) return { sizeAt, start, end: start + size };
}
return undefined;`;
}

function compileSkim(apiKey: number, version: number): Skim | undefined {
  const api = isSupported(apiKey, version) ? apiOf(apiKey) : undefined;
  const schema = api && schemaOf(`${api.name}Response`);
  const field = schema?.fields.find(({ name, versions }) => name === FIELD && includes(versions, version));
  if (!field || !schema) return undefined;
  const source = `'use strict'; return (r) => { ${findField(field, schema, version)} };`;
  // oxlint-disable-next-line typescript/no-implied-eval -- made of our own schemas only, see compile.ts
  const walk = new Function(source)() as Walk;
  return { what: `${schema.name} v${version}`, walk, ...compileField(schema, version, field) };
}

const skims: Map<number, Skim | undefined>[] = [];

function skimOf(apiKey: number, version: number): Skim | undefined {
  const known = (skims[apiKey] ??= new Map());
  if (!known.has(version)) known.set(version, compileSkim(apiKey, version));
  return known.get(version);
}

/** Whether a response of this API and version may carry broker addresses behind everything else. */
export function hasNodeEndpoints(apiKey: number, version: number): boolean {
  return skimOf(apiKey, version) !== undefined;
}

/** Finds the addresses in a response's body; undefined if it has none. Throws MalformedMessage. */
export function findNodeEndpoints(
  apiKey: number,
  version: number,
  bytes: Buffer,
  start = 0,
  end = bytes.length,
): Span | undefined {
  const skim = skimOf(apiKey, version);
  if (!skim) return undefined;
  const span = skim.walk(new Reader(bytes, start, end, skim.what));
  // Share responses always have the array: 0 is null, 1 is empty.
  return span && bytes[span.start]! > 1 ? span : undefined;
}

/** The addresses that were found. */
export function readNodeEndpoints(
  apiKey: number,
  version: number,
  bytes: Buffer,
  span: Span,
): NodeEndpoint[] {
  const skim = skimOf(apiKey, version)!;
  const reader = new Reader(bytes, span.start, span.end, skim.what);
  const endpoints = skim.read(reader) as NodeEndpoint[];
  if (reader.at !== reader.end) reader.fail('the node endpoints are not as long as they say');
  return endpoints;
}

/** The bytes that take the place of those from `from` to `span.end`, with other addresses in them. */
export function writeNodeEndpoints(
  apiKey: number,
  version: number,
  span: Span,
  endpoints: NodeEndpoint[],
): { from: number; bytes: Buffer } {
  const writer = new Writer(0, 64 * endpoints.length);
  skimOf(apiKey, version)!.write(writer, endpoints);
  const array = writer.done();
  if (span.sizeAt < 0) return { from: span.start, bytes: array };
  const tagged = new Writer(0, array.length + 5);
  tagged.unsignedVarint(array.length);
  tagged.raw(array);
  return { from: span.sizeAt, bytes: tagged.done() };
}
