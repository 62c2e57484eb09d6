import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Limits } from '../config/model.ts';
import { createConnectionLimit } from './connection-limit.ts';

const limits = (maxConnections: number, maxConnectionsPerAddress: number) =>
  ({ maxConnections, maxConnectionsPerAddress }) as Limits;

test('limits hold in all and by address, and a connection that ends makes room once', () => {
  const limit = createConnectionLimit();
  const first = limit.admit('a', limits(3, 2));
  assert.ok(typeof first === 'function');
  limit.admit('a', limits(3, 2));
  assert.equal(limit.admit('a', limits(3, 2)), 'address_limit');
  limit.admit('b', limits(3, 2));
  assert.equal(limit.admit('c', limits(3, 2)), 'limit');
  first();
  first();
  assert.equal(typeof limit.admit('a', limits(3, 2)), 'function');
  assert.equal(limit.admit('c', limits(3, 2)), 'limit');
});

test('connections of other workers count', () => {
  const limit = createConnectionLimit();
  limit.setOthers(5, new Map([['a', 2]]));
  assert.equal(limit.admit('a', limits(0, 2)), 'address_limit');
  assert.equal(limit.admit('b', limits(5, 0)), 'limit');
  assert.equal(typeof limit.admit('b', limits(0, 0)), 'function');
});
