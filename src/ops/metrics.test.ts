import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { createMetrics, metricsText } from './metrics.ts';

suite('metrics', () => {
  test('cells are reported under their labels', async () => {
    const metrics = createMetrics();
    const requests = metrics.counter('isthmus_test_requests_total', 'Requests.');
    requests.of({ api: 'Fetch' }).value += 3;
    requests.of({ api: 'Produce' }).value += 1;
    requests.of({ api: 'Fetch' }).value += 1;
    const text = await metricsText([await metrics.snapshot()]);
    assert.match(text, /# TYPE isthmus_test_requests_total counter/);
    assert.match(text, /isthmus_test_requests_total\{api="Fetch"\} 4\n/);
    assert.match(text, /isthmus_test_requests_total\{api="Produce"\} 1\n/);
  });

  test('a dropped label set is no longer reported', async () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge('isthmus_test_records', 'Records.');
    gauge.of({ cluster: 'a' }).value = 1;
    gauge.drop({ cluster: 'a' });
    assert.doesNotMatch(await metricsText([await metrics.snapshot()]), /cluster="a"/);
  });

  test('what several processes report is added up', async () => {
    const snapshots = [];
    for (const count of [2, 5]) {
      const metrics = createMetrics();
      metrics.counter('isthmus_test_bytes_total', 'Bytes.').of().value += count;
      metrics
        .histogram('isthmus_test_seconds', 'Seconds.', [1, 2])
        .of()
        .observe(count / 2);
      snapshots.push(structuredClone(await metrics.snapshot()));
    }
    const text = await metricsText(snapshots);
    assert.match(text, /isthmus_test_bytes_total 7\n/);
    assert.match(text, /isthmus_test_seconds_count 2\n/);
    assert.match(text, /isthmus_test_seconds_bucket\{le="1"\} 1\n/);
  });

  test('a name against the conventions is refused', () => {
    const metrics = createMetrics();
    assert.throws(() => metrics.counter('isthmus_test_requests', 'x'), /counters end in _total/);
    assert.throws(() => metrics.gauge('isthmus_test_requests_total', 'x'), /is no name for a gauge/);
    assert.throws(() => metrics.histogram('isthmus_test_latency', 'x'), /is no name for a histogram/);
    assert.throws(() => metrics.gauge('requests', 'x'), /is no name for a gauge/);
    assert.throws(() => metrics.gauge('isthmus_test_Requests', 'x'), /is no name for a gauge/);
  });

  test('refreshers run before each report', async () => {
    const metrics = createMetrics();
    const age = metrics.gauge('isthmus_test_age_seconds', 'Age.').of();
    metrics.beforeReport(() => (age.value = 42));
    assert.match(await metricsText([await metrics.snapshot()]), /isthmus_test_age_seconds 42\n/);
  });

  test('property: a histogram counts every observation once, in the right bucket', async () => {
    const limits = [1, 2, 5];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.double({ min: 0, max: 10, noNaN: true })), async (observations) => {
        const metrics = createMetrics();
        const timing = metrics.histogram('isthmus_test_seconds', 'Seconds.', limits).of();
        for (const seconds of observations) timing.observe(seconds);
        const text = await metricsText([await metrics.snapshot()]);
        for (const limit of limits) {
          const below = observations.filter((seconds) => seconds <= limit).length;
          assert.ok(text.includes(`isthmus_test_seconds_bucket{le="${limit}"} ${below}\n`));
        }
        assert.ok(text.includes(`isthmus_test_seconds_count ${observations.length}\n`));
      }),
      { numRuns: 50 },
    );
  });
});
