/** Replaces fields of values in Avro's binary encoding: what comes out is of the same schema, behind the same header. */
import { MalformedMessage } from '../../../kafka/malformed.ts';
import type { AvroType } from '../../../kafka/values/avro-schema.ts';
import { avroSteps } from '../../../kafka/values/avro-walk.ts';
import type { Replacement } from '../../../kafka/values/avro-walk.ts';
import { registryHeaderOf } from '../../../kafka/values/registry-header.ts';
import type { IdBytes } from '../../../kafka/values/registry-header.ts';
import { longestOf, replaceSteps } from './replace.ts';

/** What is masked in values of a schema. */
export interface SchemaMasks {
  type: AvroType;
  replacement: Replacement | undefined;
}

/** The schemas that values may be of, by their numbers in the header of a registry; values without a header have one, without a number. */
export interface AvroMasks {
  idBytes: IdBytes | undefined;
  byId: ReadonlyMap<number | undefined, SchemaMasks>;
}

const AT_ONCE = { id: undefined, end: 0 };

/**
 * The value with its fields masked, undefined if it has none of them, step by step. What is of none of the schemas, or too much to be
 * looked through, is masked as a whole: nobody can say what is in it.
 */
export function* maskAvroSteps(
  value: Buffer,
  { idBytes, byId }: AvroMasks,
  instead: Buffer,
  longest = longestOf(value),
): Generator<undefined, Buffer | undefined> {
  const header = idBytes === undefined ? AT_ONCE : registryHeaderOf(value, idBytes);
  const schema = header && byId.get(header.id);
  if (!schema) return instead;
  try {
    const { spans, by } = yield* avroSteps(value, header.end, schema.type, schema.replacement);
    if (spans.length === 0) return undefined;
    return (yield* replaceSteps(value, spans, (place) => by[place]!, longest)) ?? instead;
  } catch (error) {
    if (error instanceof MalformedMessage) return instead;
    throw error;
  }
}
