import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonical } from './canonical.ts';
import { diffConfigs } from './diff.ts';
import { checkProxyConfig } from './load.ts';

const cluster = (name: string, port: number, more: object = {}) => ({
  name,
  targetCluster: { bootstrapServers: 'kafka:9092' },
  gateways: [{ name: 'g', portIdentifiesNode: { bootstrapAddress: `h:${port}` } }],
  ...more,
});
const withTls = (certificate: string) => ({
  gateways: [
    {
      name: 'g',
      portIdentifiesNode: { bootstrapAddress: 'h:9300' },
      tls: { key: { certificate, privateKey: 'k' } },
    },
  ],
});
const config = (...virtualClusters: object[]) => checkProxyConfig({ virtualClusters }, 'test').config;

test('each virtual cluster is judged by itself', () => {
  const before = config(cluster('a', 9100), cluster('b', 9200), cluster('c', 9300));
  const after = config(cluster('b', 9200, { drainTimeout: '3s' }), cluster('a', 9100), cluster('d', 9400));
  assert.deepEqual(diffConfigs(before, after), {
    added: ['d'],
    removed: ['c'],
    changed: ['b'],
    certificates: [],
    untouched: ['a'],
  });
  assert.deepEqual(diffConfigs(undefined, before).added, ['a', 'b', 'c']);
});

test('new certificates are no reason to drain; to begin or to stop TLS is', () => {
  const one = config(cluster('a', 9300, withTls('one')));
  assert.deepEqual(diffConfigs(one, config(cluster('a', 9300, withTls('two')))).certificates, ['a']);
  assert.deepEqual(diffConfigs(one, config(cluster('a', 9300))).changed, ['a']);
});

test('a filter that changes changes those who use it', () => {
  const make = (maxAge: string) =>
    checkProxyConfig(
      {
        filterDefinitions: [{ name: 'f', type: 'connection-expiry', config: { maxAge } }],
        virtualClusters: [cluster('a', 9100, { filters: ['f'] }), cluster('b', 9200)],
      },
      'test',
    ).config;
  const difference = diffConfigs(make('1m'), make('2m'));
  assert.deepEqual([difference.changed, difference.untouched], [['a'], ['b']]);
});

test('the order of keys does not matter', () => {
  assert.equal(canonical({ a: 1, b: [{ d: 2, c: 3 }] }), canonical({ b: [{ c: 3, d: 2 }], a: 1 }));
  assert.notEqual(canonical({ a: [1, 2] }), canonical({ a: [2, 1] }));
});
