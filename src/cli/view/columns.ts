/** Cells of tables about objects. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import type { Column, Kind } from '../../resources/kind.ts';
import type { Columns } from '../output.ts';
import { healthOf } from '../../view/health.ts';
import type { HealthState } from '../../view/health.ts';

export const STATE_WORDS: Record<HealthState, string> = {
  ready: 'Ready',
  warning: 'Warning',
  notReady: 'NotReady',
  unknown: '-',
};

/** How long ago, in the largest unit that says enough: `5s`, `12m`, `3h`, `9d`. */
export function ageText(since: string | undefined, now: number): string {
  const seconds = Math.floor((now - Date.parse(since ?? '')) / 1000);
  if (!Number.isFinite(seconds)) return '-';
  const units: [string, number][] = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ];
  const [unit, length] = units.find(([, size]) => seconds >= 2 * size) ?? ['s', 1];
  return `${Math.max(0, Math.floor(seconds / length))}${unit}`;
}

/** What a column's path leads to, as kubectl would print it: fields, positions, and conditions by their type. */
export function valueAt(object: unknown, path: string): string {
  let value: unknown = object;
  for (const [, field, index, type] of path.matchAll(
    /\.([\w-]+)|\[(\d+)\]|\[\?\(@\.type==["'](\w+)["']\)\]/g,
  )) {
    if (typeof value !== 'object' || value === null) return '-';
    if (field !== undefined) value = (value as Record<string, unknown>)[field];
    else if (!Array.isArray(value)) return '-';
    else
      value =
        index === undefined
          ? (value as { type?: string }[]).find((one) => one.type === type)
          : (value as unknown[])[Number(index)];
  }
  if (value === undefined || value === null) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Conditions and age have columns of their own. */
const isExtra = ({ jsonPath, type }: Column) =>
  !/conditions|creationTimestamp/.test(jsonPath) && type !== 'date';

export interface ColumnOptions {
  kind: Kind;
  allNamespaces: boolean;
  wide: boolean;
  now: number;
}

export function columnsOf({ kind, allNamespaces, wide, now }: ColumnOptions): Columns<AnyObject> {
  const extra = kind.columns.filter((column) => isExtra(column) && (wide || !column.wide));
  return {
    ...(allNamespaces && { namespace: ({ metadata }: AnyObject) => metadata.namespace ?? '' }),
    name: ({ metadata }) => metadata.name,
    state: (object) => STATE_WORDS[healthOf(object).state],
    reason: (object) => healthOf(object).reason || '-',
    ...Object.fromEntries(
      extra.map(({ name, jsonPath }) => [name, (object: AnyObject) => valueAt(object, jsonPath)]),
    ),
    age: ({ metadata }) => ageText(metadata.creationTimestamp, now),
    ...(wide && { message: (object: AnyObject) => healthOf(object).message || '-' }),
  };
}
