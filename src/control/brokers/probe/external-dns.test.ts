import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../../../ops/log.ts';
import { createMetrics, metricsText } from '../../../ops/metrics.ts';
import { externalDnsFacts, followExternalDns } from './external-dns.ts';

const TEXT = `# HELP external_dns_registry_errors_total Number of Registry errors.
# TYPE external_dns_registry_errors_total counter
external_dns_registry_errors_total 3
external_dns_source_errors_total 1
external_dns_webhook_provider_applychanges_errors_total{instance="a"} 2
external_dns_webhook_provider_records_errors_total{instance="a"} NaN
external_dns_registry_endpoints_total 11
external_dns_controller_last_sync_timestamp_seconds 1.7e+09
go_goroutines 12
`;

suite('metrics of external-dns', () => {
  test('its errors are told apart, and nothing else is taken for one', () => {
    const facts = externalDnsFacts(TEXT)!;
    assert.deepEqual(Object.fromEntries(facts.errors), {
      registry: 3,
      source: 1,
      webhook_provider_applychanges: 2,
    });
    assert.equal(facts.lastSync, 1_700_000_000);
    assert.equal(externalDnsFacts('go_goroutines 12\n'), undefined);
    assert.equal(externalDnsFacts('external_dns_controller_last_sync_timestamp_seconds 0\n')!.lastSync, undefined); // prettier-ignore
  });

  test('they are read again and again, also where it is away for a while', async () => {
    let status = 500;
    const server = createServer((_, response) => response.writeHead(status).end(TEXT));
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    const metrics = createMetrics();
    const stop = new AbortController();
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/metrics`;
    const ended = followExternalDns({ url, metrics, log: createLog('silent'), everyMs: 10 })(stop.signal);
    try {
      const reported = async () => metricsText([await metrics.snapshot()]);
      const until = async (said: RegExp) => {
        while (!said.test(await reported())) await delay(10);
      };
      await until(/^isthmus_external_dns_up 0$/m);
      status = 200;
      await until(/^isthmus_external_dns_errors_total\{part="registry"\} 3$/m);
      assert.match(await reported(), /^isthmus_external_dns_up 1$/m);
      assert.match(await reported(), /^isthmus_external_dns_last_sync_timestamp_seconds 1700000000$/m);
    } finally {
      stop.abort();
      await ended;
      server.close();
    }
  });
});
