/** Random messages of every API and version, made from the schemas. */
import fc from 'fast-check';
import { ALL_APIS } from '../../../src/kafka/apis.ts';
import type { Api } from '../../../src/kafka/apis.ts';
import { requestCodec, responseCodec } from '../../../src/kafka/codec.ts';
import type { Codec, Draft } from '../../../src/kafka/codec.ts';
import { includes, schemaOf } from '../../../src/kafka/schema.ts';
import type { Field, Schema } from '../../../src/kafka/schema.ts';
import type { UnknownTag } from '../../../src/kafka/schemas/types.ts';

export type Values = Record<string, unknown>;

/** One message kind: a side of an API in one version. */
export interface Kind {
  api: Api;
  version: number;
  side: 'request' | 'response';
  schema: Schema;
  codec: Codec<Values>;
  encode(value: Values): Buffer;
}

/** Both sides of every API in every version. */
export const KINDS: Kind[] = ALL_APIS.flatMap((api) => {
  const versions = Array.from({ length: api.max - api.min + 1 }, (_, i) => api.min + i);
  return versions.flatMap((version) => [kindOf(api, version, 'request'), kindOf(api, version, 'response')]);
});

function kindOf(api: Api, version: number, side: Kind['side']): Kind {
  const find = side === 'request' ? requestCodec : responseCodec;
  const codec = find(api.key, version) as unknown as Codec<Values>;
  const schema = schemaOf(`${api.name}${side === 'request' ? 'Request' : 'Response'}`);
  return { api, version, side, schema, codec, encode: (value) => codec.encode(value as Draft<Values>) };
}

const integer = (bits: number) => fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 });
const bytes = fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each));

const SCALARS: Record<string, fc.Arbitrary<unknown>> = {
  bool: fc.boolean(),
  int8: integer(8),
  int16: integer(16),
  uint16: fc.integer({ min: 0, max: 65_535 }),
  int32: integer(32),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  // Halves, so that Java and JavaScript print them alike.
  float64: fc.integer({ min: -1000, max: 1000 }).map((half) => half / 2 + 0.25),
  uuid: fc
    .uint8Array({ minLength: 16, maxLength: 16 })
    .map((each) => Buffer.from(each).toString('base64url')),
  string: fc.string({ unit: 'binary', maxLength: 12 }),
  bytes,
  records: bytes,
};

export interface Wishes {
  /** Tagged fields that no schema knows. */
  unknownTags: boolean;
  /** Tagged fields that are set to their default. Ours writes what is set; Java leaves those out. */
  taggedDefaults?: boolean;
}

/** Whether a value is what its field has when nothing is said. */
function isDefault(field: Field, value: unknown): boolean {
  if (field.fallback === 'null') return value === null;
  if (field.array) return Array.isArray(value) && value.length === 0;
  if (field.fields) return field.fields.every((each) => isDefault(each, (value as Values)[each.name]));
  if (field.type === 'bool') return value === (field.fallback === 'true');
  if (field.type === 'uuid') return value === 'A'.repeat(22);
  if (field.type === 'string') return value === '';
  return value === (field.type === 'int64' ? BigInt(field.fallback ?? 0) : Number(field.fallback ?? 0));
}

function fieldOf(field: Field, version: number, flexible: boolean, wishes: Wishes): fc.Arbitrary<unknown> {
  const one = field.fields
    ? structOf(field.fields, version, flexible, wishes)
    : (SCALARS[field.type] ?? fc.constant(undefined));
  const value = field.array ? fc.array(one, { maxLength: 3 }) : one;
  return includes(field.nullable, version) ? fc.option(value, { freq: 4 }) : value;
}

function unknownOf(fields: Field[], version: number): fc.Arbitrary<UnknownTag[] | undefined> {
  const known = new Set(fields.filter((field) => includes(field.versions, version)).map(({ tag }) => tag));
  const tag = fc.integer({ min: 0, max: 300 }).filter((each) => !known.has(each));
  return fc.option(
    fc
      .uniqueArray(fc.record({ tag, data: fc.oneof(bytes, fc.constant(Buffer.alloc(300, 7))) }), {
        selector: (each) => each.tag,
        minLength: 1,
        maxLength: 3,
      })
      .map((tags) => tags.toSorted((a, b) => a.tag - b.tag)),
    { nil: undefined, freq: 1 },
  );
}

function structOf(fields: Field[], version: number, flexible: boolean, wishes: Wishes): fc.Arbitrary<Values> {
  const entries = fields
    .filter((field) => includes(field.versions, version))
    .map((field) => {
      const value = fieldOf(field, version, flexible, wishes);
      if (field.tag === undefined) return [field.name, value];
      const set = wishes.taggedDefaults ? value : value.filter((each) => !isDefault(field, each));
      return [field.name, fc.option(set, { nil: undefined, freq: 2 })];
    });
  if (flexible && wishes.unknownTags) entries.push(['unknownTags', unknownOf(fields, version)]);
  return fc.record(Object.fromEntries(entries) as Record<string, fc.Arbitrary<unknown>>, {
    noNullPrototype: true,
  });
}

/** Random messages of a kind, with the fields that its version has. */
export function messagesOf(kind: Kind, wishes: Wishes): fc.Arbitrary<Values> {
  const { schema, version } = kind;
  return structOf(schema.fields, version, includes(schema.flexible, version), wishes);
}

/** Two of everything, all different and nothing null: Java's request classes do not take every message that decodes. */
export function plainMessage(fields: Field[], next = { number: 1 }): Values {
  const one = (field: Field): unknown => {
    if (field.fields) return plainMessage(field.fields, next);
    const number = next.number++;
    if (field.type === 'string') return `${field.name}${number}`;
    if (field.type === 'int64') return BigInt(number);
    if (field.type === 'bool') return false;
    if (field.type === 'uuid') return Buffer.from(String(number).padStart(16, 'x')).toString('base64url');
    if (field.type === 'bytes' || field.type === 'records') return Buffer.alloc(0);
    return field.type === 'int32' ? number : 1;
  };
  const plain = fields.filter(({ tag }) => tag === undefined);
  return Object.fromEntries(
    plain.map((field) => [field.name, field.array ? [one(field), one(field)] : one(field)]),
  );
}

/** Of a decoded message, what the sent one had: decoding adds the defaults of fields that the version lacks. */
export function project(decoded: unknown, sent: unknown): unknown {
  if (Array.isArray(decoded) && Array.isArray(sent))
    return decoded.map((each, i) => project(each, sent[i] as unknown));
  if (!isStruct(decoded) || !isStruct(sent)) return decoded;
  return Object.fromEntries(Object.keys(sent).map((name) => [name, project(decoded[name], sent[name])]));
}

const isStruct = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Buffer.isBuffer(value) && !Array.isArray(value);
