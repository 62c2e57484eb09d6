import { z } from 'zod';
import type { AvroType } from '../../../kafka/values/avro-schema.ts';
import { avroFields, hasOneHeader, idBytesOf, ONE_HEADER } from '../../../kafka/values/config.ts';
import { maskAvroSteps } from './avro.ts';
import type { AvroMasks, SchemaMasks } from './avro.ts';
import type { Mask } from './avro-mask.ts';
import { planMasks, UnmaskableField } from './avro-plan.ts';
import type { Effort } from './avro-plan.ts';
import { maskSteps } from './json.ts';
import type { Path } from './json.ts';

const names = z.array(z.string().min(1).max(1000)).max(1000);
const field = z
  .string()
  .max(1000)
  .regex(/^[^.]+(\.[^.]+)*$/, 'must be names with dots between them, such as card.number or items.*.price')
  .transform((text): Path => text.split('.'));

const MOST_SCHEMAS = 100;

/** Behind the header of a registry, schemas are told apart by their numbers there: bytes of another one could be read by one by chance. */
const avroFormat = z
  .strictObject({
    ...avroFields,
    schema: avroFields.schema.optional(),
    schemas: z
      .array(z.strictObject({ ids: z.array(z.int().min(0)).min(1).max(1000), schema: avroFields.schema }))
      .min(1)
      .max(MOST_SCHEMAS)
      .optional(),
  })
  .refine(hasOneHeader, ONE_HEADER)
  .refine(
    ({ schema, schemas, ...header }) => (idBytesOf(header) ? schemas && !schema : schema && !schemas),
    'must have a schema for values without a header, or schemas with their ids for values with one',
  )
  .refine(({ schemas = [] }) => {
    const ids = schemas.flatMap((each) => each.ids);
    return new Set(ids).size === ids.length;
  }, 'has an id twice');

/** Steps for all rules together, of some millionths of a second at most: whoever checks a configuration has others to look after. */
const MOST_EFFORT = 1_000_000;

const rule = z.strictObject({
  topics: names.min(1),
  fields: z.array(field).min(1).max(1000),
  mask: z.union([z.string().max(1000), z.number(), z.boolean(), z.null()]).default('***'),
  except: names.default([]),
  avro: avroFormat.optional(),
});

/** How values are masked by a rule. Throws UnmaskableField. */
function maskingBy({ fields, mask, avro }: z.output<typeof rule>, effort: Effort): Masking {
  const instead = Buffer.from(JSON.stringify(mask));
  if (!avro) return (value, longest) => maskSteps(value, fields, instead, longest);
  const masks = avroMasks(avro, fields, mask, effort);
  return (value, longest) => maskAvroSteps(value, masks, instead, longest);
}

/** How fields are masked in values of each schema. A field may be in some of them only. Throws UnmaskableField. */
function avroMasks(
  { schema, schemas, ...header }: z.output<typeof avroFormat>,
  fields: readonly Path[],
  mask: Mask,
  effort: Effort,
): AvroMasks {
  const reached = new Set<Path>();
  const byId = new Map<number | undefined, SchemaMasks>();
  const add = (ids: readonly (number | undefined)[], type: AvroType) => {
    const plan = planMasks(type, fields, mask, effort);
    for (const path of plan.reached) reached.add(path);
    for (const id of ids) byId.set(id, { type, replacement: plan.replacement });
  };
  if (schema) add([undefined], schema);
  for (const each of schemas ?? []) add(each.ids, each.schema);
  const lost = fields.find((path) => !reached.has(path));
  if (lost) throw new UnmaskableField(lost, 'leads to nothing in the schema');
  return { idBytes: idBytesOf(header), byId };
}

const shape = z.strictObject({ rules: z.array(rule).min(1).max(1000) });

export const maskingSchema: z.ZodType<MaskingConfig> = shape.transform(({ rules }, context) => {
  const effort = { left: MOST_EFFORT };
  const made = rules.map((each, i): MaskingRule | undefined => {
    try {
      return { topics: each.topics, except: each.except, masking: maskingBy(each, effort) };
    } catch (error) {
      if (!(error instanceof UnmaskableField)) throw error;
      const path = ['rules', i, 'fields', each.fields.indexOf(error.path)];
      context.addIssue({ code: 'custom', path, message: error.message });
      return undefined;
    }
  });
  return { rules: made.filter((each) => each !== undefined) };
});

export interface MaskingConfig {
  rules: readonly MaskingRule[];
}

/** Masks a value, step by step; undefined if there is nothing in it to mask. What would become longer than that is masked as a whole. */
export type Masking = (value: Buffer, longest?: number) => Generator<undefined, Buffer | undefined>;

interface MaskingRule {
  topics: readonly string[];
  except: readonly string[];
  masking: Masking;
}

/** Whether one of the names is this one; `*` at the end of one is for all that begin so. */
export const isNamed = (list: readonly string[], name: string): boolean =>
  list.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : each === name));

/** The rules of a topic that are for this user; one of whom nothing is known is in no exception. */
export function maskingsOf(
  { rules }: MaskingConfig,
  topic: string,
  principal: string | undefined,
): Masking[] {
  return rules
    .filter(({ topics, except }) => {
      const isExcepted = principal !== undefined && isNamed(except, principal);
      return isNamed(topics, topic) && !isExcepted;
    })
    .map(({ masking }) => masking);
}
