/** What a test run says at its end, and whether there is time for a second look: decisions only, no clock and no output. */

/** How one test file ended. */
export interface FileResult {
  file: string;
  passed: number;
  failed: number;
  skipped: number;
  ms: number;
}

/** What a run leaves to be said when all of it is over. */
export interface Outcome {
  green: boolean;
  results: FileResult[];
  /** Files that failed beside others and passed by themselves. */
  unsteady: string[];
}

const SLOWEST = 10;

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** The closing line that people and scripts look for. */
export function totals(results: readonly FileResult[]): string {
  const sum = (key: 'passed' | 'failed' | 'skipped') => results.reduce((all, one) => all + one[key], 0);
  return `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`;
}

/** Nothing failed, and something ran. */
export function isGreen(results: readonly FileResult[]): boolean {
  return results.every(({ failed }) => failed === 0) && results.some(({ passed }) => passed > 0);
}

/** The files that took longest, longest first, each with its time. */
export function slowest(results: readonly FileResult[], count = SLOWEST): string[] {
  return results
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, count)
    .map(({ file, ms }) => `${seconds(ms).padStart(9)}  ${file}`);
}

/** The last lines of a run: the slowest files, and one line for each that is to be mended. */
export function farewell({ results, unsteady }: Omit<Outcome, 'green'>): string[] {
  const list = results.length > 0 ? ['', 'slowest files:', ...slowest(results)] : [];
  return [...list, ...unsteady.map((file) => `unsteady: ${file}`)];
}

/** One outcome of several, in their order. */
export function together(outcomes: readonly Outcome[]): Outcome {
  return {
    green: outcomes.every(({ green }) => green),
    results: outcomes.flatMap(({ results }) => results),
    unsteady: outcomes.flatMap(({ unsteady }) => unsteady),
  };
}

/** The time until which a run may take, in ms since 1970: `ISTHMUS_TEST_DEADLINE` has it in seconds. */
export function deadlineOf(text: string | undefined): number {
  if (text === undefined || text === '') return Number.POSITIVE_INFINITY;
  const at = Number(text);
  if (!Number.isFinite(at))
    throw new Error(`ISTHMUS_TEST_DEADLINE is "${text}", not a time in seconds since 1970`);
  return at * 1000;
}

/** Whether a file may run once more: it takes as long as the first time, since it then has the machine to itself. */
export function mayRepeat({ ms }: FileResult, now: number, deadline: number): boolean {
  return now + ms <= deadline;
}

/**
 * Longest first, so that no core idles at the end while another works on a long file; files of which nothing is known
 * come before those that are known to be short. `known` has the times of former runs.
 */
export function longestFirst(files: readonly string[], known: Readonly<Record<string, number>>): string[] {
  const UNKNOWN_MS = 20_000;
  return files.toSorted((a, b) => (known[b] ?? UNKNOWN_MS) - (known[a] ?? UNKNOWN_MS));
}
