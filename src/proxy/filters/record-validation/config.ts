import { z } from 'zod';
import { messageOf } from '../../../ops/errors.ts';
import { compileAvroSchema } from './avro.ts';
import type { AvroCheck } from './avro.ts';
import { compileJsonSchema } from './json-schema.ts';

/** A schema as it stands in YAML, or as a text in JSON. */
function schemaIn(given: unknown): unknown {
  if (typeof given !== 'string' || !/^\s*[[{]/.test(given)) return given;
  try {
    return JSON.parse(given);
  } catch {
    throw new Error('is a text that is not JSON'); // the engine's own words would quote it
  }
}

/** A schema that is made a check of when the configuration is loaded. */
const compiled = <T>(compile: (schema: unknown) => T) =>
  z
    .custom<unknown>((given) => given !== undefined)
    .transform((given, context): T => {
      try {
        return compile(schemaIn(given));
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) });
        return z.NEVER;
      }
    });

const avro = z
  .strictObject({ schema: z.unknown(), confluentHeader: z.boolean().default(false) })
  .transform(({ schema, confluentHeader }, context): AvroCheck => {
    const parsed = compiled((given) => compileAvroSchema(given, confluentHeader)).safeParse(schema);
    if (parsed.success) return parsed.data;
    for (const { message } of parsed.error.issues)
      context.addIssue({ code: 'custom', path: ['schema'], message });
    return z.NEVER;
  });

/** What a key or a value has to be. */
const bytesRule = z.strictObject({
  syntacticallyCorrectJson: z
    .strictObject({ validateObjectKeysUnique: z.boolean().default(false) })
    .optional(),
  jsonSchema: compiled(compileJsonSchema).optional(),
  avro: avro.optional(),
  allowNulls: z.boolean().default(true),
  allowEmpty: z.boolean().default(false),
  maxBytes: z.int().min(0).optional(),
});

const recordRule = {
  keyRule: bytesRule.optional(),
  valueRule: bytesRule.optional(),
  requiredHeaders: z.array(z.string().min(1)).max(100).default([]),
  /** Of a record as a whole: key, value and headers. */
  maxRecordBytes: z.int().min(1).optional(),
};

const shape = z.strictObject({
  rules: z
    .array(z.strictObject({ topicNames: z.array(z.string().min(1)).min(1), ...recordRule }))
    .max(1000)
    .default([]),
  defaultRule: z.strictObject(recordRule).optional(),
});

export type BytesRule = z.output<typeof bytesRule>;

/** What the records of a topic have to be. */
export interface RecordRule {
  keyRule?: BytesRule | undefined;
  valueRule?: BytesRule | undefined;
  requiredHeaders: readonly string[];
  maxRecordBytes?: number | undefined;
}

export interface RecordValidationConfig {
  /** Undefined for a topic whose records may be anything. */
  ruleOf(topic: string): RecordRule | undefined;
}

/** The original's configuration, as far as it needs no other server, and a little more. */
export const recordValidationSchema: z.ZodType<RecordValidationConfig> = shape.transform(
  ({ rules, defaultRule }, context) => {
    const byTopic = new Map<string, RecordRule>();
    for (const [i, { topicNames, ...rule }] of rules.entries())
      for (const [j, name] of topicNames.entries()) {
        if (byTopic.has(name))
          context.addIssue({
            code: 'custom',
            path: ['rules', i, 'topicNames', j],
            message: 'has a rule already',
          });
        byTopic.set(name, rule);
      }
    return { ruleOf: (topic) => byTopic.get(topic) ?? defaultRule };
  },
);
