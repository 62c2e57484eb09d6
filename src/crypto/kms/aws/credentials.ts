import { z } from 'zod';
import type { KmsSetting } from '../../kms.ts';
import { createHttpClient, failureOf } from '../http/client.ts';
import type { HttpAnswer } from '../http/client.ts';
import { createCredentialSource } from '../http/credential.ts';
import type { Credential, CredentialSource } from '../http/credential.ts';
import { filesIn, readBounded, readSecret, requireIdentity } from '../http/settings.ts';
import type { AwsConfig, Ec2Metadata, LongTerm, PodIdentity, WebIdentity } from './config.ts';
import type { AwsCredentials } from './sigv4.ts';

/** A source of credentials, and what has to be closed with it. */
export interface AwsIdentity {
  source: CredentialSource<AwsCredentials>;
  close(): void;
}

/** As instance metadata and the agent for pods give them. */
const sessionSchema = z.object({
  AccessKeyId: z.string(),
  SecretAccessKey: z.string(),
  Token: z.string(),
  Expiration: z.iso.datetime({ offset: true }),
});

const FILE_LIFE_MS = 60_000;
const METADATA_TOKEN_SECONDS = 60;
/** Where the agents of EKS are; what a configuration names elsewhere is somebody else's. */
const POD_IDENTITY_HOSTS = new Set(['169.254.170.23', '[fd00:ec2::23]']);

/** The credentials that a configuration asks for. Throws where they are the process's own and may not be used. */
export function awsIdentity(config: AwsConfig, setting: KmsSetting, env = process.env): AwsIdentity {
  const { credentials } = config;
  if ('longTerm' in credentials) return longTerm(credentials.longTerm, config, setting);
  if ('ec2Metadata' in credentials) return instance(credentials.ec2Metadata, config, setting);
  if ('webIdentity' in credentials) return webIdentity(credentials.webIdentity, config, setting, env);
  return podIdentity(credentials.podIdentity, config, setting, env);
}

function longTerm(
  { accessKeyId, secretAccessKey }: LongTerm,
  { endpointUrl }: AwsConfig,
  { outbound, now = Date.now }: KmsSetting,
): AwsIdentity {
  const files = filesIn(accessKeyId, secretAccessKey);
  for (const file of files) requireIdentity(outbound, `the file ${file}`, [endpointUrl]);
  const source = createCredentialSource<AwsCredentials>(async () => {
    const [id, key] = await Promise.all([readSecret(accessKeyId), readSecret(secretAccessKey)]);
    const lifetimeMs = files.length > 0 ? FILE_LIFE_MS : Infinity;
    return { value: { accessKeyId: id, secretAccessKey: key }, lifetimeMs };
  }, now);
  return { source, close() {} };
}

/** The role of the machine, by its metadata service (version 2, which wants a token first). */
function instance(
  { iamRole, metadataEndpoint, credentialLifetimeFactor }: Ec2Metadata,
  { endpointUrl }: AwsConfig,
  { outbound, now = Date.now, timeoutMs }: KmsSetting,
): AwsIdentity {
  requireIdentity(outbound, 'the role of this machine', [endpointUrl]);
  const http = createHttpClient({ outbound, purpose: 'metadata', timeoutMs });
  const at = (path: string) => new URL(`latest/${path}`, metadataEndpoint);
  const load = async () => {
    const ttl = { 'x-aws-ec2-metadata-token-ttl-seconds': String(METADATA_TOKEN_SECONDS) };
    const token = await http.send({ method: 'PUT', url: at('api/token'), headers: ttl });
    if (token.status !== 200) throw failureOf(token, 'instance metadata');
    const headers = { 'x-aws-ec2-metadata-token': token.text };
    const url = at(`meta-data/iam/security-credentials/${encodeURIComponent(iamRole)}`);
    return sessionOf(await http.send({ method: 'GET', url, headers }), 'instance metadata', now);
  };
  return {
    source: createCredentialSource<AwsCredentials>(load, now, credentialLifetimeFactor),
    close: () => http.close(),
  };
}

/** A role that a token of the pod stands for, by the security token service. */
function webIdentity(
  config: WebIdentity,
  { region, endpointUrl }: AwsConfig,
  { outbound, now = Date.now, timeoutMs }: KmsSetting,
  env: NodeJS.ProcessEnv,
): AwsIdentity {
  const tokenFile = config.webIdentityTokenFile ?? env['AWS_WEB_IDENTITY_TOKEN_FILE'];
  const roleArn = config.roleArn ?? env['AWS_ROLE_ARN'];
  if (tokenFile === undefined || roleArn === undefined)
    throw new Error('webIdentity needs webIdentityTokenFile and roleArn, here or in the environment');
  const url = config.stsEndpointUrl ?? new URL(`https://sts.${region}.amazonaws.com/`);
  requireIdentity(outbound, `the file ${tokenFile}`, [url, endpointUrl]);
  const http = createHttpClient({ outbound, timeoutMs });
  const load = async () => {
    const form = new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: roleArn,
      RoleSessionName: config.roleSessionName,
      WebIdentityToken: await readBounded(tokenFile),
      ...(config.durationSeconds !== undefined && { DurationSeconds: String(config.durationSeconds) }),
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await http.send({ method: 'POST', url, headers, body: form.toString() });
    if (answer.status !== 200) throw failureOf(answer, 'the security token service');
    return assumedRole(answer.text, now);
  };
  return { source: createCredentialSource<AwsCredentials>(load, now), close: () => http.close() };
}

/** The role of the pod, by the agent of EKS. */
function podIdentity(
  config: PodIdentity,
  { endpointUrl }: AwsConfig,
  { outbound, now = Date.now, timeoutMs }: KmsSetting,
  env: NodeJS.ProcessEnv,
): AwsIdentity {
  const { credentialsFullUri: named } = config;
  const tokenFile = config.authorizationTokenFile ?? env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];
  const full = named ?? URL.parse(env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] ?? '');
  if (tokenFile === undefined || !full)
    throw new Error(
      'podIdentity needs authorizationTokenFile and credentialsFullUri, here or in the environment',
    );
  requireIdentity(outbound, 'the role of this pod', [endpointUrl]);
  if (named && !POD_IDENTITY_HOSTS.has(named.hostname))
    requireIdentity(outbound, `the file ${tokenFile}`, [named]);
  const http = createHttpClient({ outbound, purpose: 'metadata', timeoutMs });
  const load = async () => {
    const headers = { authorization: await readBounded(tokenFile) };
    return sessionOf(await http.send({ method: 'GET', url: full, headers }), 'the pod identity agent', now);
  };
  return { source: createCredentialSource<AwsCredentials>(load, now), close: () => http.close() };
}

function sessionOf(answer: HttpAnswer, who: string, now: () => number): Credential<AwsCredentials> {
  if (answer.status !== 200) throw failureOf(answer, who);
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = answer.json(sessionSchema);
  return {
    value: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token },
    lifetimeMs: Date.parse(Expiration) - now(),
  };
}

/** The security token service speaks XML, of which four texts are wanted. */
function assumedRole(xml: string, now: () => number): Credential<AwsCredentials> {
  const text = (tag: string) => {
    const [, found] = new RegExp(`<${tag}>([^<]{1,8192})</${tag}>`).exec(xml) ?? [];
    if (found === undefined) throw new Error(`the security token service gave no ${tag}`);
    return found;
  };
  return {
    value: {
      accessKeyId: text('AccessKeyId'),
      secretAccessKey: text('SecretAccessKey'),
      sessionToken: text('SessionToken'),
    },
    lifetimeMs: Date.parse(text('Expiration')) - now(),
  };
}
