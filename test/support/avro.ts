import assert from 'node:assert/strict';
import avsc from 'avsc';
import type { Type } from 'avsc';

/** Numbers that JavaScript does not hold exactly are of no concern here. */
export function readAnyway(avro: Type, given: Buffer): void {
  try {
    avro.fromBuffer(given);
  } catch (error) {
    assert.match(String(error), /precision loss/);
  }
}

export const typeOf = (schema: unknown): Type => avsc.Type.forSchema(schema as never);

/** The schema of a record, by the types of its fields. */
export const recordSchema = (name: string, fields: Record<string, unknown>) => ({
  type: 'record',
  name,
  fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
});

/** A number as Avro writes it. */
export const zigZag = (value: number): Buffer => typeOf('long').toBuffer(value);
