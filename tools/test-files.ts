/** Runs test files one by one (or a few at a time) and prints how each ended, and everything about a failure. */
import { basename } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import { deadlineOf, isGreen, mayRepeat, seconds, totals } from './test-report.ts';
import type { FileResult, Outcome } from './test-report.ts';

export interface RunOptions {
  /** How many files at a time. */
  concurrency: number;
  /** Print tests as they end and what they say, instead of one line a file: for tests that take minutes. */
  live?: boolean;
  /** Repeat a file that failed, by itself, when all others have ended and if `ISTHMUS_TEST_DEADLINE` leaves the time. */
  again?: boolean;
  /** How long a file that will be repeated goes on after its first failure: what follows may wait in vain, one test after the other. */
  graceMs?: number;
  /** Called before files are repeated: what files share with one another, those that are alone go without. */
  alone?: () => void;
  timeoutMs?: number;
}

const GRACE_MS = 120_000;

/** Where tests by chance get their chance from. */
const SEED_FILE = new URL('../test/support/seed.ts', import.meta.url).href;

type TestsStream = ReturnType<typeof run>;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Runs the files; prints progress and the closing count. Not green when anything failed or nothing ran. */
export async function runTestFiles(files: readonly string[], options: RunOptions): Promise<Outcome> {
  const first = await runAll(files, options);
  const again = options.again === true ? await repeat(first, options) : [];
  // The better of two looks counts, but never unseen: a test that fails only beside others is a fault of the test.
  const results = first.map((result) => again.find(({ file }) => file === result.file) ?? result);
  say(`\n${totals(results)}`);
  const unsteady = again.filter(({ failed }) => failed === 0).map(({ file }) => file);
  return { green: isGreen(results), results, unsteady };
}

/** Runs what failed once more, one file after the other, for as long as there is time. */
async function repeat(results: readonly FileResult[], options: RunOptions): Promise<FileResult[]> {
  const failed = results.filter((result) => result.failed > 0);
  if (failed.length === 0) return [];
  const deadline = deadlineOf(process.env['ISTHMUS_TEST_DEADLINE']);
  options.alone?.();
  say('\n▶ once more, one at a time');
  const repeated: FileResult[] = [];
  for (const result of failed) {
    if (mayRepeat(result, Date.now(), deadline))
      repeated.push(await runFile(result.file, { ...options, concurrency: 1, again: false }));
    else say(`  - no time is left for ${result.file}`);
  }
  return repeated;
}

async function runAll(files: readonly string[], options: RunOptions): Promise<FileResult[]> {
  const results: FileResult[] = [];
  const waiting = [...files];
  async function worker(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      results.push(await runFile(file, options));
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return results;
}

async function runFile(file: string, options: RunOptions): Promise<FileResult> {
  const { live = false, timeoutMs, again = false, graceMs = GRACE_MS } = options;
  const ended = new AbortController();
  const report: string[] = []; // what the file printed and threw, in order
  // Lines of several files come in between one another.
  const tell =
    options.concurrency > 1 ? (line: string) => say(`${basename(file, '.test.ts')}: ${line}`) : say;
  if (live) say(`\n▶ ${file}`);
  const started = performance.now();
  const stream = run({
    files: [file],
    concurrency: 1,
    timeout: timeoutMs ?? 15 * 60_000,
    execArgv: ['--import', SEED_FILE],
    signal: ended.signal,
  });
  const counts = count(stream, file, live, (line) => (live ? tell(line) : report.push(line)));
  let grace: NodeJS.Timeout | undefined;
  if (again) stream.on('test:fail', () => (grace ??= setTimeout(() => ended.abort(), graceMs)));
  stream.resume();
  await new Promise((resolve) => stream.on('end', resolve));
  clearTimeout(grace);
  const ms = performance.now() - started;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  const mark = counts.failed > 0 ? '✖' : '✔';
  say(`  ${mark} ${file} (${counts.passed} passed${skipped}, ${seconds(ms)})`);
  if (counts.failed > 0 && report.length > 0) say(report.join('\n'));
  return { file, ...counts, ms };
}

/** Counts how tests end while the file runs, and tells what it says. */
function count(stream: TestsStream, file: string, live: boolean, tell: (line: string) => void) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const output of ['test:stdout', 'test:stderr'] as const)
    stream.on(output, ({ message }) => tell(message.trimEnd()));
  stream.on('test:pass', ({ name, skip, details }) => {
    if (details.type === 'suite') return;
    counts[skip === undefined ? 'passed' : 'skipped'] += 1;
    if (skip !== undefined) say(`  - skipped: ${name}${typeof skip === 'string' ? ` (${skip})` : ''}`);
    else if (live) tell(`  ✔ ${name} (${seconds(details.duration_ms)})`);
  });
  // Those of no test are the runner's own, a summary.
  stream.on('test:diagnostic', ({ message, nesting }) => {
    if (live && nesting > 0) tell(`    ${message}`);
  });
  stream.on('test:fail', ({ name, details, line }) => {
    // A suite fails with its tests; it counts by itself only when one of its hooks failed.
    const { failureType } = details.error as { failureType?: string };
    if (failureType === 'subtestsFailed' || (failureType === 'testAborted' && counts.failed > 0)) return;
    counts.failed += 1;
    const cause = inspect(details.error.cause ?? details.error, { depth: 6 });
    tell(`    ✖ ${name} (${file}:${line ?? '?'})\n${cause.replaceAll(/^/gm, '      ')}`);
  });
  return counts;
}
