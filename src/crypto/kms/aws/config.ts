import { z } from 'zod';
import { secret, serviceUrl, tls } from '../http/settings.ts';

const word = z.string().min(1).max(2048);

const longTerm = z.strictObject({ accessKeyId: secret, secretAccessKey: secret });
const ec2Metadata = z.strictObject({
  iamRole: z.string().regex(/^[\w+=,.@-]{1,64}$/, 'must be the name of a role'),
  metadataEndpoint: serviceUrl.prefault('http://169.254.169.254/'),
  credentialLifetimeFactor: z.number().gt(0).max(1).default(0.8),
});
/** What is left out, EKS puts into the environment of a pod. */
const webIdentity = z.strictObject({
  roleArn: word.optional(),
  webIdentityTokenFile: word.optional(),
  roleSessionName: z
    .string()
    .regex(/^[\w+=,.@-]{2,64}$/, 'must be 2 to 64 of A-Z a-z 0-9 _ + = , . @ -')
    .default('isthmus'),
  stsEndpointUrl: serviceUrl.optional(),
  durationSeconds: z.int().min(900).max(43_200).optional(),
});
const podIdentity = z.strictObject({
  credentialsFullUri: serviceUrl.optional(),
  authorizationTokenFile: word.optional(),
});

export type LongTerm = z.output<typeof longTerm>;
export type Ec2Metadata = z.output<typeof ec2Metadata>;
export type WebIdentity = z.output<typeof webIdentity>;
export type PodIdentity = z.output<typeof podIdentity>;

const credentials = z.union(
  [
    z.strictObject({ longTerm }),
    z.strictObject({ ec2Metadata }),
    z.strictObject({ webIdentity }),
    z.strictObject({ podIdentity }),
  ],
  'must be one of longTerm, ec2Metadata, webIdentity and podIdentity',
);

/** The original's configuration, and its older spelling of two kinds of credentials. */
export const awsSchema = z
  .strictObject({
    endpointUrl: serviceUrl,
    region: z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be a region such as eu-central-1'),
    credentials: credentials.optional(),
    longTermCredentials: longTerm.optional(),
    ec2MetadataCredentials: ec2Metadata.optional(),
    tls: tls.optional(),
  })
  .transform(({ longTermCredentials, ec2MetadataCredentials, credentials: given, ...rest }, context) => {
    const found: z.output<typeof credentials>[] = [
      ...(given ? [given] : []),
      ...(longTermCredentials ? [{ longTerm: longTermCredentials }] : []),
      ...(ec2MetadataCredentials ? [{ ec2Metadata: ec2MetadataCredentials }] : []),
    ];
    if (found.length === 1) return { ...rest, credentials: found[0]! };
    context.addIssue({ code: 'custom', path: ['credentials'], message: 'must be there, and of one kind' });
    return z.NEVER;
  });
export type AwsConfig = z.output<typeof awsSchema>;
