import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTESTANTS, figuresOf, ratiosOf } from './figures.ts';
import type { Contestant, FilterSample } from './figures.ts';

const COSTS: Record<Contestant, number> = {
  none: 1,
  passthrough: 1.1,
  compatible: 6,
  isthmus: 2,
  multi_tenant: 1.5,
  kroxylicious: 10,
};
const samples = CONTESTANTS.flatMap((contestant) =>
  (['1k', '100b'] as const).flatMap((size) =>
    [1, 1, 50].map((slower): FilterSample => ({
      contestant,
      direction: 'produce',
      size,
      gigabytes: 2,
      cpuSeconds: 2 * COSTS[contestant] * slower,
    })),
  ),
);
const stored = [
  { compression: 'none', plain: 100, sealed: 102 },
  { compression: 'gzip', plain: 50, sealed: 54 },
];

test('ratios are of the medians, and of the worst compression', () => {
  assert.deepEqual(ratiosOf(samples, stored), {
    'cpu_per_gb.produce_1k.compatible.vs_kroxylicious': 0.6,
    'cpu_per_gb.produce_1k.isthmus.vs_kroxylicious': 0.2,
    'cpu_per_gb.produce_100b.compatible.vs_kroxylicious': 0.6,
    'cpu_per_gb.produce_100b.isthmus.vs_kroxylicious': 0.2,
    'passthrough.vs_none': 1.1,
    'multi_tenant.vs_none': 1.5,
    'stored_bytes.isthmus.vs_plain': 1.08,
  });
  assert.deepEqual(figuresOf(samples, stored)['stored_bytes'], {
    none: { plain: 100, sealed: 102 },
    gzip: { plain: 50, sealed: 54 },
  });
});
