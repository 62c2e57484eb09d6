/**
 * `npm run test:e2e`: the tests on whole Kubernetes clusters, one file after the other, a line a test as it ends.
 *
 *   npm run test:e2e               all of them
 *   npm run test:e2e -- operator   only the files whose path contains a word
 *
 * Needs root, because clusters are made of kernel namespaces, and Debian or a relative, for its packages. Whatever else
 * is missing is fetched or built, into the cache: before all tests if all are run, else when a test asks for it. The logs
 * of a file that fails are kept, and their path printed.
 */
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import { messageOf } from '../src/ops/errors.ts';
import { ensureClusters } from '../test/support/clusters/clusters.ts';
import { IMAGES } from '../test/support/images/images.ts';
import type { ImageName } from '../test/support/images/images.ts';

/** A file that has not ended by then is stuck. The first run of a file may build for most of this. */
const FILE_TIMEOUT_MS = 40 * 60_000;

const total = { passed: 0, failed: 0, skipped: 0 };
const say = (line: string) => process.stdout.write(`${line}\n`);
const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

async function runFile(file: string): Promise<void> {
  const stream = run({ files: [file], concurrency: 1, timeout: FILE_TIMEOUT_MS });
  for (const output of ['test:stdout', 'test:stderr'] as const)
    stream.on(output, ({ message }) => process.stdout.write(message));
  stream.on('test:pass', ({ name, skip, details }) => {
    if (details.type === 'suite') return;
    if (skip === undefined) total.passed += 1;
    else total.skipped += 1;
    say(`  ${skip === undefined ? '✔' : '-'} ${name} (${(details.duration_ms / 1000).toFixed(1)} s)`);
  });
  // Those of no test are the runner's own, a summary.
  stream.on('test:diagnostic', ({ message, nesting }) => {
    if (nesting > 0) say(`    ${message}`);
  });
  stream.on('test:fail', ({ name, details }) => {
    const { failureType } = details.error as { failureType?: string };
    if (failureType === 'subtestsFailed') return; // its tests have been counted
    total.failed += 1;
    const cause = inspect(details.error.cause ?? details.error, { depth: 6 });
    say(`  ✖ ${name}\n${cause.replaceAll(/^/gm, '      ')}`);
  });
  stream.resume();
  await new Promise((done) => stream.on('end', done));
}

async function main(words: readonly string[]): Promise<void> {
  const files = globSync('test/e2e/**/*.test.ts')
    .toSorted()
    .filter((file) => words.every((word) => file.includes(word)));
  const started = performance.now();
  await ensureClusters(words.length === 0 ? (Object.keys(IMAGES) as ImageName[]) : []);
  for (const file of files) {
    say(`\n▶ ${file}`);
    const fileStarted = performance.now();
    await runFile(file);
    say(`  ${seconds(fileStarted)}`);
  }
  say(`\n${files.length} files in ${seconds(started)}`);
  say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  if (total.failed > 0 || total.passed === 0) process.exitCode = 1;
}

process.chdir(resolve(import.meta.dirname, '..'));
try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`isthmus: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
