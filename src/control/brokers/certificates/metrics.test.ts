import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, metricsText } from '../../../ops/metrics.ts';
import { certificateEndReporter } from './metrics.ts';

test('ends are reported by certificate, and those that are gone are forgotten', async () => {
  const metrics = createMetrics();
  const report = certificateEndReporter(metrics);
  const lines = async () =>
    (await metricsText([await metrics.snapshot()])).split('\n').filter((line) => line.startsWith('isthmus_'));
  report('ns/events', new Map([['cluster-ca', new Date(5000)], ['events-dual-0', new Date(7999)]])); // prettier-ignore
  const name = 'isthmus_kafka_certificate_not_after_seconds';
  const labels = 'namespace="ns",kafka="events"';
  assert.deepEqual(await lines(), [
    `${name}{${labels},certificate="cluster-ca"} 5`,
    `${name}{${labels},certificate="events-dual-0"} 7`,
  ]);
  report('ns/events', new Map([['cluster-ca', new Date(9000)]]));
  assert.deepEqual(await lines(), [`${name}{${labels},certificate="cluster-ca"} 9`]);
  report('ns/events', new Map());
  assert.deepEqual(await lines(), []);
});
