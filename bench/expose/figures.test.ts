import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATHS, figuresOf, ratiosOf } from './figures.ts';
import type { LoadRound, LoadSample, PathName, Samples } from './figures.ts';
import { busyTicks } from './machine.ts';

/** Seconds that the machine is busy with 1 GB each way, besides the half core that is busy always. */
const WORK: Record<PathName, [produce: number, consume: number]> = {
  pod: [6, 2],
  hostport: [6.3, 2.1],
  nodeport: [7, 3],
  proxy: [12, 4.8],
  internal_exposed: [6, 2],
  internal_hidden: [5, 3],
};

function loadRound(slowness: number): LoadRound {
  const loads = PATHS.flatMap((path) =>
    (['produce', 'consume'] as const).map((direction, i): LoadSample => {
      const seconds = 4 * slowness;
      const work = WORK[path][i]! * slowness;
      return { path, direction, gigabytes: 1, seconds, busySeconds: work + seconds * 0.5 };
    }),
  );
  return { loads, quiet: [0.4, 0.5, 0.5, 1.9, 0.6] };
}

const P99: Record<PathName, number> = {
  pod: 4,
  hostport: 5,
  nodeport: 6,
  proxy: 10,
  internal_exposed: 4,
  internal_hidden: 4,
};
const latencyRound = (slowness: number) =>
  PATHS.map((path) => ({ path, p50: slowness, p99: P99[path] * slowness }));

const samples: Samples = {
  loads: [1, 3, 1.5].map(loadRound),
  latencies: [1, 10, 2].map(latencyRound),
};

test('a path is charged for what the machine does beyond its idleness, and compared within each round', () => {
  assert.deepEqual(ratiosOf(samples), {
    'cpu_per_gb.hostport.vs_pod': 1.05,
    'cpu_per_gb.nodeport.vs_pod': 1.25,
    'cpu_per_gb.proxy.vs_hostport': 2,
    'cpu_per_gb.internal.exposed_vs_hidden': 1,
    'p99.hostport.vs_pod': 1.25,
    'p99.nodeport.vs_pod': 1.5,
    'p99.proxy.vs_hostport': 2,
    'p99.internal.exposed_vs_hidden': 1,
  });
});

test('figures are medians of rounds, with how far these lie apart', () => {
  const figures = figuresOf(samples) as Record<string, Record<string, unknown>>;
  assert.deepEqual(figures['machine_cpu_seconds_per_gb']!['pod'], {
    median: 6,
    quartiles: [5, 9],
    range: [4, 12],
  });
  assert.equal(figures['produce_mb_per_second']!['pod'], 167);
  assert.deepEqual(figures['p99_ms']!['hostport'], { median: 10, quartiles: [7.5, 30], range: [5, 50] });
  assert.deepEqual(figures['rounds'], { load: 3, latency: 3 });
});

test('the machine is busy with everything but idleness and waiting, its interrupts included', () => {
  //          user nice system idle iowait irq softirq steal guest
  const text = 'cpu  100 20 300 9000 50 7 60 5 40 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 1 2\n';
  assert.equal(busyTicks(text), 100 + 20 + 300 + 7 + 60);
});
