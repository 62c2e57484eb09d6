/** Renews the tokens of joined clusters: asks each cluster for a new one by the old one, and writes it into the Secret. */
import type { Clock } from '../../kube/clock.ts';
import type { Clusters, Secret } from '../../kube/clusters.ts';
import type { Client } from '../../kube/http/client.ts';
import { hasStatus } from '../../kube/http/errors.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { FIELD_MANAGER } from '../kernel/field-manager.ts';
import { kubeconfigOf, readJoinedSecret, withToken } from './joined-secret.ts';
import type { TokenAccount } from './joined-secret.ts';
import { KUBECONFIG_ENTRY } from './names.ts';
import { renewalDueAt, retryAfterMs } from './renewal.ts';
import { requestToken } from './token.ts';

export interface RenewOptions {
  clusters: Clusters;
  /** The Secret of a joined cluster. */
  secretOf: (cluster: string) => Secret | undefined;
  /** Of the cluster that has the Secrets. */
  client: () => Client;
  /** Told why a token could not be renewed; undefined when it could. */
  onRenewal?: (cluster: string, problem: string | undefined) => void;
  log: Log;
  clock: Clock;
}

const TICK_MS = 1000;
const TIMEOUT_MS = 15_000;
const SECRET = { group: '', version: 'v1', kind: 'Secret' };

/** Since when a cluster's token cannot be renewed. */
interface Attempt {
  isBusy: boolean;
  failures: number;
  notBefore: number;
}

/** Renews tokens until the signal is aborted. One cluster that does not answer holds up no other. */
export async function renewTokens(options: RenewOptions, signal: AbortSignal): Promise<void> {
  const { clusters, secretOf, clock } = options;
  const attempts = new Map<string, Attempt>();
  const running = new Set<Promise<void>>();
  while (!signal.aborted) {
    const names = clusters.names();
    for (const name of attempts.keys()) if (!names.includes(name)) attempts.delete(name);
    for (const name of names) {
      const secret = secretOf(name);
      const account = secret && dueAccount(secret, clock.wallTime());
      const attempt = attempts.get(name) ?? { isBusy: false, failures: 0, notBefore: 0 };
      attempts.set(name, attempt);
      if (!account || attempt.isBusy || clock.wallTime() < attempt.notBefore) continue;
      const run = renewOne(name, secret, account, attempt, options, signal).finally(() =>
        running.delete(run),
      );
      running.add(run);
    }
    await clock.wait(TICK_MS, signal);
  }
  await Promise.all(running);
}

/** The account whose token is to be renewed now. */
function dueAccount(secret: Secret, now: number): TokenAccount | undefined {
  const read = readJoinedSecret(secret);
  if ('problem' in read || !read.account) return undefined;
  const dueAt = renewalDueAt(read.credential, now);
  return dueAt !== undefined && dueAt <= now ? read.account : undefined;
}

async function renewOne(
  name: string,
  secret: Secret,
  account: TokenAccount,
  attempt: Attempt,
  { clusters, client, onRenewal = () => {}, log, clock }: RenewOptions,
  signal: AbortSignal,
): Promise<void> {
  attempt.isBusy = true;
  try {
    const request = { timeoutMs: TIMEOUT_MS, signal };
    const token = await requestToken(clusters.get(name).client, account, request);
    await writeToken(client(), secret, token, signal);
    attempt.failures = 0;
    // The cache has the new Secret in a moment.
    attempt.notBefore = clock.wallTime() + TIMEOUT_MS;
    onRenewal(name, undefined);
    log.info({ cluster: name }, 'credential renewed');
  } catch (error) {
    if (signal.aborted) return;
    attempt.failures += 1;
    attempt.notBefore = clock.wallTime() + retryAfterMs(attempt.failures);
    // Somebody else was quicker: another replica, or whoever joined the cluster anew.
    if (hasStatus(error, 409)) return;
    onRenewal(name, messageOf(error));
    log.warn({ cluster: name, problem: messageOf(error) }, 'credential could not be renewed');
  } finally {
    attempt.isBusy = false;
  }
}

/** Never over a Secret that somebody has changed meanwhile. */
async function writeToken(client: Client, secret: Secret, token: string, signal: AbortSignal): Promise<void> {
  const { name, namespace, resourceVersion } = secret.metadata;
  const text = withToken(kubeconfigOf(secret), token);
  const patch = {
    metadata: { resourceVersion },
    data: { [KUBECONFIG_ENTRY]: Buffer.from(text).toString('base64') },
  };
  const options = { fieldManager: FIELD_MANAGER, timeoutMs: TIMEOUT_MS, signal };
  await client.mergePatch(SECRET, { name, namespace }, patch, options);
}
