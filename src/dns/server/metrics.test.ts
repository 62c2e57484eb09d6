import assert from 'node:assert/strict';
import test from 'node:test';
import { createMetrics, metricsText } from '../../ops/metrics.ts';
import { CELL, count, countLatency, countResponse, countZone, createCounters } from './counters.ts';
import { reportMetrics } from './metrics.ts';

test('the metrics have the sums of all threads, and the state of the server', async () => {
  const [one, two, zoned] = [createCounters(), createCounters(), createCounters(1)];
  const metrics = createMetrics();
  const store = {
    ready: true,
    counts: () =>
      new Map([
        ['Service', 3],
        ['config', 4],
      ]),
  };
  reportMetrics(metrics, {
    counters: () => [one, two, zoned],
    store,
    tcp: [{ connections: 2 }, { connections: 3 }],
    resolver: undefined,
    secondaries: { counts: { answered: 3, failed: 1 } },
    zones: ['example.test.'],
    isStale: () => false,
  });
  countResponse(one, false, 1, 0);
  countResponse(two, false, 1, 0);
  countResponse(two, true, 28, 3);
  countResponse(two, false, 9999, 0);
  countZone(zoned, 0);
  countZone(zoned, -1);
  count(one, CELL.tcpRefused);
  count(one, CELL.truncated);
  for (const ms of [0.001, 0.02, 500]) countLatency(one, ms);
  await metrics.snapshot();
  const text = await metricsText([await metrics.snapshot()]);
  assert.match(text, /^isthmus_dns_queries_total\{transport="udp",type="A",rcode="NOERROR"\} 2$/m);
  assert.match(text, /^isthmus_dns_queries_total\{transport="tcp",type="AAAA",rcode="NXDOMAIN"\} 1$/m);
  assert.match(text, /^isthmus_dns_queries_total\{transport="udp",type="other",rcode="NOERROR"\} 1$/m);
  assert.match(text, /^isthmus_dns_truncated_total 1$/m);
  assert.match(text, /^isthmus_dns_latency_seconds_count 3$/m);
  assert.match(text, /^isthmus_dns_latency_seconds_bucket\{le="0.00001"\} 1$/m);
  assert.match(text, /^isthmus_dns_records\{kind="Service"\} 3$/m);
  assert.match(text, /^isthmus_dns_tcp_connections 5$/m);
  assert.match(text, /^isthmus_dns_ready 1$/m);
  assert.match(text, /^isthmus_dns_stale 0$/m);
  assert.match(text, /^isthmus_dns_zone_queries_total\{zone="example.test."\} 1$/m);
  assert.match(text, /^isthmus_dns_tcp_refused_total 1$/m);
  assert.match(text, /^isthmus_dns_dropped_total\{reason="malformed"\} 0$/m);
});
