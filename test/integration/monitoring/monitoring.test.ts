/** Alerts and dashboards with the real Prometheus: it takes every expression, alerts fire when they should, and panels show what a real run reports. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { suite, test } from 'node:test';
import { createMetrics, metricsText } from '../../../src/ops/metrics.ts';
import { run, waitFor } from '../../../src/store/embedded/process.ts';
import { ALERTS } from '../../../tools/monitoring/alerts.ts';
import type { Alert } from '../../../tools/monitoring/alerts.ts';
import { DASHBOARDS } from '../../../tools/monitoring/panels.ts';
import { consume, produce } from '../../support/clients.ts';
import { dashboard } from '../../support/dashboards.ts';
import { ensurePrometheus } from '../../support/install/prometheus.ts';
import { startKafka } from '../../support/kafka.ts';
import { startPrometheus } from '../../support/prometheus.ts';
import { checkReport, forPrometheus, metricsOf } from '../../support/reports.ts';
import { workspace } from '../../support/workspace.ts';
import { askAll } from '../dns/ask.ts';
import { startOurs as startDns } from '../dns/server.ts';
import { ENCRYPTION, startOurs as startProxy } from '../encryption/site.ts';

const RULES = resolve(import.meta.dirname, '../../../deploy/alerts/isthmus.rules.yaml');
const files = workspace('monitoring');
const alerts = Object.values(ALERTS).flat();
const queries = Object.values(DASHBOARDS).flatMap(({ panels }) => panels.flatMap((panel) => panel.queries));

async function promtool(...args: string[]): Promise<void> {
  const { promtool: program } = await ensurePrometheus();
  const { code, stdout, stderr } = await run(program, args);
  assert.equal(code, 0, stdout + stderr);
}

/** One value a minute: the same, or growing. */
const valuesOf = (text: string, minutes: number) =>
  text.startsWith('+') ? `0${text}x${minutes}` : `${text}+0x${minutes}`;

const labelsIn = (series: string) =>
  Object.fromEntries([...series.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));

/** What `promtool test rules` is to try: that it fires after its time and not where all is well. */
function trialsOf({ name, expr, minutes, severity, summary, cure, example }: Alert): object[] {
  const last = minutes + 20;
  const labels = labelsIn(example.series);
  // A sum has only the labels that it is by; a plain metric has all of its own.
  const by = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ');
  const sums = /^(sum|max|min)\(/.test(expr) ? [] : by;
  const kept = Object.entries(labels).filter(([label]) => sums?.includes(label) ?? true);
  const exp_labels = { severity, ...Object.fromEntries(kept) };
  const filled = summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) =>
    String(labels[label]),
  );
  const exp_annotations = { summary: filled, description: `What to do: ${cure}` };
  const trial = (value: string, exp_alerts: object[]) => ({
    interval: '1m',
    input_series: [{ series: example.series, values: valuesOf(value, last) }],
    alert_rule_test: [{ eval_time: `${last}m`, alertname: name, exp_alerts }],
  });
  return [trial(example.wrong, [{ exp_labels, exp_annotations }]), trial(example.well, [])];
}

suite('monitoring', () => {
  test('Prometheus takes all alerts, and each fires when it should and not otherwise', async () => {
    await promtool('check', 'rules', RULES);
    const trials = join(files, 'trials.yaml');
    await writeFile(trials, JSON.stringify({ rule_files: [RULES], tests: alerts.flatMap(trialsOf) }));
    await promtool('test', 'rules', trials);
  });

  test('Prometheus takes every expression of the dashboards', async () => {
    const exposed = dashboard('expose').panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const rules = [...queries.map(([expr]) => expr), ...exposed].map((expr, at) => ({
      record: `panel_${at}`,
      expr: forPrometheus(expr),
    }));
    const file = join(files, 'panels.yaml');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    await promtool('check', 'rules', file);
  });

  test('panels of exposed brokers show what Kafkas tell, and what Redpanda does', async () => {
    const told = (title: string) =>
      dashboard('expose').panels.find((panel) => panel.title === title)!.targets.map(({ expr }) => expr.replaceAll('$namespace', 'n').replaceAll('$kafka', 'a|b').replaceAll('$listener', '.*')); // prettier-ignore
    const kafka =
      '{namespace="n",strimzi_io_cluster="a",listener="EXT-9094",kubernetes_pod_name="a-brokers-0"}';
    const redpanda = (pod: string, shard: number) => `{namespace="n",pod="${pod}",shard="${shard}"}`;
    const series = (name: string, labels: string, values: string) => ({ series: name + labels, values });
    const trial = {
      interval: '1m',
      input_series: [
        series('kafka_server_socket_server_metrics_connection_count', kafka, '3+0x10'),
        series('kafka_server_socket_server_metrics_incoming_byte_rate', kafka, '70+0x10'),
        series('vectorized_kafka_rpc_active_connections', redpanda('b-0', 0), '4+0x10'),
        series('vectorized_kafka_rpc_active_connections', redpanda('b-0', 1), '5+0x10'),
        series('vectorized_kafka_rpc_active_connections', redpanda('b-another-0', 0), '9+0x10'),
        series('vectorized_kafka_rpc_received_bytes', redpanda('b-0', 0), '0+60x10'),
        series('vectorized_kafka_rpc_sent_bytes', redpanda('b-0', 0), '0+120x10'),
      ],
      promql_expr_test: [
        [told('Active connections')[0], [[`{strimzi_io_cluster="a",listener="EXT-9094",kubernetes_pod_name="a-brokers-0"}`, 3], ['{pod="b-0"}', 9]]],
        [told('Bytes in and out')[0], [['{strimzi_io_cluster="a",listener="EXT-9094"}', 70], ['{pod="b-0"}', 1]]],
        [told('Bytes in and out')[1], [['{pod="b-0"}', 2]]],
      ].map(([expr, samples]) => ({ expr, eval_time: '10m', exp_samples: (samples as [string, number][]).map(([labels, value]) => ({ labels, value })) })),
    }; // prettier-ignore
    const file = join(files, 'exposed.yaml');
    await writeFile(file, JSON.stringify({ rule_files: [], tests: [trial] }));
    await promtool('test', 'rules', file);
  });

  test('panels show what a proxy and a DNS server report that real clients use', async () => {
    await using kafka = await startKafka();
    const metrics = createMetrics();
    await using proxy = await startProxy(kafka.bootstrap.plaintext, ENCRYPTION, metrics);
    await using dns = await startDns({
      zones: [{ name: 'example.test' }],
      records: [{ name: 'a.example.test', type: 'A', data: '192.0.2.1' }],
    });
    const reports = {
      proxy: async () => metricsText([await metrics.snapshot()]),
      dns: () => dns.metrics(),
    };
    await using prometheus = await startPrometheus(reports);
    const at = { bootstrap: proxy.bootstrap, topic: 'orders' };
    await produce('kafkajs', { ...at, records: [{ key: null, value: 'one' }] });
    await consume('kafkajs', { ...at, count: 1 });
    await askAll(dns.port, [{ name: 'a.example.test', type: 'A' }]);
    const texts = await Promise.all(Object.values(reports).map((report) => report()));
    for (const text of texts) checkReport(text);
    const reported = new Set(texts.flatMap((text) => [...metricsOf(text).keys()]));
    const shown = queries.filter(([expr]) => {
      const names = expr.match(/\bisthmus_\w+/g) ?? [];
      return names.length > 0 && names.every((name) => reported.has(name));
    });
    assert.ok(shown.length > 25, String(shown.length));
    const lacking = new Set(shown.map(([expr]) => forPrometheus(expr)));
    await waitFor('all panels to show something', async () => {
      for (const expr of lacking) if ((await prometheus.seriesOf(expr)) > 0) lacking.delete(expr);
      return lacking.size === 0;
    }).catch(() => assert.deepEqual([...lacking], []));
  });
});
