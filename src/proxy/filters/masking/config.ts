import { z } from 'zod';
import type { Path } from './json.ts';

const names = z.array(z.string().min(1).max(1000)).max(1000);
const field = z
  .string()
  .max(1000)
  .regex(/^[^.]+(\.[^.]+)*$/, 'must be names with dots between them, such as card.number or items.*.price')
  .transform((text): Path => text.split('.'));

const rule = z.strictObject({
  topics: names.min(1),
  fields: z.array(field).min(1).max(1000),
  mask: z.union([z.string().max(1000), z.number(), z.boolean(), z.null()]).default('***'),
  except: names.default([]),
});

export const maskingSchema = z.strictObject({ rules: z.array(rule).min(1).max(1000) });
export type MaskingConfig = z.output<typeof maskingSchema>;

/** What is masked in the values of a topic, for somebody: fields, and what stands in their place. */
export interface Masking {
  paths: readonly Path[];
  mask: string;
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
    .map(({ fields, mask }) => ({ paths: fields, mask: JSON.stringify(mask) }));
}
