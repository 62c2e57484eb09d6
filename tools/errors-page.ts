import { ERRORS } from '../src/ops/errors.ts';

export const ERRORS_PAGE = 'docs/reference/errors.md';

/** The page about every error code, made from the table of them. */
export function errorsPage(): string {
  const entries = Object.entries(ERRORS).map(
    ([code, { message, hint }]) => `## ${code}\n\nIt says: *${message}*, and then where.\n\n${hint}\n`,
  );
  const intro =
    'Every error that Isthmus reports ends with a code in brackets. A code never changes its meaning. Made from `src/ops/errors.ts`.';
  return `# Errors\n\n${intro}\n\n${entries.join('\n')}`;
}
