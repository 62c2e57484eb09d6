/** Dashboards, alert rules, and the pages about metrics and alerts. */
import { stringify } from 'yaml';
import { ALERTS } from './alerts.ts';
import type { Alert } from './alerts.ts';
import { grafanaJson } from './grafana.ts';
import { LABELS } from './labels.ts';
import { DASHBOARDS } from './panels.ts';
import { metricsInSource } from './scan.ts';

const HEAD = '# Made by `npm run generate`; changes are overwritten.\n';
const PAGE = 'docs/reference/alerts.md';

/** Path from the top of the repository → content. */
export function monitoringFiles(root: string): Map<string, string> {
  const groups = Object.entries(ALERTS).map(([part, alerts]) => ({
    name: `isthmus-${part}`,
    rules: alerts.map(ruleOf),
  }));
  const object = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'isthmus', labels: { 'app.kubernetes.io/part-of': 'isthmus' } },
    spec: { groups },
  };
  const yaml = (value: object) => HEAD + stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
  return new Map([
    ...Object.entries(DASHBOARDS).map(
      ([name, dashboard]) => [`deploy/dashboards/${name}.json`, grafanaJson(name, dashboard)] as const,
    ),
    ['deploy/alerts/isthmus.rules.yaml', yaml({ groups })],
    ['deploy/alerts/prometheus-rule.yaml', yaml(object)],
    ['docs/reference/metrics.md', metricsPage(root)],
    [PAGE, alertsPage()],
  ]);
}

const ruleOf = ({ name, expr, minutes, severity, summary, cure }: Alert) => ({
  alert: name,
  expr,
  ...(minutes > 0 && { for: `${minutes}m` }),
  labels: { severity },
  annotations: { summary, description: `What to do: ${cure}` },
});

/** The first word after the project says which part of the system reports a metric. */
const PARTS: Readonly<Record<string, string>> = {
  proxy: 'The proxy',
  filter: 'Filters of the proxy',
  kafka: 'Kafka clusters, as the operator sees them',
  external: 'external-dns, as the operator sees it',
  dns: 'The DNS server',
  cluster: 'Joined clusters',
  operator: 'The operator',
  controller: 'Controllers, of the operator and of the DNS server',
  road: 'What they write',
};

function metricsPage(root: string): string {
  const metrics = metricsInSource(root);
  const parts = Map.groupBy(metrics, ({ name }) => name.split('_')[1]!);
  const others = [...parts.keys()].filter((part) => !(part in PARTS));
  const sections = [...Object.keys(PARTS), ...others].flatMap((part) => {
    const rows = (parts.get(part) ?? []).map(({ name, kind, help }) => {
      const labels = LABELS[name] ?? [];
      const shown = labels.length > 0 ? `{${labels.join(',')}}` : '';
      return `| \`${name}${shown}\` | ${kind} | ${help} |`;
    });
    if (rows.length === 0) return [];
    return [
      `## ${PARTS[part] ?? part}`,
      '',
      '| metric | kind | what it says |',
      '|---|---|---|',
      ...rows,
      '',
    ];
  });
  const intro =
    'Every metric of this project, made from the source. Proxies, the operator and the DNS server have them at `/metrics` of their management port, [for whoever has the token](../kubernetes.md). ' +
    'Dashboards for Grafana are in [deploy/dashboards](../../deploy/dashboards), [alerts](alerts.md) in [deploy/alerts](../../deploy/alerts). A histogram has `_bucket`, `_sum` and `_count`.';
  return ['# Metrics', '', intro, '', ...sections].join('\n');
}

function alertsPage(): string {
  const sections = Object.values(ALERTS)
    .flat()
    .flatMap(({ name, severity, minutes, expr, summary, cure }) => {
      const lasting = minutes > 0 ? `after ${minutes} minutes` : 'at once';
      return [
        `## ${name}`,
        '',
        summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => `*${label}*`),
        '',
        `What to do: ${cure}`,
        '',
        `${severity}, ${lasting}: \`${expr}\``,
        '',
      ];
    });
  const intro =
    'Load [isthmus.rules.yaml](../../deploy/alerts/isthmus.rules.yaml) into Prometheus (`rule_files`), or apply [prometheus-rule.yaml](../../deploy/alerts/prometheus-rule.yaml) where the Prometheus operator is.';
  return ['# Alerts', '', intro, '', ...sections].join('\n');
}
