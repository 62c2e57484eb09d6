import { z } from 'zod';
import { DEFAULT_LIMITS } from '../../../crypto/key-ring.ts';
import type { KeyRingLimits } from '../../../crypto/key-ring.ts';
import { findKmsProvider, KMS_PROVIDERS } from '../../../crypto/kms/providers.ts';
import type { KmsProvider } from '../../../crypto/kms/providers.ts';

const TOPIC_TOKEN = '$(topicName)';
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

const template = z
  .string()
  .min(1)
  .refine(
    (text) => !/\$\((?!topicName\))/.test(text),
    `has a token other than ${TOPIC_TOKEN}, which is the only one there is`,
  );

const shape = z.strictObject({
  kms: z.string(),
  kmsConfig: z.unknown().optional(),
  selector: z.enum(SELECTORS, `must be ${SELECTORS[0]}`),
  selectorConfig: z.strictObject({ template }),
  unresolvedKeyPolicy: z.enum(['PASSTHROUGH_UNENCRYPTED', 'REJECT']).default('REJECT'),
  formerKeys: z.record(z.string().min(1), z.array(z.string().min(1)).min(1)).default({}),
  experimental: limits.extend(ignored).prefault({}),
});

/** A configuration that has been checked, key service and all. */
export interface RecordEncryptionConfig {
  provider: KmsProvider;
  kmsConfig: unknown;
  /** The alias of a topic's key-encryption key. */
  aliasOf(topic: string): string;
  unresolvedKeyPolicy: 'PASSTHROUGH_UNENCRYPTED' | 'REJECT';
  /** By alias: the ids of keys that it stood for before. What they sealed is opened. */
  formerKeys: ReadonlyMap<string, readonly string[]>;
  limits: KeyRingLimits;
}

/** The original's configuration. What is wrong with the key service's own part is reported below `kmsConfig`. */
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
    const { selectorConfig, unresolvedKeyPolicy, formerKeys, experimental } = config;
    return {
      provider,
      kmsConfig: checked.data,
      aliasOf: (topic) => selectorConfig.template.replaceAll(TOPIC_TOKEN, () => topic),
      unresolvedKeyPolicy,
      formerKeys: new Map(Object.entries(formerKeys)),
      limits: experimental,
    };
  },
);
