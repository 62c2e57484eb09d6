/** What dashboards are made of: panels, and queries with what their lines are called. */

export interface Panel {
  title: string;
  unit: string;
  queries: readonly (readonly [expr: string, legend: string])[];
}

export interface Dashboard {
  title: string;
  /** Labels to choose by: a variable for each, with the metric that has all its values. */
  variables: Readonly<Record<string, string>>;
  panels: readonly Panel[];
}

export const panel = (title: string, unit: string, ...queries: [string, string][]): Panel => ({
  title,
  unit,
  queries,
});
const RANGE = '[$__rate_interval]';
export const rate = (metric: string, by: string, where = '') =>
  `sum by (${by}) (rate(${metric}${where}${RANGE}))`;
export const p99 = (metric: string, by: string, where = '') =>
  `histogram_quantile(0.99, sum by (le, ${by}) (rate(${metric}_bucket${where}${RANGE})))`;
export const daysLeft = (metric: string, by: string, where = '') =>
  `(min by (${by}) (${metric}${where}) - time()) / 86400`;
