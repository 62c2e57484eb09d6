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

/** Columns of a table: heading → the cell's text. */
export type Columns<T> = Readonly<Record<string, (row: T) => string>>;

/** Renders rows in the format asked for; the result ends with a newline unless it is empty. */
export function render<T>(rows: readonly T[], columns: Columns<T>, format: OutputFormat): string {
  if (format === 'json') return `${JSON.stringify(rows, null, 2)}\n`;
  if (format === 'yaml') return stringify(rows);
  return table(rows, columns);
}

function table<T>(rows: readonly T[], columns: Columns<T>): string {
  const cells = [
    Object.keys(columns).map((heading) => heading.toUpperCase()),
    ...rows.map((row) => Object.values(columns).map((cell) => cell(row))),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  const lines = cells.map((line) => line.map((cell, column) => cell.padEnd(widths[column]!)).join('   '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
