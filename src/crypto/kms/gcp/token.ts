import { sign } from 'node:crypto';
import { z } from 'zod';
import { KmsRefused } from '../../kms.ts';
import type { KmsSetting } from '../../kms.ts';
import { createHttpClient } from '../http/client.ts';
import { createCredentialSource } from '../http/credential.ts';
import type { CredentialSource } from '../http/credential.ts';
import { accessTokenIn, FORM } from '../http/oauth.ts';
import { createServiceClock } from '../http/service-clock.ts';
import { filesIn, readSecret, requireIdentity, serviceUrl } from '../http/settings.ts';
import type { Secret } from '../http/settings.ts';
import type { GcpConfig } from './config.ts';

/** A source of access tokens, and what has to be closed with it. */
export interface GcpIdentity {
  source: CredentialSource<string>;
  close(): void;
}

const SCOPE = 'https://www.googleapis.com/auth/cloudkms';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS = 600;

/** The file that Google gives out for a service account. */
const keyFileSchema = z.object({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: serviceUrl.prefault('https://oauth2.googleapis.com/token'),
});

/** Who a configuration says we are. Throws where that is the process's own identity and may not be used. */
export function gcpIdentity({ credentials, endpointUrl }: GcpConfig, setting: KmsSetting): GcpIdentity {
  if ('serviceAccountKey' in credentials)
    return serviceAccount(credentials.serviceAccountKey, endpointUrl, setting);
  const { outbound, now = Date.now, timeoutMs } = setting;
  requireIdentity(outbound, 'the identity of this machine', [endpointUrl]);
  const http = createHttpClient({ outbound, purpose: 'metadata', timeoutMs });
  const path = 'computeMetadata/v1/instance/service-accounts/default/token';
  const url = new URL(path, credentials.metadata.metadataEndpoint);
  const headers = { 'metadata-flavor': 'Google' };
  const load = async () =>
    accessTokenIn(await http.send({ method: 'GET', url, headers }), 'instance metadata');
  return { source: createCredentialSource<string>(load, now), close: () => http.close() };
}

/** A service account, by a text that its key has signed. */
function serviceAccount(key: Secret, endpointUrl: URL, setting: KmsSetting): GcpIdentity {
  const { outbound, now = Date.now, timeoutMs } = setting;
  const files = filesIn(key);
  for (const file of files) requireIdentity(outbound, `the file ${file}`, [endpointUrl]);
  const http = createHttpClient({ outbound, timeoutMs });
  const clock = createServiceClock(now);
  const load = async () => {
    const account = keyFileIn(await readSecret(key));
    const { token_uri: url } = account;
    for (const file of files) requireIdentity(outbound, `the file ${file}`, [url]);
    const ask = () => {
      const assertion = assertionOf(account, clock.now());
      const form = new URLSearchParams({ grant_type: JWT_BEARER, assertion });
      return http.send({ method: 'POST', url, headers: FORM, body: form.toString() });
    };
    let answer = await ask();
    if (answer.status === 400 && clock.follow(answer)) answer = await ask();
    return accessTokenIn(answer, 'Google’s token service');
  };
  return { source: createCredentialSource<string>(load, now), close: () => http.close() };
}

function keyFileIn(text: string): z.output<typeof keyFileSchema> {
  try {
    return keyFileSchema.parse(JSON.parse(text));
  } catch {
    // Without the cause, which quotes what it could not read.
    throw new KmsRefused('serviceAccountKey is not the JSON file of a service account’s key');
  }
}

function assertionOf(account: z.output<typeof keyFileSchema>, nowMs: number): string {
  const { client_email: iss, private_key: key, private_key_id: kid, token_uri: url } = account;
  const iat = Math.floor(nowMs / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss, scope: SCOPE, aud: url.href, iat, exp: iat + ASSERTION_SECONDS };
  const text = `${part({ alg: 'RS256', typ: 'JWT', kid })}.${part(claims)}`;
  try {
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  } catch {
    throw new KmsRefused('the private_key in serviceAccountKey cannot be used');
  }
}
