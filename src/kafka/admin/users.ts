import { randomBytes } from 'node:crypto';
import { saltPassword } from '../scram.ts';
import type { ScramMechanism } from '../scram.ts';
import { answerOf, faultOf, mapAnswer } from './answer.ts';
import type { Answer, ItemResult } from './answer.ts';
import type { Send } from './routing.ts';

// Kafka's names by Kafka's numbers; 0 is what a newer Kafka may have, and this client does not know.
const MECHANISMS = ['unknown', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;

/** The number that Kafka itself begins with. */
const ITERATIONS = 4096;
const SALT_BYTES = 24;

/** A user that has passwords in Kafka, and by which mechanisms. */
export interface ScramUser extends ItemResult {
  user: string;
  credentials: { mechanism: ScramMechanism | 'unknown'; iterations: number }[];
}

/** Without a password the user's credential for the mechanism is deleted. Only a salted hash is sent. */
export interface ScramChange {
  user: string;
  mechanism: ScramMechanism;
  password?: string;
  iterations?: number;
}

export interface ScramResult extends ItemResult {
  user: string;
  mechanism: ScramMechanism;
}

/** Whom a quota is for; null is the default of that kind. A combination is one entity. */
export interface QuotaEntity {
  user?: string | null;
  'client-id'?: string | null;
  ip?: string | null;
}

export interface Quota {
  entity: QuotaEntity;
  /** As in `producer_byte_rate`. */
  values: Record<string, number>;
}

/** What is null is taken away, what is not named stays. */
export interface QuotaChange {
  entity: QuotaEntity;
  values: Record<string, number | null>;
}

/** Which entities are asked for: of that name (null: the default), or any that has the kind. Others kinds are left out if `strict`. */
export type QuotaFilter = { [Kind in keyof QuotaEntity]: { name: string | null } | 'any' };

type WireEntity = { entityType: string; entityName: string | null }[];

const entityOf = (entity: WireEntity): QuotaEntity =>
  Object.fromEntries(entity.map(({ entityType, entityName }) => [entityType, entityName]));

const wireOf = (entity: QuotaEntity): WireEntity =>
  Object.entries(entity).map(([entityType, entityName]) => ({ entityType, entityName }));

function componentOf(entityType: string, wanted: { name: string | null } | 'any') {
  if (wanted === 'any') return { entityType, matchType: 2, match: null };
  return { entityType, matchType: wanted.name === null ? 1 : 0, match: wanted.name };
}

async function upsertionOf({ user, mechanism, iterations = ITERATIONS }: ScramChange, password: string) {
  const salt = randomBytes(SALT_BYTES);
  const saltedPassword = await saltPassword(mechanism, password, salt, iterations);
  return { name: user, mechanism: MECHANISMS.indexOf(mechanism), iterations, salt, saltedPassword };
}

/** Calls about passwords that Kafka keeps, and about quotas. */
export function userCalls(send: Send) {
  /** No user may come twice. */
  async function alterOnce(changes: readonly ScramChange[]): Promise<ScramResult[]> {
    const deletions = changes
      .filter(({ password }) => password === undefined)
      .map(({ user, mechanism }) => ({ name: user, mechanism: MECHANISMS.indexOf(mechanism) }));
    const upsertions = [];
    for (const change of changes)
      if (change.password !== undefined) upsertions.push(await upsertionOf(change, change.password));
    const { value, error } = await send('AlterUserScramCredentials', { deletions, upsertions });
    const answered = new Map(value?.results.map((result) => [result.user, result]));
    return changes.map(({ user, mechanism }) => {
      const result = answered.get(user);
      return { user, mechanism, error: error ?? (result && faultOf(result.errorCode, result.errorMessage)) };
    });
  }

  return {
    /** All users with a password, or those named; a user without one is RESOURCE_NOT_FOUND. */
    async scramUsers(names?: readonly string[]): Promise<Answer<ScramUser[]>> {
      const users = names?.map((name) => ({ name })) ?? null;
      const answer = await send('DescribeUserScramCredentials', { users });
      return mapAnswer(answer, (response) =>
        answerOf(response, () =>
          response.results.map(({ user, errorCode, errorMessage, credentialInfos }) => ({
            user,
            error: faultOf(errorCode, errorMessage),
            credentials: credentialInfos.map(({ mechanism, iterations }) => ({
              mechanism: MECHANISMS[mechanism] ?? 'unknown',
              iterations,
            })),
          })),
        ),
      );
    },

    /** One result a change. Kafka takes one credential of a user at a time, so that more of a user need more requests. */
    async alterScramUsers(changes: readonly ScramChange[]): Promise<ScramResult[]> {
      const byUser = [...Map.groupBy(changes, ({ user }) => user).values()];
      const results: ScramResult[] = [];
      for (let round = 0; byUser.some(({ length }) => length > round); round++)
        results.push(...(await alterOnce(byUser.flatMap((its) => its.slice(round, round + 1)))));
      return results;
    },

    async quotas(filter: QuotaFilter = {}, { strict = false } = {}): Promise<Answer<Quota[]>> {
      const components = Object.entries(filter).map(([kind, wanted]) => componentOf(kind, wanted));
      const answer = await send('DescribeClientQuotas', { components, strict });
      return mapAnswer(answer, (response) =>
        answerOf(response, () =>
          (response.entries ?? []).map(({ entity, values }) => ({
            entity: entityOf(entity),
            values: Object.fromEntries(values.map(({ key, value }) => [key, value])),
          })),
        ),
      );
    },

    async alterQuotas(
      changes: readonly QuotaChange[],
      { validateOnly = false } = {},
    ): Promise<(ItemResult & { entity: QuotaEntity })[]> {
      const entries = changes.map(({ entity, values }) => ({
        entity: wireOf(entity),
        ops: Object.entries(values).map(([key, value]) => ({
          key,
          value: value ?? 0,
          remove: value === null,
        })),
      }));
      const { value, error } = await send('AlterClientQuotas', { entries, validateOnly });
      if (error) return changes.map(({ entity }) => ({ entity, error }));
      return value.entries.map(({ entity, errorCode, errorMessage }) => ({
        entity: entityOf(entity),
        error: faultOf(errorCode, errorMessage),
      }));
    },
  };
}
