import type { z } from 'zod';
import type { Kms, KmsSetting } from '../kms.ts';
import { awsKms } from './aws/aws.ts';
import { awsSchema } from './aws/config.ts';
import { azureKms } from './azure/azure.ts';
import { azureSchema } from './azure/config.ts';
import { gcpSchema } from './gcp/config.ts';
import { gcpKms } from './gcp/gcp.ts';
import { inMemoryKms, inMemorySchema } from './in-memory.ts';
import { vaultSchema } from './vault/config.ts';
import { vaultKms } from './vault/vault.ts';

/** A kind of key service: what its configuration looks like, and how to make one. */
export interface KmsProvider {
  /** The names by which a configuration asks for it: ours if it is not of the original alone, the original's class, short and in full. */
  readonly types: readonly string[];
  readonly schema: z.ZodType;
  /** The fields of its configuration that hold a secret, or may come from a ConfigMap. */
  readonly secretFields: readonly string[];
  /** Makes a service from a configuration that has passed the schema. */
  create(config: unknown, setting: KmsSetting): Kms;
}

function provider<S extends z.ZodType>(
  types: readonly string[],
  schema: S,
  secretFields: readonly string[],
  create: (config: z.output<S>, setting: KmsSetting) => Kms,
): KmsProvider {
  return {
    types,
    schema,
    secretFields,
    create: (config, setting) => create(config as z.output<S>, setting),
  };
}

const TRUST = 'tls.trust.certificates';

/** Every kind of key service there is. */
export const KMS_PROVIDERS: readonly KmsProvider[] = [
  provider(
    ['UnitTestingKmsService', 'io.kroxylicious.kms.provider.kroxylicious.inmemory.UnitTestingKmsService'],
    inMemorySchema,
    ['existingKeks.*.key'],
    inMemoryKms,
  ),
  provider(
    ['vault', 'VaultKmsService', 'io.kroxylicious.kms.provider.hashicorp.vault.VaultKmsService'],
    vaultSchema,
    ['vaultToken.password', 'auth.appRole.secretId.password', 'auth.jwt.jwt.password', TRUST],
    vaultKms,
  ),
  provider(
    ['aws-kms', 'AwsKmsService', 'io.kroxylicious.kms.provider.aws.kms.AwsKmsService'],
    awsSchema,
    [
      'credentials.longTerm.accessKeyId.password',
      'credentials.longTerm.secretAccessKey.password',
      'longTermCredentials.accessKeyId.password',
      'longTermCredentials.secretAccessKey.password',
      TRUST,
    ],
    awsKms,
  ),
  provider(
    [
      'azure-key-vault',
      'AzureKeyVault',
      'AzureKeyVaultKmsService',
      'io.kroxylicious.kms.provider.azure.AzureKeyVaultKmsService',
    ],
    azureSchema,
    [
      'oauth2ClientCredentials.clientId.password',
      'oauth2ClientCredentials.clientSecret.password',
      'oauth2ClientCredentials.tls.trust.certificates',
      TRUST,
    ],
    azureKms,
  ),
  provider(['gcp-kms'], gcpSchema, ['credentials.serviceAccountKey.password', TRUST], gcpKms),
];

/** The fields of all their configurations that hold secrets. */
export const KMS_SECRET_FIELDS = [...new Set(KMS_PROVIDERS.flatMap(({ secretFields }) => secretFields))];

/** The provider of this name. */
export function findKmsProvider(type: string): KmsProvider | undefined {
  return KMS_PROVIDERS.find(({ types }) => types.includes(type));
}
