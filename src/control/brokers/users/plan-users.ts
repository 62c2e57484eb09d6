/** Decides about all KafkaUsers of a cluster together: which Secrets they have, and what their statuses say. Pure. */
import { canonicalJson } from '../../../kube/json.ts';
import type { AnyObject, KubeObject } from '../../../kube/object.ts';
import { isBeingDeleted } from '../../../kube/object.ts';
import { referenceOf } from '../../../kube/write/apply-decision.ts';
import type { KafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { LOCAL } from '../../kernel/plan.ts';
import type { Plan, PlannedStatus } from '../../kernel/plan.ts';
import type { Learned } from '../../kernel/reconcile.ts';
import { statusOf } from '../entities/faults.ts';
import type { EntityFault, EntityState } from '../entities/faults.ts';
import { isPaused } from '../entities/home.ts';
import {
  certificateData,
  isOfFormerKey,
  signatureOf,
  passwordData,
  passwordIn,
  passwordSource,
  userLabels,
  userSecret,
} from './credentials.ts';
import type { ClientsAuthority } from './credentials.ts';
import { ignoredInUser, wantedUser } from './wanted.ts';
import type { WantedUser } from './wanted.ts';

export interface ObservedUser {
  user: KafkaUser;
  /** The Secret of that name that is labelled as a user's of the cluster, with what it holds. */
  secret: AnyObject | undefined;
}

export interface ObservedUsers {
  namespace: string;
  cluster: string;
  home: Kafka | undefined;
  users: readonly ObservedUser[];
  unreadable: readonly { object: KubeObject; problem: string }[];
  authority: ClientsAuthority | undefined;
  /** Whether it is not known yet who has the users. */
  isUnclear: boolean;
  acted: UsersActed | undefined;
}

/** What acting has brought. What it made is kept until the Secrets are seen to have it. */
export interface UsersActed {
  /** By uid: the data of a certificate that was signed. */
  certificates: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** By uid: passwords that were made, or read from the Secrets that users name; never kept but in memory. */
  passwords: ReadonlyMap<string, string>;
  /** By username: the digest of the password that Kafka was given. */
  given: ReadonlyMap<string, string>;
  states: ReadonlyMap<string, { generation: number | undefined; state: EntityState }>;
  isBusy: boolean;
  isReached: boolean;
}

/** One user, with what it is to have. */
export interface WantedOfUser extends ObservedUser {
  wanted: WantedUser;
  faults: readonly EntityFault[];
}

export interface UsersAction {
  home: Kafka | undefined;
  users: readonly WantedOfUser[];
  authority: ClientsAuthority | undefined;
  /** Secrets of users that need none any more. */
  drop: readonly AnyObject[];
}

export type UsersPlan = Plan<UsersAction>;

const NOTHING: UsersPlan = { persist: [], targets: [], actions: [], statuses: [], lookAgainInMs: undefined };
/** What was made a moment ago is to be written down now, or to be seen in a cache. */
const AT_ONCE_MS = 20;
const SOON_MS = 500;
const UNREACHED_MS = 5000;
/** Kafka tells nobody of changes that others make, nor does a Secret that only a user names. */
const IDLE_MS = 120_000;
/** Nothing tells when all brokers trust a new clients CA, and users are to get certificates of it. */
const REPLACING_MS = 10_000;

export function planUsers(observed: ObservedUsers, learned: Learned<never>): UsersPlan {
  const { namespace, cluster, home, users, unreadable, authority, acted } = observed;
  if (observed.isUnclear) return { ...NOTHING, lookAgainInMs: UNREACHED_MS };
  if (users.length + unreadable.length === 0) return NOTHING;
  if (!home) return { ...NOTHING, actions: [{ home, users: users.map(wantedOf), authority, drop: [] }] };
  const all = users.map(wantedOf).map((one) => withCredentialFaults(one, observed, learned));
  const objects = all.flatMap((one) => secretsOf(one, observed, learned));
  return {
    ...NOTHING,
    targets: [
      { cluster: LOCAL, labels: userLabels(cluster), namespaces: [namespace], objects, prune: false },
    ],
    actions: [{ home, users: all, authority, drop: all.flatMap(dropped) }],
    statuses: [...all.flatMap((one) => statusesOf(one, acted)), ...unreadable.flatMap(brokenStatus)],
    lookAgainInMs: lookAgain(observed, objects),
  };
}

function wantedOf(observed: ObservedUser): WantedOfUser {
  return { ...observed, ...wantedUser(observed.user) };
}

function lookAgain({ users, acted, authority }: ObservedUsers, objects: readonly AnyObject[]): number {
  const seen = new Map(users.map(({ user, secret }) => [user.metadata.name, secret?.['data']]));
  const isUnwritten = ({ metadata, ['data']: data }: AnyObject) =>
    canonicalJson(data) !== canonicalJson(seen.get(metadata.name));
  if (objects.some(isUnwritten)) return AT_ONCE_MS;
  if (acted?.isBusy) return SOON_MS;
  if (acted?.isReached === false) return UNREACHED_MS;
  const isReplacing = users.some(({ secret }) => isOfFormerKey(secret, authority));
  return Math.min(isReplacing ? REPLACING_MS : IDLE_MS, ...untilStep(authority));
}

/** Certificates that live for minutes cannot wait for the usual look. */
const untilStep = (authority: ObservedUsers['authority']): number[] =>
  authority?.step.do === 'nothing' && authority.step.until > authority.now
    ? [authority.step.until.getTime() - authority.now.getTime()]
    : [];

const brokenStatus = ({ object, problem }: ObservedUsers['unreadable'][number]): PlannedStatus[] =>
  statusOf(object, { is: 'judged', faults: [{ reason: 'Invalid', path: [], message: problem }], fields: {} });

function statusesOf({ user, wanted, faults }: WantedOfUser, acted: UsersActed | undefined): PlannedStatus[] {
  if (isBeingDeleted(user)) return [];
  const found = acted?.states.get(user.metadata.uid ?? '');
  const secret = wanted.credentials && { secret: user.metadata.name };
  const fields = { username: wanted.username, ...secret };
  if (faults.length > 0) return statusOf(user, { is: 'judged', faults, fields });
  if (!found || found.generation !== user.metadata.generation) return [];
  const { state } = found;
  if (state.is !== 'judged') return statusOf(user, state);
  const judged = [...state.faults, ...ignoredInUser(user)];
  return statusOf(user, { ...state, faults: judged, fields: { ...fields, ...state.fields } });
}

/** The Secret that a user is to have, as far as it can be said. */
function secretsOf(one: WantedOfUser, { cluster, authority, acted }: ObservedUsers, learned: Learned<never>) {
  const { user, secret, wanted, faults } = one;
  if (isBeingDeleted(user) || isPaused(user) || faults.length > 0) return [];
  const data =
    wanted.credentials === 'certificate'
      ? authority && certificateData(secret, signedNow(one, authority, acted), authority)
      : passwordOf(one, acted, (password) => passwordData(wanted.username, password));
  if (!data) return [];
  const isSigned = wanted.credentials === 'certificate' && authority;
  const object = userSecret(user, cluster, data, isSigned ? signatureOf(secret, data, authority) : {});
  return learned.taken.has(referenceOf(object)) ? [] : [object];
}

/** What was signed counts only as long as the Secret has something that is due. */
function signedNow(
  { user }: ObservedUser,
  { step }: ClientsAuthority,
  acted: UsersActed | undefined,
): Readonly<Record<string, string>> | undefined {
  const isDue = step.do === 'sign' && step.leaves.some(({ name }) => name === user.metadata.name);
  return isDue ? acted?.certificates.get(user.metadata.uid ?? '') : undefined;
}

function passwordOf<T>(
  { user, secret, wanted }: WantedOfUser,
  acted: UsersActed | undefined,
  make: (password: string) => T,
): T | undefined {
  if (wanted.credentials !== 'password') return undefined;
  const made = acted?.passwords.get(user.metadata.uid ?? '');
  const password = passwordSource(user) ? made : (passwordIn(secret) ?? made);
  return password === undefined ? undefined : make(password);
}

function withCredentialFaults(
  one: WantedOfUser,
  { authority, acted, cluster }: ObservedUsers,
  { taken, denied }: Learned<never>,
): WantedOfUser {
  const { user, wanted, secret } = one;
  const faults = [...one.faults];
  const reference = referenceOf(userSecret(user, cluster, {}));
  if (wanted.credentials && taken.has(reference))
    faults.push({
      reason: 'NameTaken',
      path: ['metadata', 'name'],
      message: `there is a Secret "${user.metadata.name}" that somebody else made; delete it, or rename the user`,
    });
  const denial = denied.get(reference);
  if (wanted.credentials && denial !== undefined)
    faults.push({
      reason: 'Denied',
      path: [],
      message: `the Secret "${user.metadata.name}" was refused: ${denial}`,
    });
  const step = authority?.step;
  if (wanted.credentials === 'certificate' && !secret && step?.do === 'blocked')
    faults.push({
      reason: 'CertificateAuthority',
      path: [],
      message: `the clients CA cannot sign: ${step.why}`,
    });
  const source = passwordSource(user);
  if (source && acted && wanted.credentials === 'password' && !acted.passwords.has(user.metadata.uid ?? ''))
    faults.push({
      reason: 'SecretMissing',
      path: ['spec', 'authentication', 'password'],
      message: `the Secret "${source.secret}" has no key "${source.key}" with a password; create it in the namespace of the KafkaUser`,
    });
  return { ...one, faults };
}

/** A Secret that was made for a user that no longer logs in with what is in it. */
function dropped({ user, secret, wanted }: WantedOfUser): AnyObject[] {
  const isOwn = secret?.metadata.ownerReferences?.some(({ uid }) => uid === user.metadata.uid) ?? false;
  return secret && isOwn && !wanted.credentials && !isBeingDeleted(user) ? [secret] : [];
}
