import { z } from 'zod';
import { DEFAULT_LIMITS } from '../../../crypto/key-ring.ts';
import type { KeyRingLimits } from '../../../crypto/key-ring.ts';
import { findKmsProvider, KMS_PROVIDERS } from '../../../crypto/kms/providers.ts';
import type { KmsProvider } from '../../../crypto/kms/providers.ts';
import { aliasFrom, keyTemplate, policyOfRules, rulesSchema } from './policy.ts';
import type { TopicPolicy } from './policy.ts';

const SELECTORS = ['TemplateKekSelector', 'io.kroxylicious.filter.encryption.TemplateKekSelector'];

/** The original takes numbers that are written as text, too. */
const positive = z.coerce.number().int().min(1);

const limits = z.strictObject(
  Object.fromEntries(
    Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, positive.default(value)]),
  ) as Record<keyof KeyRingLimits, z.ZodDefault<typeof positive>>,
);

/** Sizes of the original's buffer; ours is as large as its records, so they are taken and change nothing. */
const ignored = {
  encryptionBufferMinimumSizeBytes: positive.optional(),
  encryptionBufferMaximumSizeBytes: positive.optional(),
};

/** What the original has instead of rules: one template for all topics. */
const original = z.strictObject({
  selector: z.enum(SELECTORS, `must be ${SELECTORS[0]}`),
  selectorConfig: z.strictObject({ template: keyTemplate }),
  unresolvedKeyPolicy: z.enum(['PASSTHROUGH_UNENCRYPTED', 'REJECT']).default('REJECT'),
});

const shape = z.strictObject({
  kms: z.string(),
  kmsConfig: z.unknown().optional(),
  rules: rulesSchema.optional(),
  selector: z.unknown().optional(),
  selectorConfig: z.unknown().optional(),
  unresolvedKeyPolicy: z.unknown().optional(),
  unopenable: z.enum(['error', 'skip']).default('error'),
  formerKeys: z.record(z.string().min(1), z.array(z.string().min(1)).min(1)).default({}),
  experimental: limits.extend(ignored).prefault({}),
});

/** A configuration that has been checked, key service and all. */
export interface RecordEncryptionConfig {
  provider: KmsProvider;
  kmsConfig: unknown;
  /** What becomes of a topic's records. */
  policyOf(topic: string): TopicPolicy;
  /** What becomes of a batch that cannot be opened: an error for its partition, or an empty batch in its place. */
  unopenable: 'error' | 'skip';
  /** By alias: the ids of keys that it stood for before. What they sealed is opened. */
  formerKeys: ReadonlyMap<string, readonly string[]>;
  limits: KeyRingLimits;
}

/** The original's configuration, or rules in place of its selector. What is wrong with the key service's own part is reported below `kmsConfig`. */
export const recordEncryptionSchema: z.ZodType<RecordEncryptionConfig> = shape.transform(
  (config, context) => {
    const provider = findKmsProvider(config.kms);
    if (!provider) {
      const known = KMS_PROVIDERS.map(({ types }) => types[0]).join(', ');
      context.addIssue({ code: 'custom', path: ['kms'], message: `is not one of ${known}` });
      return z.NEVER;
    }
    const checked = provider.schema.safeParse(config.kmsConfig ?? {});
    if (!checked.success) {
      for (const { path, message } of checked.error.issues) {
        context.addIssue({ code: 'custom', path: ['kmsConfig', ...path], message });
      }
      return z.NEVER;
    }
    const policyOf = policyIn(config, context);
    if (!policyOf) return z.NEVER;
    const { unopenable, formerKeys, experimental } = config;
    return {
      provider,
      kmsConfig: checked.data,
      policyOf,
      unopenable,
      formerKeys: new Map(Object.entries(formerKeys)),
      limits: experimental,
    };
  },
);

type Context = z.core.$RefinementCtx;

/** By rules where there are any, else as the original says it; undefined if that is wrong. */
function policyIn(
  { rules, selector, selectorConfig, unresolvedKeyPolicy }: z.output<typeof shape>,
  context: Context,
): RecordEncryptionConfig['policyOf'] | undefined {
  const given = { selector, selectorConfig, unresolvedKeyPolicy };
  if (rules) {
    for (const [name, value] of Object.entries(given))
      if (value !== undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'says nothing where there are rules' });
    return context.issues.length > 0 ? undefined : policyOfRules(rules);
  }
  const checked = original.safeParse(given);
  if (!checked.success) {
    for (const { path, message } of checked.error.issues) context.addIssue({ code: 'custom', path, message });
    return undefined;
  }
  const {
    selectorConfig: { template },
    unresolvedKeyPolicy: keyless,
  } = checked.data;
  const isLenient = keyless === 'PASSTHROUGH_UNENCRYPTED';
  return (topic) => ({
    action: 'seal',
    alias: aliasFrom(template, topic),
    format: 'kroxylicious/2',
    withoutKey: isLenient ? 'plain' : 'refuse',
    acceptPlain: isLenient,
  });
}
