/**
 * A stand-in for Azure by its documented APIs: Key Vault, Entra's tokens and the metadata service of a machine, all at one port.
 * Key Vault wraps with RSA keys whose private half never leaves it; this one wraps with AES, which nobody outside can tell.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createStandInKeys, startStandIn } from './stand-in.ts';
import type { Received, Reply, StandIn, StandInKeys } from './stand-in.ts';

export interface AzureStandIn extends StandIn {
  readonly keys: StandInKeys;
  /** What is let in now; who asks for a token gets it. */
  token: string;
  clientSecret: string;
  podToken: string;
  /** The name of a version, in Azure 32 hexadecimal digits. */
  versionName(key: string, version: number): string;
}

export const AZURE_TENANT = 'our-tenant';
export const AZURE_CLIENT = 'our-client';
export const AZURE_VAULT = 'our-vault';
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const problem = (status: number, code: string): Reply => ({ status, body: { error: { code, message: '' } } });

export async function startAzure(names: string[]): Promise<AzureStandIn> {
  const keys = createStandInKeys(...names);
  const versions = (name: string) =>
    Array.from({ length: keys.newest(name) }, (_, i) => standIn.versionName(name, i + 1));

  function entra(body: string): Reply {
    const form = new URLSearchParams(body);
    const isClient =
      form.get('grant_type') === 'client_credentials' &&
      form.get('client_id') === AZURE_CLIENT &&
      form.get('scope') === 'https://vault.azure.net/.default';
    const isKnown =
      form.get('client_secret') === standIn.clientSecret ||
      (form.get('client_assertion_type') === JWT_BEARER && form.get('client_assertion') === standIn.podToken);
    if (!isClient || !isKnown) return { status: 401, body: { error: 'invalid_client' } };
    return { status: 200, body: { token_type: 'Bearer', expires_in: 3599, access_token: standIn.token } };
  }

  function metadata({ headers, query }: Received): Reply {
    if (headers['metadata'] !== 'true' || query.get('resource') !== 'https://vault.azure.net')
      return { status: 400, body: { error: 'invalid_request' } };
    return { status: 200, body: { token_type: 'Bearer', expires_in: '3599', access_token: standIn.token } };
  }

  function keyVault({ method, path, headers, query, body }: Received): Reply {
    if (headers['authorization'] !== `Bearer ${standIn.token}`) return problem(401, 'Unauthorized');
    if (query.get('api-version') !== '7.4') return problem(400, 'BadParameter');
    const [, name = '', version, operation] = /^\/keys\/([^/]+)(?:\/([^/]+)\/(\w+))?$/.exec(path) ?? [];
    if (!keys.has(name)) return problem(404, 'KeyNotFound');
    const kid = `https://${headers['host']}/keys/${name}/${version ?? versions(name).at(-1)}`;
    if (method === 'GET')
      return { status: 200, body: { key: { kid, kty: 'RSA' }, attributes: { enabled: true } } };
    const number = versions(name).indexOf(version!) + 1;
    if (number === 0) return problem(404, 'KeyNotFound');
    const { alg, value } = JSON.parse(body) as { alg: string; value: string };
    if (alg !== 'RSA-OAEP-256') return problem(400, 'BadParameter');
    const given = Buffer.from(value, 'base64url');
    const made = operation === 'wrapkey' ? keys.seal(name, given) : keys.open(name, number, given);
    return made
      ? { status: 200, body: { kid, value: made.toString('base64url') } }
      : problem(400, 'BadParameter');
  }

  const started = await startStandIn({
    isKeyRequest: ({ path }) => path.startsWith('/keys/'),
    handle(request) {
      if (request.path === `/${AZURE_TENANT}/oauth2/v2.0/token`) return entra(request.body);
      return request.path === '/metadata/identity/oauth2/token' ? metadata(request) : keyVault(request);
    },
    refusal: problem(403, 'Forbidden'),
    throttling: { ...problem(429, 'Throttled'), headers: { 'retry-after': '1' } },
  });
  const standIn: AzureStandIn = Object.assign(started, {
    keys,
    token: randomBytes(20).toString('base64url'),
    clientSecret: 'a secret of the client',
    podToken: 'a token of the pod',
    versionName: (key: string, version: number) =>
      createHash('md5').update(`${key} ${version}`).digest('hex'),
  });
  return standIn;
}
