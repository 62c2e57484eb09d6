/** Dashboards and alerts speak of metrics that somebody reports, by labels that these have; and the pages are up to date. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { suite, test } from 'node:test';
import { ALERTS } from '../../tools/monitoring/alerts.ts';
import { LABELS } from '../../tools/monitoring/labels.ts';
import { monitoringFiles } from '../../tools/monitoring/monitoring.ts';
import { DASHBOARDS } from '../../tools/monitoring/panels.ts';
import { metricsInSource } from '../../tools/monitoring/scan.ts';
import { BROKER_METRICS, KAFKA_METRICS, dashboard, metricsIn } from '../support/dashboards.ts';

const root = resolve(import.meta.dirname, '../..');
const metrics = metricsInSource(root);
const names = new Set(metrics.map(({ name }) => name));
/** What Prometheus adds by where it has a metric from, and what histograms have. */
const ADDED = new Set(['namespace', 'pod', 'le']);

const expressions = [
  ...Object.values(DASHBOARDS).flatMap(({ panels }) =>
    panels.flatMap(({ queries }) => queries.map(([expr]) => expr)),
  ),
  ...Object.values(ALERTS).flatMap((alerts) => alerts.map(({ expr }) => expr)),
];
const baseOf = (name: string) => (names.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''));

suite('monitoring', () => {
  test('files are those that are generated', () => {
    for (const [path, content] of monitoringFiles(root)) {
      assert.ok(existsSync(join(root, path)), `${path}: run \`npm run generate\``);
      assert.ok(readFileSync(join(root, path), 'utf8') === content, `${path}: run \`npm run generate\``);
    }
  });

  test('the source is read as it is meant', () => {
    assert.ok(metrics.length > 75, String(metrics.length));
    assert.deepEqual(
      Object.keys(LABELS).filter((name) => !names.has(name)),
      [],
      'labels of metrics that nobody registers',
    );
    const first = metrics.find(({ name }) => name === 'isthmus_proxy_requests_total');
    assert.deepEqual(first, {
      name: 'isthmus_proxy_requests_total',
      kind: 'counter',
      help: 'Requests by API',
    });
  });

  test('expressions have only metrics and labels that are there', () => {
    for (const expr of expressions) {
      const ours = [...new Set((expr.match(/\bisthmus_\w+/g) ?? []).map(baseOf))];
      for (const name of ours) assert.ok(names.has(name), `${name} in ${expr}`);
      if (ours.length === 0) continue;
      const known = new Set([...ADDED, ...ours.flatMap((name) => LABELS[name] ?? [])]);
      const used = [...expr.matchAll(/by \(([^)]*)\)|[{,](\w+)=/g)].flatMap(([, list, one]) =>
        (list ?? one ?? '').split(', '),
      );
      for (const label of used) assert.ok(known.has(label), `${label} in ${expr}`);
    }
  });

  test('every metric whose labels are known is on a dashboard', () => {
    const shown = new Set(expressions.flatMap((expr) => (expr.match(/\bisthmus_\w+/g) ?? []).map(baseOf)));
    for (const name of metricsIn(dashboard('expose'))) shown.add(name);
    assert.deepEqual(
      Object.keys(LABELS).filter((name) => !shown.has(name)),
      [],
    );
  });

  test('metrics of Kafka on dashboards are among those that brokers are known to tell', () => {
    const known = new Set([...KAFKA_METRICS, ...BROKER_METRICS]);
    const used = expressions.flatMap((expr) => expr.match(/\b(?:kafka|jvm)_\w+/g) ?? []);
    assert.ok(used.length > 5);
    for (const name of used) assert.ok(known.has(name), name);
  });
});
