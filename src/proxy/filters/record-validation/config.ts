import { z } from 'zod';
import { messageOf } from '../../../ops/errors.ts';
import { avroFields, compiled, hasOneHeader, idBytesOf, ONE_HEADER } from '../../../kafka/values/config.ts';
import { avroCheck } from './avro.ts';
import { compileJsonSchema } from './json-schema.ts';
import { readDescriptor } from './protobuf-descriptor.ts';
import { protobufCheck } from './protobuf.ts';
import type { ValueCheck } from './value-check.ts';

const avro = z
  .strictObject(avroFields)
  .refine(hasOneHeader, ONE_HEADER)
  .transform(({ schema, ...header }) => avroCheck(schema, idBytesOf(header)));

const protobuf = z
  .strictObject({
    descriptor: z
      .string()
      .overwrite((text) => text.replaceAll(/\s/g, ''))
      .base64(),
    message: z.string().min(1).max(1000),
    unknownFields: z.enum(['allow', 'refuse']).default('allow'),
    confluentHeader: z.boolean().default(false),
  })
  .transform(({ descriptor, message, unknownFields, confluentHeader }, context): ValueCheck => {
    try {
      const type = readDescriptor(Buffer.from(descriptor, 'base64'), message);
      return protobufCheck(type, { refusesUnknown: unknownFields === 'refuse', hasHeader: confluentHeader });
    } catch (error) {
      context.addIssue({ code: 'custom', path: ['descriptor'], message: messageOf(error) });
      return z.NEVER;
    }
  });

/** What a key or a value has to be. */
const bytesRule = z.strictObject({
  syntacticallyCorrectJson: z
    .strictObject({ validateObjectKeysUnique: z.boolean().default(false) })
    .optional(),
  jsonSchema: compiled(compileJsonSchema).optional(),
  avro: avro.optional(),
  protobuf: protobuf.optional(),
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
