import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attackWithMutations } from '../../support/kafka/attack.ts';
import { SEED } from '../../support/seed.ts';

test('a million mutated messages do no harm, and memory stays where it was', () => {
  attackWithMutations(10_000, 1); // compiles every codec
  const before = process.memoryUsage.rss();
  const refused = attackWithMutations(1_000_000, SEED);
  assert.ok(refused > 100_000, `${refused} refused, seed ${SEED}`);
  assert.ok(process.memoryUsage.rss() - before < 300 * 2 ** 20, `grew by more than 300 MB, seed ${SEED}`);
});
