/** A stand-in for HashiCorp Vault: its transit engine, its tokens, and three ways to log in, by its documented API. */
import { randomBytes } from 'node:crypto';
import { createStandInKeys, startStandIn } from './stand-in.ts';
import type { Received, Reply, StandIn, StandInKeys } from './stand-in.ts';

export interface VaultStandIn extends StandIn {
  readonly keys: StandInKeys;
  /** What logs in, by method; a token is what it is. */
  readonly logins: { kubernetes: string; approle: string; jwt: string };
  /** Makes a token that lives so long, without end for 0. */
  issue(ttlSeconds: number, renewable?: boolean): string;
  revokeAll(): void;
  /** The longest life that renewals lead to. */
  maxTtlSeconds: number;
}

interface Token {
  issuedAt: number;
  expiresAt: number;
  ttlSeconds: number;
  renewable: boolean;
}

const DENIED: Reply = { status: 403, body: { errors: ['permission denied'] } };
const LOGIN_TTL_SECONDS = 3600;

export async function startVault(
  names: string[],
  now: () => number,
  namespace?: string,
): Promise<VaultStandIn> {
  const keys = createStandInKeys(...names);
  const tokens = new Map<string, Token>();
  const logins = { kubernetes: 'pod-token', approle: 'secret-id', jwt: 'a-jwt' };

  const tokenOf = (text: string | undefined) => {
    const token = tokens.get(text ?? '');
    return token && token.expiresAt > now() ? token : undefined;
  };
  const lease = (text: string, { expiresAt, renewable }: Token): Reply => ({
    status: 200,
    body: {
      auth: {
        client_token: text,
        lease_duration: Number.isFinite(expiresAt) ? Math.floor((expiresAt - now()) / 1000) : 0,
        renewable,
      },
    },
  });

  function login(method: string, body: string): Reply {
    const given = JSON.parse(body) as Record<string, string>;
    const isRight =
      method === 'approle'
        ? given.role_id === 'our-role' && given.secret_id === logins.approle
        : given.role === 'our-role' && given.jwt === logins[method as 'jwt'];
    if (!isRight) return DENIED;
    const text = standIn.issue(LOGIN_TTL_SECONDS);
    return lease(text, tokens.get(text)!);
  }

  function self(action: string, text: string, token: Token): Reply {
    if (action === 'lookup-self') {
      const ttl = token.ttlSeconds === 0 ? 0 : Math.floor((token.expiresAt - now()) / 1000);
      return { status: 200, body: { data: { ttl, renewable: token.renewable } } };
    }
    if (!token.renewable) return { status: 400, body: { errors: ['lease is not renewable'] } };
    const longest = token.issuedAt + standIn.maxTtlSeconds * 1000;
    token.expiresAt = Math.min(now() + token.ttlSeconds * 1000, longest);
    return lease(text, token);
  }

  function transit(operation: string, name: string, body: string): Reply {
    const missing: Reply = { status: 400, body: { errors: ['encryption key not found'] } };
    if (operation === 'keys')
      return keys.has(name)
        ? { status: 200, body: { data: { name, type: 'aes256-gcm96', latest_version: keys.newest(name) } } }
        : { status: 404, body: { errors: [] } };
    if (!keys.has(name)) return missing;
    if (operation === 'datakey/plaintext') {
      const dek = randomBytes(32);
      const ciphertext = `vault:v${keys.newest(name)}:${keys.seal(name, dek).toString('base64')}`;
      return { status: 200, body: { data: { plaintext: dek.toString('base64'), ciphertext } } };
    }
    const { ciphertext } = JSON.parse(body) as { ciphertext: string };
    const [, version = '0', sealed = ''] = /^vault:v(\d+):(.*)$/.exec(ciphertext) ?? [];
    // Like Go's decoder, which takes no text that was cut off.
    const isWhole = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(sealed);
    const dek = isWhole ? keys.open(name, Number(version), Buffer.from(sealed, 'base64')) : undefined;
    return dek
      ? { status: 200, body: { data: { plaintext: dek.toString('base64') } } }
      : { status: 400, body: { errors: ['invalid ciphertext: unable to decrypt'] } };
  }

  function handle({ path, headers, body }: Received): Reply {
    if (headers['x-vault-request'] !== 'true' || headers['x-vault-namespace'] !== namespace) return DENIED;
    const [, method] = /^\/v1\/auth\/(kubernetes|approle|jwt)\/login$/.exec(path) ?? [];
    if (method) return login(method, body);
    const text = headers['x-vault-token'];
    const token = tokenOf(text);
    if (!token) return DENIED;
    const [, action] = /^\/v1\/auth\/token\/(lookup-self|renew-self)$/.exec(path) ?? [];
    if (action) return self(action, text!, token);
    const [, operation, name] =
      /^\/v1\/transit\/(keys|datakey\/plaintext|decrypt)\/([^/]+)$/.exec(path) ?? [];
    return operation ? transit(operation, name!, body) : { status: 404, body: { errors: [] } };
  }

  const started = await startStandIn({
    isKeyRequest: ({ path }) => path.startsWith('/v1/transit/'),
    handle,
    refusal: DENIED,
    throttling: {
      status: 429,
      body: { errors: ['request path is over its quota'] },
      headers: { 'retry-after': '2' },
    },
  });
  const standIn: VaultStandIn = Object.assign(started, {
    keys,
    logins,
    maxTtlSeconds: Infinity,
    issue(ttlSeconds: number, renewable = ttlSeconds > 0) {
      const text = `hvs.${randomBytes(12).toString('hex')}`;
      const expiresAt = ttlSeconds > 0 ? now() + ttlSeconds * 1000 : Infinity;
      tokens.set(text, { issuedAt: now(), expiresAt, ttlSeconds, renewable });
      return text;
    },
    revokeAll: () => tokens.clear(),
  });
  return standIn;
}
