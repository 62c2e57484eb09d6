import { z } from 'zod';
import { secret, serviceUrl, tls } from '../http/settings.ts';

const word = z.string().min(1).max(2048);
const tenant = z.string().regex(/^[\w.-]{1,256}$/, 'must be the id or a domain of a tenant');

/** What Azure takes for the name of a vault. */
export const VAULT_NAME = /^(?=.{3,24}$)[a-zA-Z0-9](?:-?[a-zA-Z0-9])+$/;

const oauth2ClientCredentials = z.strictObject({
  oauthEndpoint: serviceUrl.prefault('https://login.microsoftonline.com/'),
  tenantId: tenant,
  clientId: secret,
  clientSecret: secret,
  scope: word.default('https://vault.azure.net/.default'),
  tls: tls.optional(),
});
const managedIdentityCredentials = z.strictObject({
  targetResource: word.default('https://vault.azure.net'),
  identityServiceEndpoint: serviceUrl.prefault('http://169.254.169.254/'),
});
/** What is left out, the webhook of Azure puts into the environment of a pod. */
const workloadIdentityCredentials = z.strictObject({
  oauthEndpoint: serviceUrl.optional(),
  tenantId: tenant.optional(),
  clientId: word.optional(),
  tokenFile: word.optional(),
  scope: word.default('https://vault.azure.net/.default'),
});
export type ClientCredentials = z.output<typeof oauth2ClientCredentials>;
export type ManagedIdentity = z.output<typeof managedIdentityCredentials>;
export type WorkloadIdentity = z.output<typeof workloadIdentityCredentials>;

/** The original's configuration, and workload identities. */
export const azureSchema = z
  .strictObject({
    keyVaultName: z.string().regex(VAULT_NAME, 'must be the name of a key vault'),
    keyVaultHost: z
      .string()
      .regex(
        /^[a-z0-9-]+(\.[a-z0-9-]+)*$/i,
        'must be a host without the vault’s name, such as vault.azure.net',
      )
      .default('vault.azure.net'),
    keyVaultScheme: z.enum(['https', 'http']).default('https'),
    keyVaultPort: z.int().min(1).max(65_535).optional(),
    oauth2ClientCredentials: oauth2ClientCredentials.optional(),
    managedIdentityCredentials: managedIdentityCredentials.optional(),
    workloadIdentityCredentials: workloadIdentityCredentials.optional(),
    tls: tls.optional(),
  })
  .refine(
    (config) =>
      [
        config.oauth2ClientCredentials,
        config.managedIdentityCredentials,
        config.workloadIdentityCredentials,
      ].filter((one) => one !== undefined).length === 1,
    {
      path: ['oauth2ClientCredentials'],
      message:
        'or managedIdentityCredentials or workloadIdentityCredentials must be there, and one of them only',
    },
  );
export type AzureConfig = z.output<typeof azureSchema>;
