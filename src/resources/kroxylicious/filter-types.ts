import { moduleOf } from '../../ops/filter-module.ts';
import type { FilterModule } from '../../ops/filter-module.ts';

/**
 * The fields of each filter's config that hold a secret, by the names that the filter has. Only there may a placeholder stand for
 * a value of a Secret or ConfigMap: what is in any other field may be logged or quoted. The filters declare the same
 * themselves (`secretFields`), and a test holds one against the other.
 */
const SECRET_FIELDS: { names: readonly string[]; secretFields: readonly string[] }[] = [
  {
    names: ['record-encryption', 'RecordEncryption', 'io.kroxylicious.filter.encryption.RecordEncryption'],
    secretFields: [
      'kmsConfig.existingKeks.*.key',
      'kmsConfig.vaultToken.password',
      'kmsConfig.auth.appRole.secretId.password',
      'kmsConfig.auth.jwt.jwt.password',
      'kmsConfig.tls.trust.certificates',
      'kmsConfig.credentials.longTerm.accessKeyId.password',
      'kmsConfig.credentials.longTerm.secretAccessKey.password',
      'kmsConfig.longTermCredentials.accessKeyId.password',
      'kmsConfig.longTermCredentials.secretAccessKey.password',
      'kmsConfig.oauth2ClientCredentials.clientId.password',
      'kmsConfig.oauth2ClientCredentials.clientSecret.password',
      'kmsConfig.oauth2ClientCredentials.tls.trust.certificates',
      'kmsConfig.credentials.serviceAccountKey.password',
    ],
  },
  {
    names: ['sasl-termination', 'SaslTermination', 'io.kroxylicious.filter.sasl.termination.SaslTermination'],
    secretFields: [
      'users',
      'broker.password',
      'broker.users.*.password',
      'mechanisms.*.tls.trust.certificates',
    ],
  },
  {
    names: [
      'oauth-bearer-validation',
      'OauthBearerValidation',
      'io.kroxylicious.proxy.filter.oauthbearer.OauthBearerValidation',
      'io.kroxylicious.filter.oauthbearer.OauthBearerValidation',
    ],
    secretFields: ['tls.trust.certificates'],
  },
];

/** The fields of a filter's config that may hold a secret; those of a user's own filter are as an admin says. */
export function secretFieldsOf(type: string, modules: readonly FilterModule[]): readonly string[] {
  const module = moduleOf(type);
  if (module === undefined)
    return SECRET_FIELDS.find(({ names }) => names.includes(type))?.secretFields ?? [];
  return modules.find(({ name }) => name === module)?.secretFields ?? [];
}
