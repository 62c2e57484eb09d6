import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressText, createTopology } from './topology.ts';

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
  assert.deepEqual([...topology.nodes().keys()], [1, 2]);
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
