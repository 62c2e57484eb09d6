/** A real issuer of tokens (oidc-provider, certified for OpenID Connect): its clients get JWTs for themselves, and it serves its public keys. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What of it is used here; the package has no types. */
interface Provider {
  callback(): RequestListener;
}
type ProviderClass = new (issuer: string, configuration: object) => Provider;

export interface Issuer extends AsyncDisposable {
  issuer: string;
  jwksUrl: string;
  audience: string;
  /** A token of one of its clients, which is the token's subject. */
  tokenOf(client: string): Promise<string>;
}

const AUDIENCE = 'kafka';
const RESOURCE = 'https://kafka.example.com';
const SECRET = 'a-client-secret-for-tests';

export async function startIssuer(clients: readonly string[]): Promise<Issuer> {
  const name: string = 'oidc-provider';
  const { default: ProviderOf } = (await import(name)) as { default: ProviderClass };
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const resource = { scope: '', audience: AUDIENCE, accessTokenTTL: 600, accessTokenFormat: 'jwt' };
  const provider = new ProviderOf(issuer, {
    clients: clients.map((client_id) => ({
      client_id,
      client_secret: SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'the-key' }] },
    cookies: { keys: ['of-no-use-here'] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: true, getResourceServerInfo: () => resource },
    },
  });
  server.on('request', provider.callback());
  return {
    issuer,
    jwksUrl: `${issuer}/jwks`,
    audience: AUDIENCE,
    async tokenOf(client) {
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${client}:${SECRET}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: RESOURCE }),
      });
      const { access_token: token } = (await answer.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`no token for ${client}: ${answer.status}`);
      return token;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
