/** The metrics that the source registers: names, kinds and what they say, read from the calls that register them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Metric {
  name: string;
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
}

const CALL =
  /\b(counter|gauge|histogram)\(\s*(?:'([^']+)'|`\$\{(?:prefix|PREFIX)\}(\w+)`),\s*'((?:[^'\\]|\\.)*)'/g;
/** A table of gauges with what they say. */
const ROW = /^ {2}(isthmus_\w+):\s*'((?:[^'\\]|\\.)*)'/gm;
const PREFIX = /\b(?:prefix|PREFIX) = '(isthmus_\w+_)'/;

/** By name. */
export function metricsInSource(root: string): Metric[] {
  const files = globSync('src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] });
  const found = files.flatMap((file) => metricsIn(readFileSync(join(root, file), 'utf8')));
  const byName = new Map(found.map((metric) => [metric.name, metric]));
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function metricsIn(text: string): Metric[] {
  const prefix = PREFIX.exec(text)?.[1] ?? '';
  const calls = [...text.matchAll(CALL)].map(([, kind, name, rest, help]) => ({
    name: rest === undefined && name!.startsWith('isthmus_') ? name! : `${prefix}${rest ?? name}`,
    kind: kind as Metric['kind'],
    help: help!,
  }));
  const rows = [...text.matchAll(ROW)].map(([, name, help]) => ({
    name: name!,
    kind: 'gauge' as const,
    help: help!,
  }));
  return [...calls, ...rows].filter(({ name }) => name.startsWith('isthmus_'));
}
