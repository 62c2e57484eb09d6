/** Messages as the JSON of Kafka's own converters, and back to something that can be compared. */
import { includes } from '../../../../src/kafka/schema.ts';
import type { Field } from '../../../../src/kafka/schema.ts';
import type { Kind, Values } from '../../../support/kafka/messages.ts';

/** The JSON that Java's converter of this message reads: the fields of the version, tagged ones only if set. */
export function toJson({ schema, version }: Kind, message: Values): string {
  return structJson(schema.fields, version, message);
}

function structJson(fields: Field[], version: number, value: Values): string {
  const entries = fields
    .filter((field) => includes(field.versions, version) && value[field.name] !== undefined)
    .map((field) => `${JSON.stringify(field.name)}:${fieldJson(field, version, value[field.name])}`);
  return `{${entries.join(',')}}`;
}

/** What Java's converter writes: as above, but of records it tells no more than their size. */
export function withRecordSizes(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withRecordSizes);
  if (typeof json !== 'object' || json === null) return json;
  const entries = Object.entries(json).map(([name, value]): [string, unknown] =>
    /^(unalignedR|r)ecords$/.test(name) && typeof value === 'string'
      ? [`${name}SizeInBytes`, String(Buffer.from(value, 'base64').length)]
      : [name, withRecordSizes(value)],
  );
  return Object.fromEntries(entries);
}

function fieldJson(field: Field, version: number, value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map((each) => fieldJson(field, version, each)).join(',')}]`;
  if (Buffer.isBuffer(value)) return `"${value.toString('base64')}"`;
  if (typeof value === 'bigint') return value.toString();
  return field.fields ? structJson(field.fields, version, value as Values) : JSON.stringify(value);
}

/** Parses with numbers kept as they are written: an int64 does not fit a number. */
export function parseExactly(json: string): unknown {
  const keep = (_key: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' ? context.source : value;
  return JSON.parse(json, keep as Parameters<typeof JSON.parse>[1]);
}
