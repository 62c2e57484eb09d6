/** All permanent codes in one table: errors of the program, reasons in conditions and events, findings of `isthmus check`. */
import { ERRORS } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import { CHECKS } from './checks.ts';
import type { CheckCode } from './checks.ts';
import { REASONS } from './reasons.ts';
import type { ReasonCode } from './reasons.ts';

export type Code = ErrorCode | ReasonCode | CheckCode;

/** Where a code is met. */
export type CodeOrigin = 'error' | 'reason' | 'check';

/** A code with all there is to say about it. */
export interface ExplainedCode {
  code: string;
  origin: CodeOrigin;
  means: string;
  /** An error says why itself. */
  why?: string;
  cure: string;
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Every code, in the order of the page. */
export const CODES: readonly ExplainedCode[] = [
  ...Object.entries(ERRORS).map(([code, { message, hint }]) => ({
    code,
    origin: 'error' as const,
    means: sentence(message),
    cure: hint,
  })),
  ...Object.entries(REASONS).map(([code, entry]) => ({ code, origin: 'reason' as const, ...entry })),
  ...Object.entries(CHECKS).map(([code, entry]) => ({ code, origin: 'check' as const, ...entry })),
];

/** The page about all of them, from the top of the repository. */
export const CODES_PAGE = 'docs/reference/codes.md';

/** Where a code is explained: a heading of the page. */
export const anchorOf = (code: string): string => `${CODES_PAGE}#${code.toLowerCase()}`;

/** The entry of a code, however it is capitalised. */
export function findCode(code: string): ExplainedCode | undefined {
  const wanted = code.toLowerCase();
  return CODES.find((one) => one.code.toLowerCase() === wanted);
}
