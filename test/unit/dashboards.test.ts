/** A dashboard shows only what somebody reports. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { externalDnsReporter } from '../../src/control/brokers/probe/external-dns.ts';
import { probeReporter } from '../../src/control/brokers/probe/metrics.ts';
import { vantageReporter } from '../../src/control/brokers/vantage/metrics.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import type { Dashboard } from '../support/dashboards.ts';
import {
  KAFKA_METRICS,
  NODE_METRICS,
  POD_METRICS,
  REDPANDA_METRICS,
  dashboard,
  metricsIn,
} from '../support/dashboards.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/expose.md'), 'utf8');

suite('dashboard of exposed brokers', () => {
  const shown = metricsIn(dashboard('expose'));
  const metrics = createMetrics();
  probeReporter(metrics, 'Kafka');
  vantageReporter(metrics, 'Kafka');
  externalDnsReporter(metrics);
  const others = [...KAFKA_METRICS, ...REDPANDA_METRICS, ...NODE_METRICS, ...POD_METRICS];

  test('has only metrics that the operator registers, or that are listed as those of others', () => {
    const known = new Set([...metrics.names(), ...others]);
    assert.ok(shown.length > 10, shown.join());
    assert.deepEqual(
      shown.filter((name) => !known.has(name)),
      [],
    );
  });

  test('shows all of them, and the page says which is which', () => {
    for (const name of [...metrics.names(), ...others]) {
      assert.ok(shown.includes(name), `${name} is in no panel`);
      assert.ok(page.includes(`\`${name}`), `${name} is not on the page`);
    }
  });

  test('whoever runs both finds them in the same panels', () => {
    const brands = ({ targets }: Dashboard['panels'][number]) => {
      const text = targets.map(({ expr }) => expr).join('\n');
      return [KAFKA_METRICS, REDPANDA_METRICS].map((all) => all.some((name) => text.includes(name)));
    };
    const told = dashboard('expose').panels.filter((panel) => brands(panel).includes(true));
    // Redpanda says nothing of connections that end.
    assert.deepEqual(told.map((panel) => [panel.title, ...brands(panel)]), [
      ['Active connections', true, true],
      ['Connections that end or are refused', true, false],
      ['Bytes in and out', true, true],
    ]); // prettier-ignore
  });
});
