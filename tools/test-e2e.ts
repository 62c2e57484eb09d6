/**
 * `npm run test:e2e`: the tests on whole Kubernetes clusters, one file after the other, a line a test as it ends.
 *
 *   npm run test:e2e               all of them
 *   npm run test:e2e -- operator   only the files whose path contains a word
 *   npm run test:e2e -- --again    a file that failed runs once more (see tools/test.ts)
 *
 * Needs root, because clusters are made of kernel namespaces, and Debian or a relative, for its packages. Whatever else
 * is missing is fetched or built, into the cache: before all tests if all are run, else when a test asks for it. The logs
 * of a file that fails are kept, and their path printed.
 */
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../src/ops/errors.ts';
import { ensureClusters } from '../test/support/clusters/clusters.ts';
import { IMAGES } from '../test/support/images/images.ts';
import type { ImageName } from '../test/support/images/images.ts';
import { runTestFiles } from './test-files.ts';

/** A file that has not ended by then is stuck. The first run of a file may build for most of this. */
const FILE_TIMEOUT_MS = 40 * 60_000;

async function main(args: readonly string[]): Promise<boolean> {
  const words = args.filter((word) => !word.startsWith('--'));
  const files = globSync('test/e2e/**/*.test.ts')
    .toSorted()
    .filter((file) => words.every((word) => file.includes(word)));
  const started = performance.now();
  await ensureClusters(words.length === 0 ? (Object.keys(IMAGES) as ImageName[]) : []);
  const again = args.includes('--again');
  const green = await runTestFiles(files, { concurrency: 1, live: true, again, timeoutMs: FILE_TIMEOUT_MS });
  process.stdout.write(`${files.length} files in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  return green;
}

process.chdir(resolve(import.meta.dirname, '..'));
try {
  if (!(await main(process.argv.slice(2)))) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`isthmus: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
