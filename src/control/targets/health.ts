/**
 * Asks every joined cluster, each for itself, whether it answers, takes our credentials, and grants what is needed. Nobody waits for a
 * cluster that does not answer.
 */
import type { Clock } from '../../kube/clock.ts';
import type { Client } from '../../kube/http/client.ts';
import type { Clusters } from '../../kube/clusters.ts';
import { ApiError } from '../../kube/http/errors.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Right } from '../kernel/rights.ts';
import { isAdministrator, missingRights } from './rights-check.ts';
import type { GrantedRule } from './rights-check.ts';

/** Whether a cluster can be used. `since` is when that began, as far as this process has seen, in milliseconds since 1970. */
export type Reach =
  | { state: 'unknown' }
  | { state: 'reachable'; since: number }
  | { state: 'unreachable'; since: number; problem: string };

/** What a cluster has answered. */
export interface Health {
  reach: Reach;
  version?: string | undefined;
  /** How far its clock is ahead of ours. */
  clockAheadMs?: number | undefined;
  /** What its account lacks, each as `verb resource.group`, with the namespace where there are several. */
  missing: readonly string[];
  isAdministrator: boolean;
}

export const UNKNOWN: Health = { reach: { state: 'unknown' }, missing: [], isAdministrator: false };

export interface NeededThere {
  rights: readonly Right[];
  namespaces: readonly string[];
}

export interface HealthOptions {
  clusters: Clusters;
  /** What is asked for in a cluster, and where; everywhere if there are no namespaces. */
  needsOf: (cluster: string) => readonly NeededThere[];
  /** The one that needs no asking. */
  central: string;
  onHealth: (cluster: string, health: Health) => void;
  clock: Clock;
}

const CHECK_MS = 10_000;
const TICK_MS = 1000;
const TIMEOUT_MS = 10_000;
/** Rights seldom change. */
const RIGHTS_MS = 5 * 60_000;
/** Whoever answers there may say anything, and it stands in a ConfigMap with what is known of all others. */
const LONGEST_VERSION = 100;

interface Watched {
  health: Health;
  /** The client that was asked: with new credentials everything is asked anew. */
  client: Client | undefined;
  checkedAt: number;
  rightsAt: number;
  isBusy: boolean;
}

/** Asks until the signal is aborted. */
export async function watchHealth(options: HealthOptions, signal: AbortSignal): Promise<void> {
  const { clusters, central, clock } = options;
  const known = new Map<string, Watched>();
  while (!signal.aborted) {
    const names = clusters.names().filter((name) => name !== central);
    for (const name of known.keys()) if (!names.includes(name)) known.delete(name);
    for (const name of names) {
      const watched = known.get(name) ?? fresh();
      known.set(name, watched);
      void checkIfDue(name, watched, options, signal);
    }
    await clock.wait(TICK_MS, signal);
  }
}

/** None of a cluster that has left, or never had a kubeconfig that can be used. */
function clientOf(clusters: Clusters, name: string): Client | undefined {
  try {
    return clusters.get(name).client;
  } catch {
    return undefined;
  }
}

const fresh = (): Watched => ({
  health: UNKNOWN,
  client: undefined,
  checkedAt: -Infinity,
  rightsAt: -Infinity,
  isBusy: false,
});

async function checkIfDue(
  name: string,
  watched: Watched,
  options: HealthOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clusters, clock } = options;
  const client = clientOf(clusters, name);
  if (watched.isBusy || !client) return;
  if (client !== watched.client)
    Object.assign(watched, { client, checkedAt: -Infinity, rightsAt: -Infinity });
  if (clock.now() - watched.checkedAt < CHECK_MS) return;
  watched.isBusy = true;
  try {
    const seen = await ask(client, options.needsOf(name), clock.now() - watched.rightsAt >= RIGHTS_MS, {
      clock,
      signal,
    });
    if (signal.aborted || client !== clientOf(clusters, name)) return;
    const isUp = seen.problem === undefined;
    if (isUp && seen.missing) watched.rightsAt = clock.now();
    watched.health = {
      ...watched.health,
      ...(isUp ? seen.answers : {}),
      ...(seen.missing && { missing: seen.missing, isAdministrator: seen.isAdministrator ?? false }),
      reach: reachAfter(watched.health.reach, seen.problem, clock.wallTime()),
    };
    options.onHealth(name, watched.health);
  } finally {
    watched.isBusy = false;
    watched.checkedAt = clock.now();
  }
}

/** The same state goes on; another one begins now. */
export function reachAfter(before: Reach, problem: string | undefined, now: number): Reach {
  const state = problem === undefined ? 'reachable' : 'unreachable';
  const since = before.state === state ? before.since : now;
  return problem === undefined ? { state: 'reachable', since } : { state: 'unreachable', since, problem };
}

interface Seen {
  problem: string | undefined;
  answers?: Pick<Health, 'version' | 'clockAheadMs'>;
  missing?: string[];
  isAdministrator?: boolean;
}

async function ask(
  client: Client,
  needs: readonly NeededThere[],
  asksRights: boolean,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Seen> {
  const options = { timeoutMs: TIMEOUT_MS, signal };
  try {
    const { gitVersion } = ((await client.read('/version', options)) ?? {}) as { gitVersion?: unknown };
    const version = typeof gitVersion === 'string' ? gitVersion.slice(0, LONGEST_VERSION) : undefined;
    const answers = { version, ...(asksRights && (await askClock(client, clock, options))) };
    if (!asksRights) return { problem: undefined, answers };
    const asked = await Promise.all(needs.map((one) => askRights(client, one, options)));
    return {
      problem: undefined,
      answers,
      missing: asked.flatMap(({ missing }) => missing),
      isAdministrator: asked.some((one) => one.isAdministrator),
    };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401)
      return { problem: `the credentials are refused: ${error.message}` };
    return { problem: messageOf(error) };
  }
}

interface Review {
  metadata?: { creationTimestamp?: string };
  status?: { resourceRules?: GrantedRule[]; userInfo?: { username?: string } };
}

type RequestLimits = { timeoutMs: number; signal: AbortSignal };

/** Who the server takes us for, and what time it is there: both are in the answer to a question about oneself. */
export async function askSelf(
  client: Client,
  options: Partial<RequestLimits> = {},
): Promise<{ username: string | undefined; time: number | undefined }> {
  const apiVersion = 'authentication.k8s.io/v1';
  const review = { apiVersion, kind: 'SelfSubjectReview' };
  const { status, metadata } = (await client.post(
    `/apis/${apiVersion}/selfsubjectreviews`,
    review,
    options,
  )) as Review;
  const time = Date.parse(metadata?.creationTimestamp ?? '');
  return { username: status?.userInfo?.username, time: Number.isNaN(time) ? undefined : time };
}

async function askClock(client: Client, clock: Clock, options: RequestLimits) {
  const before = clock.wallTime();
  const { time } = await askSelf(client, options);
  if (time === undefined) return {};
  // The server says whole seconds, and answered at some time between question and answer.
  const [earliest, latest] = [before, clock.wallTime()];
  const isWithin = time + 1000 >= earliest && time <= latest;
  return { clockAheadMs: isWithin ? 0 : time > latest ? time - latest : time + 1000 - earliest };
}

/** What the account may do in a namespace, by the server's own account of it. */
export async function rulesIn(
  client: Client,
  namespace: string,
  options: Partial<RequestLimits> = {},
): Promise<GrantedRule[]> {
  const apiVersion = 'authorization.k8s.io/v1';
  const review = { apiVersion, kind: 'SelfSubjectRulesReview', spec: { namespace } };
  const answer = await client.post(`/apis/${apiVersion}/selfsubjectrulesreviews`, review, options);
  return (answer as Review).status?.resourceRules ?? [];
}

/** In which namespace to ask about rights that are for the whole cluster: there need not be one of this name. */
const ANYWHERE = 'default';

async function askRights(
  client: Client,
  { rights, namespaces }: NeededThere,
  options: RequestLimits,
): Promise<Required<Pick<Seen, 'missing' | 'isAdministrator'>>> {
  const places = namespaces.length > 0 ? namespaces : [ANYWHERE];
  const found = await Promise.all(
    places.map(async (namespace) => {
      const rules = await rulesIn(client, namespace, options);
      const missing = missingRights(rules, rights);
      const where = namespaces.length > 1 ? ` in ${namespace}` : '';
      return { rules, missing: missing.map((one) => `${one}${where}`) };
    }),
  );
  return {
    missing: [...new Set(found.flatMap(({ missing }) => missing))],
    isAdministrator: found.some(({ rules }) => isAdministrator(rules)),
  };
}
