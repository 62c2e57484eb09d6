/** What zod finds, in words that say what to do. */
import type { z } from 'zod';

/** Something wrong with a resource: where, and what to do about it. */
export interface Problem {
  /** Members and indexes from the top of the document. */
  path: readonly (string | number)[];
  message: string;
}

type Issue = z.core.$ZodIssue;

/** One problem for each thing found. */
export function problemsOf(error: z.ZodError, document: unknown): Problem[] {
  return error.issues.map((issue) => {
    const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
    return { path, message: messageFor(issue, valueAt(document, path)) };
  });
}

/** `spec.ingresses[0].name`, as kubectl prints paths. */
export function pathText(path: readonly (string | number)[]): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('');
}

function messageFor(issue: Issue, value: unknown): string {
  if (issue.code === 'too_small') return `must ${bound(issue.origin, 'at least', issue.minimum)}`;
  if (issue.code === 'too_big') return `must ${bound(issue.origin, 'at most', issue.maximum)}`;
  if (issue.code !== 'invalid_type' && issue.code !== 'invalid_value') return issue.message;
  if (value === undefined) return 'is required';
  if (issue.code === 'invalid_type') {
    // What stands in the place of a whole configuration may be a secret of it.
    const isWhole = ['object', 'record', 'array'].includes(issue.expected);
    return `must be ${article(issue.expected)}, not ${isWhole ? kindOf(value) : shown(value)}`;
  }
  return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(shown).join(', ')}, not ${shown(value)}`;
}

function bound(origin: string, direction: string, limit: number | bigint): string {
  const unit: Partial<Record<string, string>> = { string: 'character', array: 'entry' };
  const noun = unit[origin];
  if (noun === undefined) return `be ${direction} ${limit}`;
  return `have ${direction} ${limit} ${limit === 1 ? noun : plural(noun)}`;
}

const plural = (noun: string) => (noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`);

function article(expected: string): string {
  const names: Partial<Record<string, string>> = {
    object: 'a mapping',
    record: 'a mapping',
    array: 'a list',
    int: 'a whole number',
    number: 'a number',
    string: 'a string',
    boolean: 'true or false',
  };
  return names[expected] ?? expected;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'null' : typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}

/** A value as part of a sentence; a long one, or one with parts, by its kind only. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return kindOf(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}

function valueAt(document: unknown, path: readonly (string | number)[]): unknown {
  let value = document;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}
