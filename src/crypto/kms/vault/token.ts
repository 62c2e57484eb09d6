import { z } from 'zod';
import { failureOf } from '../http/client.ts';
import type { HttpAnswer, HttpClient } from '../http/client.ts';
import { createCredentialSource } from '../http/credential.ts';
import type { Credential, CredentialSource } from '../http/credential.ts';
import { readBounded, readSecret } from '../http/settings.ts';
import type { Secret } from '../http/settings.ts';
import type { VaultConfig } from './config.ts';

/** A token, and whether it can be given a longer life. */
interface Token {
  text: string;
  renewable: boolean;
  /** How long it was good for when it was new. */
  fullLifeMs: number;
}

const leaseSchema = z.object({
  auth: z.object({ client_token: z.string().min(1), lease_duration: z.number(), renewable: z.boolean() }),
});
const lookupSchema = z.object({ data: z.object({ ttl: z.number(), renewable: z.boolean().default(false) }) });

/** A token file is replaced by somebody else (an agent), so it is looked at so often. */
const FILE_LIFE_MS = 60_000;

/** What is below `/v1/`: the methods to log in are beside the engine. */
const apiRoot = ({ vaultTransitEngineUrl: url }: VaultConfig) =>
  new URL(`${url.pathname.split('/v1/', 1)[0]}/v1/`, url);

/** The headers of every request. */
export const commonHeaders = ({ namespace }: VaultConfig): Record<string, string> => ({
  // Agents of Vault ask for it, against requests that somebody was led to make.
  'x-vault-request': 'true',
  ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
});

/** The token that we are known by: given, read from a file, or got by logging in; renewed before it ends. */
export function vaultToken(
  config: VaultConfig,
  http: HttpClient,
  now: () => number,
): CredentialSource<Token> {
  const call = async (method: 'GET' | 'POST', path: string, token?: string, body?: object) =>
    http.send({
      method,
      url: new URL(path, apiRoot(config)),
      headers: { ...commonHeaders(config), ...(token === undefined ? {} : { 'x-vault-token': token }) },
      ...(body && { body: JSON.stringify(body) }),
    });

  async function renewed(held: Token): Promise<Credential<Token> | undefined> {
    const answer = await call('POST', 'auth/token/renew-self', held.text, {});
    const found = answer.status === 200 ? leaseOf(answer, held.fullLifeMs) : undefined;
    // Towards the end of the longest life that it may have it gets less and less: then a new one is due.
    return found && found.lifetimeMs >= held.fullLifeMs / 2 ? found : undefined;
  }

  async function given(value: Secret): Promise<Credential<Token>> {
    const text = await readSecret(value);
    if ('passwordFile' in value)
      return { value: { text, renewable: false, fullLifeMs: FILE_LIFE_MS }, lifetimeMs: FILE_LIFE_MS };
    const answer = await call('GET', 'auth/token/lookup-self', text);
    // A token need not be allowed to ask about itself, and is used as it is then.
    const { ttl, renewable } =
      answer.status === 200 ? answer.json(lookupSchema).data : { ttl: 0, renewable: false };
    const lifetimeMs = ttl > 0 && renewable ? ttl * 1000 : Infinity;
    return { value: { text, renewable, fullLifeMs: lifetimeMs }, lifetimeMs };
  }

  async function loggedIn(): Promise<Credential<Token>> {
    const { mount, body } = await login(config.auth!);
    const answer = await call('POST', `auth/${mount}/login`, undefined, body);
    if (answer.status !== 200) throw failureOf(answer, `Vault’s login at auth/${mount}`);
    return leaseOf(answer);
  }

  return createCredentialSource<Token>(async (held) => {
    const longer = held?.renewable ? await renewed(held) : undefined;
    return longer ?? (config.vaultToken ? given(config.vaultToken) : loggedIn());
  }, now);
}

function leaseOf(answer: HttpAnswer, fullLifeMs?: number): Credential<Token> {
  const { client_token: text, lease_duration: seconds, renewable } = answer.json(leaseSchema).auth;
  const lifetimeMs = seconds > 0 ? seconds * 1000 : Infinity;
  return { value: { text, renewable, fullLifeMs: fullLifeMs ?? lifetimeMs }, lifetimeMs };
}

async function login(auth: NonNullable<VaultConfig['auth']>): Promise<{ mount: string; body: object }> {
  if ('kubernetes' in auth) {
    const { role, mount, tokenFile } = auth.kubernetes;
    return { mount, body: { role, jwt: await readBounded(tokenFile) } };
  }
  if ('appRole' in auth) {
    const { roleId, secretId, mount } = auth.appRole;
    return { mount, body: { role_id: roleId, secret_id: await readSecret(secretId) } };
  }
  const { role, jwt, mount } = auth.jwt;
  return { mount, body: { role, jwt: await readSecret(jwt) } };
}
