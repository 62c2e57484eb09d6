import { CommanderError } from 'commander';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import type { ErrorCode } from '../ops/errors.ts';

/** What a command's end tells a script. */
export const EXIT = { fine: 0, problems: 1, usage: 2, unreachable: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const CODE_OF: Partial<Record<ErrorCode, ExitCode>> = {
  USAGE: EXIT.usage,
  CLUSTER_UNREACHABLE: EXIT.unreachable,
  CONSOLE_UNREACHABLE: EXIT.unreachable,
};

/** Turns whatever a command threw into lines for stderr and an exit code. */
export function explainFailure(thrown: unknown): { lines: string[]; code: ExitCode } {
  if (thrown instanceof CommanderError) {
    // commander has printed its own message; --help and --version end this way, too.
    return { lines: [], code: thrown.exitCode === 0 ? EXIT.fine : EXIT.usage };
  }
  if (thrown instanceof IsthmusError) {
    return {
      lines: [`isthmus: ${thrown.message}`, `  ${thrown.hint} [${thrown.code}]`],
      code: CODE_OF[thrown.code] ?? EXIT.problems,
    };
  }
  const detail = thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
  return { lines: [`isthmus: unexpected error: ${detail}`], code: EXIT.problems };
}
