import { CODES } from '../src/ops/codes/codes.ts';
import type { CodeOrigin, ExplainedCode } from '../src/ops/codes/codes.ts';

const INTRO =
  'Errors of the program end with a code in brackets; conditions and events of resources have one as their `reason`; `isthmus check` and `isthmus analyze` name one with each finding. A code never changes its meaning. `isthmus explain CODE` prints the same. Made from `src/ops/errors.ts` and `src/ops/codes`.';

const HEADINGS: Record<CodeOrigin, string> = {
  error: 'Errors of the program',
  reason: 'Reasons in conditions and events',
  check: 'Findings of `isthmus check`',
};

const entry = ({ code, means, why, cure }: ExplainedCode) =>
  `### ${code}\n\n${means}\n\n${why === undefined ? '' : `Why: ${why}\n\n`}What to do: ${cure}\n`;

/** The page about every code, made from the table of them. */
export function codesPage(): string {
  const sections = Object.entries(HEADINGS).map(([origin, heading]) => {
    const codes = CODES.filter((one) => one.origin === origin).toSorted((a, b) => (a.code < b.code ? -1 : 1));
    return `## ${heading}\n\n${codes.map(entry).join('\n')}`;
  });
  return `# Codes\n\n${INTRO}\n\n${sections.join('\n')}`;
}
