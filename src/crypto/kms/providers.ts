import type { z } from 'zod';
import type { Kms } from '../kms.ts';
import { inMemoryKms, inMemorySchema } from './in-memory.ts';

/** A kind of key service: what its configuration looks like, and how to make one. */
export interface KmsProvider {
  /** The names by which a configuration asks for it: the original's class, short and in full. */
  readonly types: readonly string[];
  readonly schema: z.ZodType;
  /** Makes a service from a configuration that has passed the schema. */
  create(config: unknown): Kms;
}

function provider<S extends z.ZodType>(
  types: readonly string[],
  schema: S,
  create: (config: z.output<S>) => Kms,
): KmsProvider {
  return { types, schema, create: (config) => create(config as z.output<S>) };
}

/** Every kind of key service there is. */
export const KMS_PROVIDERS: readonly KmsProvider[] = [
  provider(
    ['UnitTestingKmsService', 'io.kroxylicious.kms.provider.kroxylicious.inmemory.UnitTestingKmsService'],
    inMemorySchema,
    inMemoryKms,
  ),
];

/** The provider of this name. */
export function findKmsProvider(type: string): KmsProvider | undefined {
  return KMS_PROVIDERS.find(({ types }) => types.includes(type));
}
