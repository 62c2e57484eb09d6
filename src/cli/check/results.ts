/** How checks say what they found. */
import type { Read } from '../kube/read.ts';
import type { CheckResult, FoundCode } from './facts.ts';

export const fine = (description: string): CheckResult => ({ description, result: 'success' });

export const warn = (description: string, code: FoundCode, error: string): CheckResult => ({
  description,
  result: 'warning',
  code,
  error,
});

export const fail = (description: string, code: FoundCode, error: string): CheckResult => ({
  description,
  result: 'error',
  code,
  error,
});

/** One result: fine if there are no problems, otherwise all of them in one. */
export function verdict(
  description: string,
  problems: readonly string[],
  say: typeof warn,
  code: FoundCode,
): CheckResult {
  return problems.length === 0 ? fine(description) : say(description, code, listed(problems));
}

/** Of what could not be read nothing is claimed. */
export function known<T>(
  description: string,
  read: Read<T> | undefined,
  judge: (value: T) => CheckResult[],
): CheckResult[] {
  if (read === undefined) return [];
  return 'value' in read ? judge(read.value) : [warn(description, 'CannotLook', read.problem)];
}

const SHOWN = 10;

/** Many problems in a few lines. */
function listed(problems: readonly string[]): string {
  const more = problems.length - SHOWN;
  return [...problems.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}
