import assert from 'node:assert/strict';
import { test } from 'node:test';
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
    { client, admin: undefined, log: createLog('silent'), now: new Date() },
    AbortSignal.timeout(60_000),
  );
  assert.deepEqual([...passwords.keys()], ['alice']);
});
