/**
 * A stand-in for AWS by its documented APIs: KMS, whose signatures are checked, and the three services that give out
 * credentials (security token service, instance metadata version 2, the agent for pod identities), all at one port.
 */
import { randomBytes } from 'node:crypto';
import { signRequest } from '../../../src/crypto/kms/aws/sigv4.ts';
import type { AwsCredentials } from '../../../src/crypto/kms/aws/sigv4.ts';
import { createStandInKeys, startStandIn } from './stand-in.ts';
import type { Received, Reply, StandIn, StandInKeys } from './stand-in.ts';

export interface AwsStandIn extends StandIn {
  readonly keys: StandInKeys;
  /** What is let in now. */
  credentials: AwsCredentials;
  /** What it takes to get those, where they are given out. */
  webIdentityToken: string;
  podToken: string;
  /** How far its clock is ahead of ours. */
  skewMs: number;
}

export const AWS_REGION = 'eu-central-1';
export const AWS_ROLE = 'our-role';
const SIGNATURE_LIFE_MS = 5 * 60_000;
const SESSION_MS = 3_600_000;

const problem = (type: string, status = 400): Reply => ({
  status,
  body: { __type: `com.amazonaws.kms#${type}` },
});

export const newSession = (): AwsCredentials => ({
  accessKeyId: `ASIA${randomBytes(8).toString('hex')}`,
  secretAccessKey: randomBytes(20).toString('base64'),
  sessionToken: randomBytes(40).toString('base64'),
});

/** Aliases are told from ids: the id of the key with the alias `a` is `id-of-a`. */
export async function startAws(aliases: string[], now: () => number): Promise<AwsStandIn> {
  const keys = createStandInKeys(...aliases.map((alias) => `id-of-${alias}`));
  let metadataToken = '';
  const theirNow = () => now() + standIn.skewMs;
  const session = () => {
    const { accessKeyId, secretAccessKey, sessionToken = '' } = standIn.credentials;
    const Expiration = new Date(theirNow() + SESSION_MS).toISOString();
    return { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, sessionToken, Expiration };
  };

  /** What is wrong with who asks. */
  function refusalOf({ headers, body }: Received): Reply | undefined {
    const [, id] = /Credential=([^/]+)\//.exec(headers['authorization'] ?? '') ?? [];
    if (id !== standIn.credentials.accessKeyId) return problem('UnrecognizedClientException');
    const at = new Date((headers['x-amz-date'] ?? '').replace(/^(\d{4})(..)(..T..)(..)/, '$1-$2-$3:$4:'));
    if (!(Math.abs(at.getTime() - theirNow()) < SIGNATURE_LIFE_MS))
      return problem('InvalidSignatureException');
    const signed = { 'content-type': headers['content-type']!, 'x-amz-target': headers['x-amz-target']! };
    const url = new URL(`http://${headers['host']}/`);
    const scope = { region: AWS_REGION, service: 'kms', at };
    const right = signRequest({ method: 'POST', url, headers: signed, body }, standIn.credentials, scope);
    return right['authorization'] === headers['authorization']
      ? undefined
      : problem('InvalidSignatureException');
  }

  function kms(operation: string, body: string): Reply {
    const asked = JSON.parse(body) as { KeyId: string; CiphertextBlob?: string };
    const id = asked.KeyId.replace(/^alias\//, 'id-of-');
    if (!keys.has(id)) return problem('NotFoundException');
    if (operation === 'DescribeKey')
      return { status: 200, body: { KeyMetadata: { KeyId: id, Enabled: true } } };
    if (operation === 'GenerateDataKey') {
      const dek = randomBytes(32);
      const blob = Buffer.concat([Buffer.from([keys.newest(id)]), keys.seal(id, dek)]);
      const CiphertextBlob = blob.toString('base64');
      return { status: 200, body: { Plaintext: dek.toString('base64'), CiphertextBlob, KeyId: `arn:${id}` } };
    }
    const blob = Buffer.from(asked.CiphertextBlob!, 'base64');
    const dek = keys.open(id, blob[0] ?? 0, blob.subarray(1));
    return dek
      ? { status: 200, body: { Plaintext: dek.toString('base64') } }
      : problem('InvalidCiphertextException');
  }

  function assumeRole(body: string): Reply {
    const form = new URLSearchParams(body);
    const isRight =
      form.get('WebIdentityToken') === standIn.webIdentityToken && form.get('RoleArn') === AWS_ROLE;
    if (!isRight || form.get('Action') !== 'AssumeRoleWithWebIdentity')
      return {
        status: 400,
        body: '<ErrorResponse><Error><Code>InvalidIdentityToken</Code></Error></ErrorResponse>',
      };
    const { sessionToken, ...rest } = session();
    const texts = Object.entries({ ...rest, SessionToken: sessionToken });
    const tags = texts.map(([name, text]) => `<${name}>${text}</${name}>`).join('');
    return {
      status: 200,
      body: `<AssumeRoleWithWebIdentityResponse><Credentials>${tags}</Credentials></AssumeRoleWithWebIdentityResponse>`,
    };
  }

  function metadata({ method, path, headers }: Received): Reply {
    if (path === '/latest/api/token') {
      if (method !== 'PUT' || !headers['x-aws-ec2-metadata-token-ttl-seconds']) return { status: 400 };
      metadataToken = randomBytes(8).toString('hex');
      return { status: 200, body: metadataToken };
    }
    if (headers['x-aws-ec2-metadata-token'] !== metadataToken) return { status: 401 };
    if (path !== `/latest/meta-data/iam/security-credentials/${AWS_ROLE}`) return { status: 404 };
    const { sessionToken, ...rest } = session();
    return { status: 200, body: { Code: 'Success', ...rest, Token: sessionToken } };
  }

  function handle(request: Received): Reply {
    const { path, headers, body } = request;
    if (path === '/sts') return assumeRole(body);
    if (path.startsWith('/latest/')) return metadata(request);
    if (path === '/pod') {
      if (headers['authorization'] !== standIn.podToken) return { status: 401 };
      const { sessionToken, ...rest } = session();
      return { status: 200, body: { ...rest, Token: sessionToken } };
    }
    const reply = refusalOf(request) ?? kms(headers['x-amz-target']!.replace('TrentService.', ''), body);
    return { ...reply, headers: { date: new Date(theirNow()).toUTCString() } };
  }

  const started = await startStandIn({
    isKeyRequest: ({ path }) => path === '/',
    handle,
    refusal: problem('AccessDeniedException'),
    throttling: problem('ThrottlingException'),
  });
  const standIn: AwsStandIn = Object.assign(started, {
    keys,
    credentials: newSession(),
    webIdentityToken: 'a token of the pod',
    podToken: 'another token of the pod',
    skewMs: 0,
  });
  return standIn;
}
