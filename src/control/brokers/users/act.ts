/** Does for users what a plan cannot say by objects: makes credentials, looks at Kafka, and takes the next steps there. */
import { createHash } from 'node:crypto';
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { Client } from '../../../kube/http/client.ts';
import { isBeingDeleted } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { KafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { UNAVAILABLE, deniedBy, refusedBy } from '../entities/faults.ts';
import type { EntityState } from '../entities/faults.ts';
import { isPaused, usesFinalizer } from '../entities/home.ts';
import { isRefusal, writeMarks } from '../entities/mark.ts';
import type { Marks } from '../entities/mark.ts';
import { toldBy } from '../news.ts';
import { passwordIn, passwordSource } from './credentials.ts';
import { lookAtUsers, takeUserSteps } from './look.ts';
import { passwordsFor, signCertificates } from './make.ts';
import { newsOfStep } from './news.ts';
import { planUser, releaseUser } from './plan-user.ts';
import type { SeenUsers, UserPlan, UserStep } from './plan-user.ts';
import type { UsersAction, UsersActed, WantedOfUser } from './plan-users.ts';

export interface UsersContext {
  client: Client;
  /** A client of the Kafka cluster; undefined if nobody can be asked. */
  admin: Admin | undefined;
  events: Pick<EventRecorder, 'record'>;
  log: Log;
  now: Date;
}

const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const NOTHING_ACTED: UsersActed = {
  certificates: new Map(),
  passwords: new Map(),
  given: new Map(),
  states: new Map(),
  isBusy: false,
  isReached: true,
};

export async function actOnUsers(
  { home, users, authority, drop }: UsersAction,
  before: UsersActed = NOTHING_ACTED,
  context: UsersContext,
  signal: AbortSignal,
): Promise<UsersActed> {
  const { client, now } = context;
  if (!home) {
    const going = users.filter(({ user }) => isBeingDeleted(user));
    const released = going.map(({ user }) => ({ user, plan: releaseUser(user) }));
    const { denied } = await mark(released, client, signal);
    for (const refusal of denied.values()) throw refusal;
    return NOTHING_ACTED;
  }
  for (const secret of drop) await dropSecret(secret, context, signal);
  const certificates = await signCertificates(users, authority, before.certificates, now);
  const readSecret = (namespace: string, name: string) =>
    client.get(SECRET, { namespace, name }, { signal }).catch((error: unknown) => {
      if (isRefusal(error)) return undefined;
      throw error;
    });
  const passwords = await passwordsFor(users, before.passwords, readSecret);
  const made = { ...before, certificates, passwords };
  return { ...made, ...(await inKafka(home, users, made, context, signal)) };
}

/** One that may not be deleted is looked at again with the next look at all of them. */
async function dropSecret(
  { metadata }: AnyObject,
  { client, log }: UsersContext,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = metadata;
  try {
    await client.delete(SECRET, metadata, { ...(uid !== undefined && { uid }), signal });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log.warn({ object: metadata.name, reason: error.message }, 'Secret of a user could not be deleted');
  }
}

type Looked = Pick<UsersActed, 'given' | 'states' | 'isBusy' | 'isReached'>;

async function inKafka(
  home: Kafka,
  users: readonly WantedOfUser[],
  made: UsersActed,
  { admin, client, events, log }: UsersContext,
  signal: AbortSignal,
): Promise<Looked> {
  if (!admin) return unreached(users, made);
  try {
    const seen = await lookAtUsers(admin);
    const planned = planAll(home, users, made, seen);
    const { marked, denied } = await mark(planned, client, signal);
    const steps = planned.flatMap(({ user, plan }) =>
      marked.has(user) ? plan.steps.map((step) => ({ user: user.metadata.name, resource: user, step })) : [],
    );
    const refused = await takeUserSteps(admin, steps);
    // What a new operator gives to Kafka once more is no news.
    const isAgain = (step: UserStep) =>
      step.do === 'set password' && !made.given.has(step.username) && seen.passwords.has(step.username);
    for (const { user, resource, step } of steps)
      if (!refused.has(user) && !isAgain(step)) events.record(resource, toldBy(newsOfStep(step)));
    const given = new Map(made.given);
    for (const { user, step } of steps)
      if (step.do === 'set password' && !refused.has(user)) given.set(step.username, digestOf(step.password));
    const isBusy = planned.some(
      ({ user, plan }) => plan.steps.length > 0 && !refused.has(user.metadata.name) && !denied.has(user),
    );
    return { given, states: statesOf(planned, refused, denied), isBusy, isReached: true };
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ reason: messageOf(error) }, 'users could not be looked at');
    return unreached(users, made);
  }
}

interface PlannedUser {
  user: KafkaUser;
  plan: UserPlan;
  /** What is known already; undefined as long as there is something to do. */
  state?: EntityState | undefined;
}

function planAll(
  home: Kafka,
  users: readonly WantedOfUser[],
  made: UsersActed,
  seen: SeenUsers,
): PlannedUser[] {
  return users.flatMap((one): PlannedUser[] => {
    const { user, wanted, faults } = one;
    if (isPaused(user))
      return [
        { user, plan: { mark: undefined, steps: [], faults: [] }, state: { is: 'ReconciliationPaused' } },
      ];
    // What it says cannot be: what there is goes on as it was.
    if (faults.length > 0 && !isBeingDeleted(user)) return [];
    const password = passwordFor(one, made);
    const plan = planUser(user, wanted, password, seen, { holds: usesFinalizer(user, home) });
    const isDone = plan.steps.length === 0 && hasCredentials(one, password);
    return [{ user, plan, state: isDone ? { is: 'judged', faults: plan.faults, fields: {} } : undefined }];
  });
}

/** Kafka gets what the Secret has, and no sooner: a password that nobody can look up is none. */
function passwordFor({ user, secret, wanted }: WantedOfUser, { passwords, given }: UsersActed) {
  const text = passwordIn(secret);
  const brought = passwords.get(user.metadata.uid ?? '');
  if (text === undefined || (passwordSource(user) && brought !== text)) return undefined;
  return { text, isNew: given.get(wanted.username) !== digestOf(text) };
}

const hasCredentials = ({ secret, wanted }: WantedOfUser, password: object | undefined): boolean =>
  wanted.credentials === 'password' ? password !== undefined : !wanted.credentials || secret !== undefined;

/** Only kept in memory. */
const digestOf = (password: string): string => createHash('sha256').update(password).digest('base64');

const mark = (planned: readonly PlannedUser[], client: Client, signal: AbortSignal) =>
  writeMarks(
    client,
    planned.map(({ user: resource, plan }) => ({ resource, mark: plan.mark })),
    signal,
  );

const entryOf = ({ metadata }: KafkaUser, state: EntityState) =>
  [metadata.uid ?? '', { generation: metadata.generation, state }] as const;

const unreached = (users: readonly WantedOfUser[], { given }: UsersActed): Looked => ({
  given,
  states: new Map(users.map(({ user }) => entryOf(user, { is: 'unknown', fault: UNAVAILABLE }))),
  isBusy: false,
  isReached: false,
});

function statesOf(
  planned: readonly PlannedUser[],
  refused: ReadonlyMap<string, { message: string }>,
  denied: Marks<KafkaUser>['denied'],
): UsersActed['states'] {
  return new Map(
    planned.flatMap(({ user, state }) => {
      const denial = denied.get(user);
      if (denial) return [entryOf(user, { is: 'judged', faults: [deniedBy(denial)], fields: {} })];
      const refusal = refused.get(user.metadata.name);
      if (refusal) return [entryOf(user, { is: 'judged', faults: [refusedBy(refusal)], fields: {} })];
      return state ? [entryOf(user, state)] : [];
    }),
  );
}
