import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createMetrics } from '../ops/metrics.ts';
import { ratesOf, totalsOf } from './counters.ts';
import { createSampler } from './sampler.ts';
import { Ring } from './series.ts';

const cluster = (virtual_cluster: string, more: Record<string, string> = {}) => ({
  virtual_cluster,
  ...more,
});

/** Counters under the names of the proxy's own. */
function counted() {
  const metrics = createMetrics();
  return {
    metrics,
    requests: metrics.counter('isthmus_proxy_requests_total', '-'),
    cuts: metrics.counter('isthmus_proxy_connections_cut_total', '-'),
    bytes: metrics.counter('isthmus_proxy_bytes_total', '-'),
    latency: metrics.histogram('isthmus_proxy_request_seconds', '-'),
    kms: metrics.counter('isthmus_filter_record_encryption_kms_requests_total', '-'),
  };
}

suite('counters', () => {
  test('are summed over APIs and processes, and quiet clients are no errors', async () => {
    const { metrics, requests, cuts, bytes } = counted();
    requests.of(cluster('a', { api: 'Produce' })).value = 3;
    requests.of(cluster('a', { api: 'Fetch' })).value = 4;
    cuts.of(cluster('a', { reason: 'idle' })).value = 9;
    cuts.of(cluster('a', { reason: 'tls' })).value = 2;
    bytes.of(cluster('a', { direction: 'from_client' })).value = 10;
    bytes.of(cluster('a', { direction: 'to_client' })).value = 20;
    const snapshot = await metrics.snapshot();
    const { clusters } = totalsOf([snapshot, snapshot]);
    const totals = { requests: 14, errors: 4, bytesIn: 20, bytesOut: 40, connections: 0, within: new Map() };
    assert.deepEqual(clusters.get('a'), totals);
  });

  test('p99 is of the time between two looks, without what waits on purpose', async () => {
    const { metrics, latency } = counted();
    const look = async () => totalsOf([await metrics.snapshot()]).clusters.get('a');
    latency.of(cluster('a', { api: 'Produce' })).observe(8);
    const before = await look();
    for (let i = 0; i < 100; i++) latency.of(cluster('a', { api: 'Produce' })).observe(0.004);
    latency.of(cluster('a', { api: 'Fetch' })).observe(5);
    const { p99Ms } = ratesOf(before, (await look())!, 1);
    assert.ok(p99Ms! > 2.5 && p99Ms! <= 5, String(p99Ms));
    assert.equal(ratesOf(await look(), (await look())!, 1).p99Ms, undefined);
  });

  test('of a process that began anew are all new', () => {
    const totals = (requests: number) => ({
      requests,
      errors: 0,
      bytesIn: 0,
      bytesOut: 0,
      connections: 0,
      within: new Map(),
    });
    assert.equal(ratesOf(totals(1000), totals(6), 2).requests, 3);
  });
});

suite('a sampler', () => {
  test('gives rates, series and the use of keys from two looks on', async () => {
    const { metrics, requests, kms } = counted();
    let now = Date.parse('2026-01-01T00:00:00Z');
    const sampler = createSampler(
      async () => [await metrics.snapshot()],
      () => now,
    );
    try {
      const cell = requests.of(cluster('a', { api: 'Produce' }));
      const made = kms.of(cluster('a', { key: 'k', operation: 'generate', outcome: 'ok' }));
      await sampler.sample();
      cell.value += 50;
      made.value += 1;
      now += 10_000;
      await sampler.sample();
      assert.equal(sampler.rates('a').requests, 5);
      assert.equal(sampler.rates().requests, 5, 'of all');
      assert.equal(sampler.series('a', 'minutes').requests.at(-1), 5);
      const used = { lastUsed: '2026-01-01T00:00:10.000Z', dataKeySince: '2026-01-01T00:00:10.000Z' };
      const row = { virtualCluster: 'a', key: 'k', requests: 1, failures: 0, state: 'ready' };
      assert.deepEqual(sampler.keys(), [{ ...row, ...used }]);
      kms.of(cluster('a', { key: 'k', operation: 'unwrap', outcome: 'refused' })).value += 1;
      now += 10_000;
      await sampler.sample();
      const [key] = sampler.keys();
      assert.deepEqual([key?.state, key?.failures, key?.dataKeySince], ['notReady', 1, used.dataKeySince]);
      assert.equal(sampler.series('a', 'hour').times.length, 1);
    } finally {
      sampler.close();
    }
  });
});

test('a ring keeps the newest points, and nothing of what is gone', () => {
  const ring = new Ring(3);
  const rates = (requests: number) => ({ requests, errors: 0, bytesIn: 0, bytesOut: 0, connections: 0 });
  for (let at = 1; at <= 5; at++)
    ring.add(at, new Map([['a', rates(at)], ...(at < 3 ? [['b', rates(1)] as const] : [])]));
  assert.deepEqual(
    [ring.read('a').times, ring.read('a').requests],
    [
      [3, 4, 5],
      [3, 4, 5],
    ],
  );
  assert.deepEqual(ring.read('b').requests, [null, null, null]);
  assert.deepEqual(ring.read('a').p99Ms, [null, null, null]);
});
