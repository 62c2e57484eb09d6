import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { Client } from '../../../kube/http/client.ts';
import { ApiError } from '../../../kube/http/errors.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { createLog } from '../../../ops/log.ts';
import { kafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import { kafka } from '../../../resources/strimzi/kafka.ts';
import { read } from '../../kernel/read.ts';
import { actOnUsers } from './act.ts';
import { wantedUser } from './wanted.ts';

const home = read(kafka, {
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'Kafka',
  metadata: { name: 'events', namespace: 'kafka' },
  spec: { kafka: {}, entityOperator: { userOperator: {} } },
} as AnyObject).resource!;

const userWith = (name: string, password?: object) => {
  const user = read(kafkaUser, {
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'KafkaUser',
    metadata: { name, namespace: 'kafka', uid: name },
    spec: { authentication: { type: 'scram-sha-512', ...(password && { password }) } },
  } as AnyObject).resource!;
  return { user, secret: undefined, ...wantedUser(user) };
};

test('a Secret that may not be read or deleted is the problem of its own user', async () => {
  const refuse = () => Promise.reject(new ApiError(403, 'Forbidden', 'not this one'));
  const client = { get: refuse, delete: refuse } as unknown as Client;
  const brought = userWith('bob', { valueFrom: { secretKeyRef: { name: 'hidden' } } });
  const drop = [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'old', namespace: 'kafka' } }];
  const { passwords } = await actOnUsers(
    { home, users: [brought, userWith('alice')], authority: undefined, drop },
    undefined,
    { client, admin: undefined, events: { record: () => {} }, log: createLog('silent'), now: new Date() },
    AbortSignal.timeout(60_000),
  );
  assert.deepEqual([...passwords.keys()], ['alice']);
});

test('a password that Kafka is given is told of, and not when a new operator gives it once more', async () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'alice', namespace: 'kafka' },
    data: { password: Buffer.from('word').toString('base64') },
  };
  const toldWith = async (known: readonly string[]) => {
    const told: string[] = [];
    const admin = {
      quotas: async () => ({ value: [] }),
      scramUsers: async () => ({
        value: known.map((user) => ({ user, credentials: [{ mechanism: 'SCRAM-SHA-512' }] })),
      }),
      acls: async () => ({ error: { name: 'SECURITY_DISABLED', message: 'no' } }),
      alterScramUsers: async () => [{ user: 'alice' }],
    } as unknown as Admin;
    const client = { mergePatch: async () => undefined } as unknown as Client;
    const events = { record: (_: unknown, { reason }: { reason: string }) => void told.push(reason) };
    await actOnUsers(
      { home, users: [{ ...userWith('alice'), secret }], authority: undefined, drop: [] },
      undefined,
      { client, admin, events, log: createLog('silent'), now: new Date() },
      AbortSignal.timeout(60_000),
    );
    return told;
  };
  assert.deepEqual(await toldWith([]), ['PasswordSet']);
  assert.deepEqual(await toldWith(['alice']), []);
});
