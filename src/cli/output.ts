import { Option } from 'commander';
import { stringify } from 'yaml';

/** How data are printed: a table for people, JSON or YAML for programs. */
export const OUTPUT_FORMATS = ['table', 'json', 'yaml'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The `-o` option, the same on every command that prints data. */
export function outputOption(fallback: OutputFormat = 'table'): Option {
  return new Option('-o, --output <format>', 'how to print the result')
    .choices(OUTPUT_FORMATS)
    .default(fallback);
}

/** How objects are printed, as kubectl's `-o`: `wide` has more columns, `name` nothing but names. */
export const OBJECT_FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
export type ObjectFormat = (typeof OBJECT_FORMATS)[number];

export function objectOutputOption(): Option {
  return new Option('-o, --output <format>', 'how to print the result')
    .choices(OBJECT_FORMATS)
    .default('table');
}

/** Columns of a table: heading → the cell's text. */
export type Columns<T> = Readonly<Record<string, (row: T) => string>>;

/** Renders rows in the format asked for; the result ends with a newline unless it is empty. */
export function render<T>(
  rows: readonly T[],
  columns: Columns<T>,
  format: OutputFormat,
  look: TableLook = {},
): string {
  return format === 'table' ? table(rows, columns, look) : renderData(rows, format);
}

/** Data for programs. */
export function renderData(data: unknown, format: 'json' | 'yaml'): string {
  return format === 'json' ? `${JSON.stringify(data, null, 2)}\n` : stringify(data);
}

export interface TableLook {
  headers?: boolean;
  /** How wide lines may be: longer ones are cut. */
  columns?: number | undefined;
}

function table<T>(rows: readonly T[], columns: Columns<T>, look: TableLook): string {
  const { headers = true, columns: width = Infinity } = look;
  const headings = Object.keys(columns);
  const cells = [
    ...(headers ? [headings.map((heading) => heading.toUpperCase())] : []),
    ...rows.map((row) => Object.values(columns).map((cell) => cell(row))),
  ];
  const widths = headings.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  const lines = cells.map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('   '));
  return lines.map((line) => `${cut(line.trimEnd(), width)}\n`).join('');
}

function cut(line: string, width: number): string {
  return line.length > width ? `${line.slice(0, Math.max(0, width - 1))}…` : line;
}
