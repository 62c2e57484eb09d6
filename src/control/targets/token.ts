/** Tokens of ServiceAccounts, by the TokenRequest API. */
import type { Client } from '../../kube/http/client.ts';
import type { RequestOptions } from '../../kube/http/requests.ts';
import type { TokenAccount } from './joined-secret.ts';

/** Asks for a token of an account. The server may give one for another time than it was asked for. */
export async function requestToken(
  client: Client,
  { namespace, name, lifetimeSeconds }: TokenAccount,
  options?: RequestOptions,
): Promise<string> {
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: lifetimeSeconds },
  };
  const [place, account] = [namespace, name].map(encodeURIComponent);
  const path = `/api/v1/namespaces/${place}/serviceaccounts/${account}/token`;
  const { status } = (await client.post(path, request, options)) as { status?: { token?: string } };
  if (!status?.token) throw new TypeError('the answer to a TokenRequest has no token');
  return status.token;
}
