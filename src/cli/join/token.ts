/** The token of a joined cluster's account: one that is there and good, or one that Kubernetes is about to make. */
import { setTimeout as delay } from 'node:timers/promises';
import { joinedKubeconfig, secretName } from '../../control/join/secret.ts';
import { askSelf } from '../../control/targets/health.ts';
import { kubeconfigOf, readJoinedSecret } from '../../control/targets/joined-secret.ts';
import type { TokenAccount } from '../../control/targets/joined-secret.ts';
import type { Secret } from '../../kube/clusters.ts';
import type { Client } from '../../kube/http/client.ts';
import type { Connection } from '../../kube/http/connection.ts';
import { connectionOf, parseKubeconfig } from '../../kube/http/kubeconfig.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { withJoined } from './joined-client.ts';

const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const TIMEOUT_MS = 15_000;
/** Kubernetes fills the Secret within moments, where its token controller runs. */
const FILLED_MS = 60_000;

interface Wanted {
  request: { name: string; namespace: string };
  account: TokenAccount;
  way: Pick<Connection, 'server' | 'tls'>;
  options: { isLongLived: boolean };
}

/** The token that the Secret here has, if it is one of this account with a good part of its life left, and the server takes it. */
export async function reusableToken(
  client: Client,
  { request, account, way, options }: Wanted,
): Promise<string | undefined> {
  const name = { name: secretName(request.name), namespace: request.namespace };
  const secret = await client.get<Secret>(SECRET, name);
  const read = secret && readJoinedSecret(secret);
  if (!secret || !read || 'problem' in read) return undefined;
  const { subject, issuedAt = 0, expiresAt } = read.credential;
  const isOurs = subject === `system:serviceaccount:${account.namespace}:${account.name}`;
  const isFresh = expiresAt === undefined || expiresAt - Date.now() > (expiresAt - issuedAt) / 2;
  if (!isOurs || !isFresh || (expiresAt === undefined) !== options.isLongLived) return undefined;
  const { token } = connectionOf(parseKubeconfig(kubeconfigOf(secret), name.name)).user;
  return token !== undefined && (await isTaken(way, token)) ? token : undefined;
}

/** Whether the server takes a token. */
async function isTaken(way: Pick<Connection, 'server' | 'tls'>, token: string): Promise<boolean> {
  const text = joinedKubeconfig(way, { cluster: 'joined', token, namespace: 'default' });
  try {
    await withJoined(text, (client) => askSelf(client, { timeoutMs: TIMEOUT_MS }));
    return true;
  } catch {
    return false;
  }
}

/** The token that Kubernetes puts into the Secret of an account. */
export async function waitForToken(client: Client, account: TokenAccount): Promise<string> {
  const deadline = Date.now() + FILLED_MS;
  for (;;) {
    const secret = await client.get<Secret>(SECRET, account);
    const token = Buffer.from(secret?.data?.['token'] ?? '', 'base64').toString('utf8');
    if (token !== '') return token;
    if (Date.now() > deadline)
      throw new IsthmusError(
        'CLUSTER_REFUSED',
        `it has put no token into Secret ${account.namespace}/${account.name} within ${FILLED_MS / 1000} s; join without --long-lived`,
      );
    await delay(500);
  }
}
