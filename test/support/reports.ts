/** What a process reports at /metrics, held against the table of metrics. */
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { LABELS } from '../../tools/monitoring/labels.ts';
import { metricsInSource } from '../../tools/monitoring/scan.ts';

const known = new Map(
  metricsInSource(resolve(import.meta.dirname, '../..')).map((metric) => [metric.name, metric]),
);

/** Every metric of ours with the labels of its series; those of histograms under the names that Prometheus sees. */
export function metricsOf(text: string): Map<string, string[][]> {
  const found = new Map<string, string[][]>();
  for (const [, name, labels = ''] of text.matchAll(/^(isthmus_\w+)(?:\{(.*)\})? /gm)) {
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label!);
    found.set(name!, [...(found.get(name!) ?? []), names.filter((label) => label !== 'le')]);
  }
  return found;
}

/** Fails where a report has a metric, or a label, that the table does not know. */
export function checkReport(text: string): void {
  for (const [reported, series] of metricsOf(text)) {
    const name = known.has(reported) ? reported : reported.replace(/_(bucket|sum|count)$/, '');
    assert.ok(known.has(name), `${name} is reported, and not found in the source`);
    for (const labels of series)
      assert.deepEqual(labels.toSorted(), (LABELS[name] ?? []).toSorted(), `labels of ${name}`);
  }
}

/** An expression of a dashboard as Grafana would send it, with everything chosen. */
export const forPrometheus = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '1m').replaceAll(/"\$\w+"/g, '".*"');
