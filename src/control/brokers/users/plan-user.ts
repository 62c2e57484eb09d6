/** Decides what is to be done in Kafka for one KafkaUser. Pure: it looks at what is there, and touches nothing of other users. */
import { z } from 'zod';
import type { Acl } from '../../../kafka/admin/acls.ts';
import type { QuotaChange } from '../../../kafka/admin/users.ts';
import { isBeingDeleted } from '../../../kube/object.ts';
import type { KafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import type { EntityFault } from '../entities/faults.ts';
import { REMEMBERED_ANNOTATION, rememberedIn } from '../entities/mark.ts';
import type { Mark } from '../entities/mark.ts';
import { aclKey, certificateName } from './wanted.ts';
import type { WantedUser } from './wanted.ts';

export const USER_FINALIZER = 'isthmus.dev/kafka-user';

/** What was set in Kafka for a resource: no more than that is ever taken away. */
const remembered = z.object({
  username: z.string().max(260),
  acls: z.boolean(),
  quotas: z.array(z.string().max(64)).max(16),
  password: z.boolean(),
});
type Remembered = z.output<typeof remembered>;

/** Anybody may write an annotation: what it says counts only under a name that the user itself has, by one way to log in or another. */
function rememberedOf(user: KafkaUser): Remembered | undefined {
  const { name } = user.metadata;
  const found = rememberedIn(user, remembered);
  return found && [name, certificateName(name)].includes(found.username) ? found : undefined;
}

/** What Kafka has of users. */
export interface SeenUsers {
  /** By principal; disabled where the Kafka has no authorization. */
  acls: ReadonlyMap<string, readonly Acl[]> | 'disabled';
  /** By username. */
  quotas: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** Users that have a password for SCRAM-SHA-512. */
  passwords: ReadonlySet<string>;
}

export type UserStep =
  | { do: 'add acls'; acls: readonly Acl[] }
  | { do: 'remove acls'; acls: readonly Acl[] }
  | { do: 'set quotas'; change: QuotaChange & { entity: { user: string } } }
  | { do: 'set password'; username: string; password: string }
  | { do: 'remove password'; username: string };

export interface UserPlan {
  /** Written before any step is taken. */
  mark: Mark | undefined;
  steps: readonly UserStep[];
  faults: readonly EntityFault[];
}

/** A password that the user is to have. `isNew`: Kafka was not given it yet, as far as is known here. */
export interface Password {
  text: string;
  isNew: boolean;
}

const NOTHING: UserPlan = { mark: undefined, steps: [], faults: [] };
const FRESH = { acls: false, quotas: [], password: false };

export function planUser(
  user: KafkaUser,
  wanted: WantedUser,
  password: Password | undefined,
  seen: SeenUsers,
  { holds }: { holds: boolean },
): UserPlan {
  const before = rememberedOf(user);
  if (isBeingDeleted(user)) {
    const isHeld = user.metadata.finalizers?.includes(USER_FINALIZER) ?? false;
    const steps = before && isHeld ? removal(before, seen) : [];
    return steps.length > 0 ? { ...NOTHING, steps } : releaseUser(user);
  }
  // Whoever logs in another way is another user to Kafka: what the former one has goes first.
  const former = before && before.username !== wanted.username ? removal(before, seen) : [];
  if (former.length > 0) return { ...NOTHING, steps: former };
  const mine = before?.username === wanted.username ? before : { ...FRESH, username: wanted.username };
  const { acls, faults } = aclSteps(wanted, mine, seen);
  const steps = [...acls, ...quotaSteps(wanted, mine, seen), ...passwordSteps(wanted, mine, password, seen)];
  return {
    mark: { finalizer: USER_FINALIZER, held: holds, remembered: remember(wanted, mine, seen) },
    steps,
    faults,
  };
}

/** Lets go of a resource; what Kafka has of it stays. Nobody else has a finalizer of that name. */
export function releaseUser(user: KafkaUser): UserPlan {
  const { annotations, finalizers = [] } = user.metadata;
  const isMarked = annotations[REMEMBERED_ANNOTATION] !== undefined || finalizers.includes(USER_FINALIZER);
  if (!isMarked) return NOTHING;
  return { ...NOTHING, mark: { finalizer: USER_FINALIZER, held: false, remembered: null } };
}

const liveAcls = (username: string, { acls }: SeenUsers): readonly Acl[] =>
  acls === 'disabled' ? [] : (acls.get(`User:${username}`) ?? []);

const liveQuotas = (username: string, { quotas }: SeenUsers) => quotas.get(username) ?? {};

/** Everything that was set for a resource and is still there. */
function removal(before: Remembered, seen: SeenUsers): UserStep[] {
  const nothing: WantedUser = {
    username: before.username,
    credentials: undefined,
    acls: undefined,
    quotas: {},
  };
  return [
    ...aclSteps(nothing, before, seen).acls,
    ...quotaSteps(nothing, before, seen),
    ...passwordSteps(nothing, before, undefined, seen),
  ];
}

function aclSteps(
  { username, acls }: WantedUser,
  before: Pick<Remembered, 'acls'>,
  seen: SeenUsers,
): { acls: UserStep[]; faults: EntityFault[] } {
  if (acls === undefined && !before.acls) return { acls: [], faults: [] };
  if (seen.acls === 'disabled') return { acls: [], faults: acls ? [UNAUTHORIZED] : [] };
  const live = liveAcls(username, seen);
  const wanted = acls ?? [];
  const [has, wants] = [new Set(live.map(aclKey)), new Set(wanted.map(aclKey))];
  const added = wanted.filter((acl) => !has.has(aclKey(acl)));
  const removed = live.filter((acl) => !wants.has(aclKey(acl)));
  return {
    // First what a user may do, then what it no longer may: nobody who may go on is interrupted.
    acls: [
      ...(added.length > 0 ? [{ do: 'add acls' as const, acls: added }] : []),
      ...(removed.length > 0 ? [{ do: 'remove acls' as const, acls: removed }] : []),
    ],
    faults: [],
  };
}

const UNAUTHORIZED: EntityFault = {
  reason: 'NotSupported',
  path: ['spec', 'authorization'],
  message:
    'the Kafka has no authorization, so nothing is forbidden to anybody; set spec.kafka.authorization.type of the Kafka to "simple", or leave spec.authorization out',
};

function quotaSteps(
  { username, quotas }: WantedUser,
  before: Pick<Remembered, 'quotas'>,
  seen: SeenUsers,
): UserStep[] {
  const live = liveQuotas(username, seen);
  const set = Object.entries(quotas).filter(([key, value]) => live[key] !== value);
  const gone = before.quotas.filter((key) => quotas[key] === undefined && live[key] !== undefined);
  if (set.length + gone.length === 0) return [];
  const values = { ...Object.fromEntries(set), ...Object.fromEntries(gone.map((key) => [key, null])) };
  return [{ do: 'set quotas', change: { entity: { user: username }, values } }];
}

function passwordSteps(
  { username, credentials }: WantedUser,
  before: Pick<Remembered, 'password'>,
  password: Password | undefined,
  { passwords }: SeenUsers,
): UserStep[] {
  const has = passwords.has(username);
  if (credentials !== 'password') return before.password && has ? [{ do: 'remove password', username }] : [];
  if (!password || (has && !password.isNew)) return [];
  return [{ do: 'set password', username, password: password.text }];
}

/** What is there goes on being remembered until it is gone. */
function remember(
  { username, acls, quotas, credentials }: WantedUser,
  before: Remembered,
  seen: SeenUsers,
): Remembered {
  const live = liveQuotas(username, seen);
  const former = before.quotas.filter((key) => live[key] !== undefined);
  return {
    username,
    acls: acls !== undefined || (before.acls && liveAcls(username, seen).length > 0),
    quotas: [...new Set([...Object.keys(quotas), ...former])].toSorted(),
    password: credentials === 'password' || (before.password && seen.passwords.has(username)),
  };
}
