/** Checks on a terminal, and as data. */
import { anchorOf, findCode } from '../../ops/codes/codes.ts';
import { paint } from '../paint.ts';
import type { Category } from './checks.ts';
import type { CheckResult } from './facts.ts';

const SYMBOLS: Record<CheckResult['result'], { symbol: string; colour: 'green' | 'yellow' | 'red' }> = {
  success: { symbol: '✔', colour: 'green' },
  warning: { symbol: '‼', colour: 'yellow' },
  error: { symbol: '✖', colour: 'red' },
};

export const hasErrors = (categories: readonly Category[]): boolean =>
  categories.some(({ checks }) => checks.some(({ result }) => result === 'error'));

/** For people. */
export function reportText(categories: readonly Category[], colors: boolean): string {
  const parts = categories.map(({ name, checks }) => {
    const lines = checks.flatMap((check) => linesOf(check, colors));
    return [name, '-'.repeat(name.length), ...lines, ''].join('\n');
  });
  const { symbol, colour } = SYMBOLS[hasErrors(categories) ? 'error' : 'success'];
  return `${parts.join('\n')}\nStatus check results are ${paint(symbol, colour, colors)}\n`;
}

function linesOf({ description, result, code, error = '' }: CheckResult, colors: boolean): string[] {
  const { symbol, colour } = SYMBOLS[result];
  const line = `${paint(symbol, colour, colors)} ${description}`;
  if (code === undefined) return [line];
  const about = [...error.split('\n'), `${findCode(code)!.cure} [${code}]`, `see ${anchorOf(code)}`];
  return [line, ...about.map((text) => `    ${text}`)];
}

/** For programs. */
export function reportData(categories: readonly Category[]): object {
  return {
    success: !hasErrors(categories),
    categories: categories.map(({ name, checks }) => ({
      categoryName: name,
      checks: checks.map(({ code, ...check }) => ({
        ...check,
        ...(code !== undefined && { code, hint: anchorOf(code) }),
      })),
    })),
  };
}
