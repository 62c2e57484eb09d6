import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressText, createTopology, MAX_BROKERS } from './topology.ts';

const at = (host: string) => ({ host, port: 9092 });

test('later knowledge wins, and only changes are told', () => {
  const topology = createTopology();
  const told: unknown[] = [];
  topology.listen({ learned: (changed) => told.push(changed), forgot: () => {} });
  topology.learn([
    [1, at('a')],
    [2, at('b')],
  ]);
  topology.learn([[1, at('a')]]);
  topology.learn([
    [1, at('c')],
    [2, at('b')],
    [3, { host: '', port: -1 }],
  ]);
  assert.deepEqual(told, [
    [
      [1, at('a')],
      [2, at('b')],
    ],
    [[1, at('c')]],
  ]);
  assert.deepEqual(new Set(topology.nodes().keys()), new Set([1, 2]));
});

test('what did not answer is forgotten, unless something newer is known; either way it is told', () => {
  const topology = createTopology();
  const told: unknown[] = [];
  topology.listen({ learned: () => {}, forgot: (node, { host }) => told.push([node, host]) });
  topology.learn([[1, at('new')]]);
  topology.forget(1, at('old'));
  assert.deepEqual(topology.addressOf(1), at('new'));
  topology.forget(1, at('new'));
  assert.equal(topology.addressOf(1), undefined);
  assert.deepEqual(told, [
    [1, 'old'],
    [1, 'new'],
  ]);
});

test('addresses are written as clients write them', () => {
  assert.equal(addressText(at('kafka')), 'kafka:9092');
  assert.equal(addressText(at('::1')), '[::1]:9092');
});

test('a broker that names others without end costs no more than a cluster may have', () => {
  const topology = createTopology();
  let told = 0;
  topology.listen({ learned: (changed) => (told += changed.length), forgot: () => {} });
  const endless = Array.from({ length: 100_000 }, (_, node) => [node, at(`b-${node}`)] as const);
  topology.learn(endless);
  assert.equal(told, MAX_BROKERS);
  topology.learn([[1, at('x'.repeat(254))]]);
  topology.learn(endless.slice(50_000, 50_010));
  assert.equal(topology.nodes().size, MAX_BROKERS);
  assert.deepEqual(topology.addressOf(50_000), at('b-50000'), 'what was heard last is known');
});
