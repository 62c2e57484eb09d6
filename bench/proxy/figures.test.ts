import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, loadName, median, ratiosOf, spreadOf } from './figures.ts';
import type { LoadSample, Samples } from './figures.ts';
import type { PeerName } from './peers.ts';

function load(peer: PeerName, cpuSeconds: number, more: Partial<LoadSample> = {}): LoadSample {
  const what = { channel: 'plain', direction: 'produce', size: '1k' } as const;
  return { peer, ...what, gigabytes: 2, seconds: 4, cpuSeconds, ...more };
}

const samples: Samples = {
  loads: [
    ...[2, 100, 3].map((cpu) => load('ours', cpu)),
    ...[6, 5, 7].map((cpu) => load('kroxylicious', cpu)),
    load('haproxy', 3),
    load('ours', 1, { channel: 'tls', direction: 'consume', size: '100b' }),
    load('kroxylicious', 2, { channel: 'tls', direction: 'consume', size: '100b' }),
    load('haproxy', 4, { channel: 'tls', direction: 'consume', size: '100b' }),
  ],
  latencies: [
    { round: 0, peer: 'ours', p50: 1, p99: 5 },
    { round: 0, peer: 'kroxylicious', p50: 1, p99: 10 },
    { round: 0, peer: 'haproxy', p50: 1, p99: 4 },
    { round: 1, peer: 'ours', p50: 3, p99: 90 },
    { round: 1, peer: 'kroxylicious', p50: 1, p99: 100 },
    { round: 1, peer: 'haproxy', p50: 1, p99: 90 },
    { round: 2, peer: 'ours', p50: 2, p99: 6 },
    { round: 2, peer: 'kroxylicious', p50: 1, p99: 12 },
  ],
  starts: [
    { peer: 'ours', seconds: 0.4 },
    { peer: 'kroxylicious', seconds: 2 },
  ],
  memory: [
    { peer: 'ours', when: 'idle', bytes: 50e6 },
    { peer: 'ours', when: 'load', bytes: 90e6 },
    { peer: 'ours', when: 'load', bytes: 100e6 },
    { peer: 'kroxylicious', when: 'load', bytes: 200e6 },
  ],
  bytesPerIdleConnection: { ours: 4000 },
};

test('ratios compare medians, by the promised names', () => {
  assert.deepEqual(ratiosOf(samples), {
    'cpu_per_gb.produce_1k.vs_kroxylicious': 0.5,
    'cpu_per_gb.produce_1k.vs_haproxy': 1,
    'cpu_per_gb.tls_consume_100b.vs_kroxylicious': 0.5,
    'cpu_per_gb.tls_consume_100b.vs_haproxy': 0.25,
    'rss.vs_kroxylicious': 0.5,
    'start.vs_kroxylicious': 0.2,
    'p99.vs_kroxylicious': 0.5,
    'p99.vs_haproxy': 1.13,
  });
});

test('latencies are the median of rounds with its spread; a ratio compares within a round', () => {
  const figures = figuresOf(samples);
  assert.equal(figures['latency_rounds'], 3);
  assert.deepEqual((figures['latency_p99_ms'] as Record<string, unknown>)['ours'], {
    median: 6,
    quartiles: [5.5, 48],
    range: [5, 90],
  });
  assert.deepEqual(figures['p99_ratio_by_round'], {
    vs_kroxylicious: { median: 0.5, quartiles: [0.5, 0.7], range: [0.5, 0.9] },
    vs_haproxy: { median: 1.13, quartiles: [1.06, 1.19], range: [1, 1.25] },
  });
  assert.deepEqual(spreadOf([3, 1, 2, 5, 4]), { median: 3, quartiles: [2, 4], range: [1, 5] });
});

test('figures are the absolute ones', () => {
  const figures = figuresOf(samples);
  assert.deepEqual((figures['cpu_seconds_per_gb'] as Record<string, unknown>)['produce_1k'], {
    ours: 1.5,
    kroxylicious: 3,
    haproxy: 1.5,
  });
  assert.equal(figures['bytes_per_idle_connection'], 4000);
});

test('names and medians', () => {
  assert.equal(loadName({ channel: 'tls', direction: 'consume', size: '100b' }), 'tls_consume_100b');
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.ok(Number.isNaN(median([])));
});
