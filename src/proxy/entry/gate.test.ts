import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Limits } from '../config/model.ts';
import { createGate } from './gate.ts';

const limits = (maxConnections: number, maxConnectionsPerAddress: number) =>
  ({ maxConnections, maxConnectionsPerAddress }) as Limits;

test('limits hold in all and by address, and a connection that ends makes room once', () => {
  const gate = createGate();
  const first = gate.admit('a', limits(3, 2));
  assert.ok(typeof first === 'function');
  gate.admit('a', limits(3, 2));
  assert.equal(gate.admit('a', limits(3, 2)), 'address_limit');
  gate.admit('b', limits(3, 2));
  assert.equal(gate.admit('c', limits(3, 2)), 'limit');
  first();
  first();
  assert.equal(typeof gate.admit('a', limits(3, 2)), 'function');
  assert.equal(gate.admit('c', limits(3, 2)), 'limit');
});

test('connections of other workers count', () => {
  const gate = createGate();
  gate.setOthers(5, new Map([['a', 2]]));
  assert.equal(gate.admit('a', limits(0, 2)), 'address_limit');
  assert.equal(gate.admit('b', limits(5, 0)), 'limit');
  assert.equal(typeof gate.admit('b', limits(0, 0)), 'function');
});
