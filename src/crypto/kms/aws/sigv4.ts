/**
 * AWS Signature Version 4: a request is signed with a key that is good for one day, region and service. Written by hand, because it is a few lines of
 * `node:crypto`, held to AWS's published examples, and what is wrong in it is refused by AWS. The signer of AWS's own SDK
 * (`@smithy/signature-v4`) would bring three more packages into the process that has the keys. One without any (`aws4fetch`) signs by WebCrypto,
 * asynchronously, and leaves the content type unsigned unless it is told to sign every header.
 */
import { createHash, createHmac } from 'node:crypto';
import type { HttpRequest } from '../http/client.ts';

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Of credentials that end. */
  sessionToken?: string | undefined;
}

/** What a signature is good for. */
export interface SigningScope {
  region: string;
  service: string;
  /** The time by the clock of AWS. */
  at: Date;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** The headers of a request with those that sign it; all that are given are signed. */
export function signRequest(
  { method, url, headers = {}, body = '' }: HttpRequest,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  { region, service, at }: SigningScope,
): Record<string, string> {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const signed: Record<string, string> = {
    ...headers,
    'x-amz-date': time,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  };
  const named = Object.entries({ ...signed, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/\s+/g, ' ')] as const)
    .toSorted(([one], [two]) => (one < two ? -1 : 1));
  const names = named.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname,
    queryOf(url),
    ...named.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`);
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex');
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...signed, authorization };
}

const encode = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted((one, two) => (one < two ? -1 : 1))
    .join('&');
}
