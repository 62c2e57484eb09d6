/** Dashboards as Grafana imports them. */
import type { Dashboard, Panel } from './panel.ts';

const WIDTH = 8;
const HEIGHT = 8;
const SOURCE = { type: 'prometheus', uid: '${datasource}' };

export function grafanaJson(name: string, { title, variables, panels }: Dashboard): string {
  const dashboard = {
    title: `Isthmus: ${title}`,
    uid: `isthmus-${name}`,
    tags: ['isthmus', 'kafka'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', current: {} },
        ...Object.entries(variables).map(([label, metric]) => variable(label, metric)),
      ],
    },
    panels: panels.map(panelJson),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function variable(label: string, metric: string): object {
  const query = `label_values(${metric}, ${label})`;
  return {
    name: label,
    type: 'query',
    datasource: SOURCE,
    query: { query, refId: label },
    definition: query,
    includeAll: true,
    multi: true,
    current: { text: 'All', value: '$__all' },
    refresh: 2,
  };
}

function panelJson({ title, unit, queries }: Panel, at: number): object {
  const perRow = 24 / WIDTH;
  return {
    id: at + 1,
    title,
    type: 'timeseries',
    datasource: SOURCE,
    gridPos: { x: (at % perRow) * WIDTH, y: Math.floor(at / perRow) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: unit === 'short' ? 0 : undefined }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(([expr, legendFormat], query) => ({
      refId: String.fromCharCode(65 + query),
      datasource: SOURCE,
      expr,
      legendFormat,
    })),
  };
}
