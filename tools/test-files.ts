/** Runs test files one by one (or a few at a time) and prints how each ended, and everything about a failure. */
import { run } from 'node:test';
import { inspect } from 'node:util';

export interface RunOptions {
  /** How many files at a time. */
  concurrency: number;
  /** Print tests as they end and what they say, instead of one line a file: for tests that take minutes. */
  live?: boolean;
  /** Repeat a file that failed, by itself, when all others have ended. */
  again?: boolean;
  timeoutMs?: number;
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Runs the files; prints progress and the closing count. False when anything failed or nothing ran. */
export async function runTestFiles(files: string[], options: RunOptions): Promise<boolean> {
  const results = await runAll(files, options);
  const failed = files.filter((file) => results.get(file)!.failed > 0);
  if (options.again === true && failed.length > 0) {
    say(`\n▶ once more, one at a time: ${failed.join(', ')}`);
    // The better of two looks counts, but never unseen: a test that fails only beside others is a fault of the test.
    for (const [file, counts] of await runAll(failed, { ...options, concurrency: 1 }))
      results.set(file, counts);
    const unsteady = failed.filter((file) => results.get(file)!.failed === 0);
    for (const file of unsteady) say(`  ⚠ unsteady, to be mended: ${file} failed above and passed by itself`);
  }
  const total: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const counts of results.values())
    for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += counts[key];
  say(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed === 0 && total.passed > 0;
}

async function runAll(files: string[], options: RunOptions): Promise<Map<string, Counts>> {
  const results = new Map<string, Counts>();
  const waiting = [...files];
  async function worker(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      results.set(file, await runFile(file, options));
  }
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  return results;
}

async function runFile(file: string, { live = false, timeoutMs }: RunOptions): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  const report: string[] = []; // what the file printed and threw, in order
  const tell = (line: string) => (live ? say(line) : report.push(line));
  if (live) say(`\n▶ ${file}`);
  const started = performance.now();
  const stream = run({ files: [file], concurrency: 1, timeout: timeoutMs ?? 15 * 60_000 });
  for (const output of ['test:stdout', 'test:stderr'] as const)
    stream.on(output, ({ message }) => tell(message.trimEnd()));
  stream.on('test:pass', ({ name, skip, details }) => {
    if (details.type === 'suite') return;
    counts[skip === undefined ? 'passed' : 'skipped'] += 1;
    if (skip !== undefined) say(`  - skipped: ${name}${typeof skip === 'string' ? ` (${skip})` : ''}`);
    else if (live) say(`  ✔ ${name} (${seconds(details.duration_ms)})`);
  });
  // Those of no test are the runner's own, a summary.
  stream.on('test:diagnostic', ({ message, nesting }) => {
    if (live && nesting > 0) say(`    ${message}`);
  });
  stream.on('test:fail', ({ name, details, line }) => {
    // A suite fails with its tests; it counts by itself only when one of its hooks failed.
    if ((details.error as { failureType?: string }).failureType === 'subtestsFailed') return;
    counts.failed += 1;
    const cause = inspect(details.error.cause ?? details.error, { depth: 6 });
    tell(`    ✖ ${name} (${file}:${line ?? '?'})\n${cause.replaceAll(/^/gm, '      ')}`);
  });
  stream.resume();
  await new Promise((resolve) => stream.on('end', resolve));
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  const mark = counts.failed > 0 ? '✖' : '✔';
  say(`  ${mark} ${file} (${counts.passed} passed${skipped}, ${seconds(performance.now() - started)})`);
  if (counts.failed > 0 && report.length > 0) say(report.join('\n'));
  return counts;
}
