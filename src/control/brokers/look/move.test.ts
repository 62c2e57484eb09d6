import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KafkaFacts } from './facts.ts';
import { cordonedAmong } from './move.ts';

test('brokers that take no replicas although they stay are found, and none that somebody cordons in part or that is to go', () => {
  const entry = (value: string) => [
    { name: 'cordoned.log.dirs', value },
    { name: 'node.id', value: '*' },
  ];
  const configs = new Map([
    [1, entry('*')],
    [2, entry('/var/lib/kafka/data')],
    [3, entry('*')],
    [4, [{ name: 'node.id', value: '*' }]],
  ]) as unknown as KafkaFacts['configs'];
  assert.deepEqual(cordonedAmong(configs, [3]), [1]);
  assert.deepEqual(cordonedAmong(configs), [1, 3]);
});
