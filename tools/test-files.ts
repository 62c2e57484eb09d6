/** Runs test files one by one (or a few at a time) and prints a line a file, and everything about a failure. */
import { run } from 'node:test';
import { inspect } from 'node:util';

interface FileResult {
  passed: number;
  failed: number;
  skipped: number;
  /** What a failed file printed and threw, in order. */
  report: string[];
}

/** A file that has not ended by then is stuck. */
const FILE_TIMEOUT_MS = 15 * 60_000;

/** Runs the files; prints progress and the closing count. False when anything failed or nothing ran. */
export async function runTestFiles(
  files: string[],
  { concurrency }: { concurrency: number },
): Promise<boolean> {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const waiting = [...files];
  async function worker(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const started = performance.now();
      const result = await runFile(file);
      total.passed += result.passed;
      total.failed += result.failed;
      total.skipped += result.skipped;
      print(file, result, (performance.now() - started) / 1000);
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker));
  process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
  return total.failed === 0 && total.passed > 0;
}

function print(file: string, result: FileResult, seconds: number): void {
  const mark = result.failed > 0 ? '✖' : '✔';
  const skipped = result.skipped > 0 ? `, ${result.skipped} skipped` : '';
  process.stdout.write(`  ${mark} ${file} (${result.passed} passed${skipped}, ${seconds.toFixed(1)} s)\n`);
  if (result.failed > 0) process.stdout.write(`${result.report.join('\n')}\n`);
}

async function runFile(file: string): Promise<FileResult> {
  const result: FileResult = { passed: 0, failed: 0, skipped: 0, report: [] };
  const stream = run({ files: [file], concurrency: 1, timeout: FILE_TIMEOUT_MS });
  stream.on('test:stdout', ({ message }) => result.report.push(message.trimEnd()));
  stream.on('test:stderr', ({ message }) => result.report.push(message.trimEnd()));
  stream.on('test:pass', ({ name, skip, details }) => {
    if (details.type === 'suite') return;
    if (skip === undefined) result.passed++;
    else {
      result.skipped++;
      process.stdout.write(`  - skipped: ${name}${typeof skip === 'string' ? ` (${skip})` : ''}\n`);
    }
  });
  stream.on('test:fail', ({ name, details, line }) => {
    // A suite fails with its tests; it counts by itself only when one of its hooks failed.
    if ((details.error as { failureType?: string }).failureType === 'subtestsFailed') return;
    result.failed++;
    const cause = details.error.cause ?? details.error;
    result.report.push(`    ✖ ${name} (${file}:${line ?? '?'})\n${indent(inspect(cause, { depth: 6 }))}`);
  });
  stream.resume();
  await new Promise((resolve) => stream.on('end', resolve));
  return result;
}

const indent = (text: string) => text.replaceAll(/^/gm, '      ');
