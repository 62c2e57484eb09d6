import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../ops/metrics.ts';
import type { Family } from '../../ops/metrics.ts';
import { createStats } from './stats.ts';

test('a virtual cluster that cuts connections all day remembers each reason once', () => {
  const metrics = createMetrics();
  let drops = 0;
  const counted = <T>(family: Family<T>): Family<T> => ({
    of: (labels) => family.of(labels),
    drop(labels) {
      drops += 1;
      family.drop(labels);
    },
  });
  const stats = createStats({
    ...metrics,
    counter: (name, help) => counted(metrics.counter(name, help)),
  }).cluster('c');
  for (let i = 0; i < 1000; i++) stats.cut('idle').value += 1;
  assert.equal(stats.cut('idle').value, 1000);
  stats.drop();
  assert.ok(drops < 100, `${drops} label sets are dropped`);
});
