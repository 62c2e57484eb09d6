import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../kube/object.ts';
import { SIGNED_BY, SIGNED_SINCE, formerUsers } from './user-leaves.ts';

const now = new Date('2026-11-17T12:00:00Z');
const GRACE_MS = 60_000;

const secret = (name: string, signedBy?: string, agoMs?: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name,
    annotations: {
      ...(signedBy !== undefined && { [SIGNED_BY]: signedBy }),
      ...(agoMs !== undefined && { [SIGNED_SINCE]: new Date(now.getTime() - agoMs).toISOString() }),
    },
  },
});

test('a former clients CA is needed by users who have its certificates, or had them a moment ago', () => {
  const secrets = [
    secret('password'),
    secret('new', 'key-2'),
    secret('old', 'key-1'),
    secret('older', 'key-0', 10 * GRACE_MS),
    secret('changed', 'key-2', GRACE_MS - 1),
    secret('settled', 'key-2', GRACE_MS),
  ];
  const names = formerUsers(secrets, 'key-2', GRACE_MS, now).map(({ name }) => name);
  assert.deepEqual(names, ['old', 'older', 'changed']);
});

test('a time that cannot be read is none', () => {
  const broken = secret('broken', 'key-2');
  broken.metadata.annotations![SIGNED_SINCE] = 'yesterday';
  assert.deepEqual(formerUsers([broken], 'key-2', GRACE_MS, now), []);
});
