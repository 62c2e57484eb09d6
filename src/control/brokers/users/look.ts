/** Asks Kafka about all users in three requests, and carries out what was decided about them. */
import type { Acl } from '../../../kafka/admin/acls.ts';
import type { Admin } from '../../../kafka/admin/admin.ts';
import { required } from '../../../kafka/admin/answer.ts';
import type { Fault } from '../../../kafka/admin/answer.ts';
import { chunksOf } from '../entities/chunks.ts';
import type { SeenUsers, UserStep } from './plan-user.ts';

const MECHANISM = 'SCRAM-SHA-512';
/** What one request is about at most. */
const A_REQUEST = 500;

export async function lookAtUsers(admin: Admin): Promise<SeenUsers> {
  const quotas = required(await admin.quotas({ user: 'any' }, { strict: true }));
  const passwords = required(await admin.scramUsers()).filter(({ credentials }) =>
    credentials.some(({ mechanism }) => mechanism === MECHANISM),
  );
  return {
    acls: await aclsIn(admin),
    quotas: new Map(quotas.flatMap(({ entity, values }) => (entity.user ? [[entity.user, values]] : []))),
    passwords: new Set(passwords.map(({ user }) => user)),
  };
}

async function aclsIn(admin: Admin): Promise<SeenUsers['acls']> {
  const answer = await admin.acls();
  if (answer.error?.name === 'SECURITY_DISABLED') return 'disabled';
  return Map.groupBy(required(answer), ({ principal }: Acl) => principal);
}

/** A step, and the user that it is for. */
export interface UsersStep {
  user: string;
  step: UserStep;
}

/** Takes steps, of each sort all in as few requests as can be. Says what Kafka refused, by user. */
export async function takeUserSteps(admin: Admin, steps: readonly UsersStep[]): Promise<Map<string, Fault>> {
  const refused = new Map<string, Fault>();
  const note = (user: string | undefined, error: Fault | undefined) => {
    if (user !== undefined && error) refused.set(user, error);
  };
  const all = <Do extends UserStep['do']>(sort: Do) =>
    steps.flatMap(({ user, step }) =>
      step.do === sort ? [{ user, step: step as Extract<UserStep, { do: Do }> }] : [],
    );
  const aclsOf = (sort: 'add acls' | 'remove acls') =>
    chunksOf(
      all(sort).flatMap(({ user, step }) => step.acls.map((acl) => ({ user, acl }))),
      A_REQUEST,
    );
  await changePasswords(admin, [...all('set password'), ...all('remove password')], note);
  for (const chunk of chunksOf(all('set quotas'), A_REQUEST)) {
    const results = await admin.alterQuotas(chunk.map(({ step }) => step.change));
    for (const { user, step } of chunk)
      note(user, results.find(({ entity }) => entity.user === step.change.entity.user)?.error);
  }
  for (const chunk of aclsOf('add acls')) {
    const results = await admin.createAcls(chunk.map(({ acl }) => acl));
    for (const [index, { user }] of chunk.entries()) note(user, results[index]?.error);
  }
  for (const chunk of aclsOf('remove acls')) {
    const results = await admin.deleteAcls(chunk.map(({ acl }) => acl));
    for (const [index, { user }] of chunk.entries()) note(user, results[index]?.error);
  }
  return refused;
}

type PasswordStep = Extract<UserStep, { do: 'set password' | 'remove password' }>;

async function changePasswords(
  admin: Admin,
  steps: readonly { user: string; step: PasswordStep }[],
  note: (user: string | undefined, error: Fault | undefined) => void,
): Promise<void> {
  for (const chunk of chunksOf(steps, A_REQUEST)) {
    const results = await admin.alterScramUsers(
      chunk.map(({ step }) => ({
        user: step.username,
        mechanism: MECHANISM,
        ...(step.do === 'set password' && { password: step.password }),
      })),
    );
    for (const { user, step } of chunk)
      note(user, results.find((result) => result.user === step.username)?.error);
  }
}
