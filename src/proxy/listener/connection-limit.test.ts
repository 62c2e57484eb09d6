import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Limits } from '../config/model.ts';
import { createConnectionLimit } from './connection-limit.ts';
import { connectionsWithin, maxOpenFiles } from './open-files.ts';

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

test('the addresses of one /64 are one client, and IPv4 is the same in every spelling', () => {
  const limit = createConnectionLimit();
  const clients = ['2001:db8:1:2::1', '2001:0db8:1:2:ffff::', '192.0.2.1', '::ffff:192.0.2.1'];
  for (const client of clients) limit.admit(client, limits(0, 2));
  assert.equal(limit.admit('2001:db8:1:2:a:b:c:d', limits(0, 2)), 'address_limit');
  assert.equal(limit.admit('0:0:0:0:0:ffff:c000:201', limits(0, 2)), 'address_limit');
  assert.equal(typeof limit.admit('2001:db8:1:3::1', limits(0, 2)), 'function');
  assert.equal(typeof limit.admit('192.0.2.2', limits(0, 2)), 'function');
});

test('a connection without an address counts in all alone', () => {
  const limit = createConnectionLimit();
  const release = limit.admit(undefined, limits(1, 1));
  assert.ok(typeof release === 'function');
  assert.deepEqual([...limit.counts().addresses], []);
  assert.equal(limit.admit('a', limits(1, 1)), 'limit');
  release();
  assert.equal(typeof limit.admit('a', limits(1, 1)), 'function');
});

test('a virtual cluster has a limit of its own, over all workers', () => {
  const limit = createConnectionLimit();
  const most = { maxConnectionsPerVirtualCluster: 3 } as Limits;
  limit.setOthers(1, new Map([...two(most), ['192.0.2.9', 7]]));
  const entered = limit.enter('a', most);
  assert.ok(typeof entered === 'function');
  assert.equal(limit.enter('a', most), 'cluster_limit');
  assert.equal(typeof limit.enter('b', most), 'function');
  entered();
  entered();
  assert.equal(typeof limit.enter('a', most), 'function');
  assert.equal(limit.enter('a', most), 'cluster_limit');
});

/** What another worker with two connections of the virtual cluster says. */
function two(most: Limits): ReadonlyMap<string, number> {
  const other = createConnectionLimit();
  other.enter('a', most);
  other.enter('a', most);
  return other.counts().addresses;
}

test('there are no more connections than open files allow, whatever the configuration says', () => {
  let most = 1;
  const limit = createConnectionLimit(() => most);
  assert.equal(typeof limit.admit('a', limits(0, 0)), 'function');
  assert.equal(limit.admit('b', limits(0, 0)), 'open_files');
  most = 2;
  assert.equal(typeof limit.admit('b', limits(0, 0)), 'function');
  assert.equal(connectionsWithin(1024, 160), 400);
  assert.equal(connectionsWithin(Infinity, 160), Infinity);
  assert.ok(maxOpenFiles() > 0);
});
