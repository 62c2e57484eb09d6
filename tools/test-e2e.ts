/**
 * `npm run test:e2e`: the tests on whole Kubernetes clusters, two files at a time, a line a test as it ends.
 *
 *   npm run test:e2e               all of them
 *   npm run test:e2e -- operator   only the files whose path contains a word
 *   npm run test:e2e -- --again    a file that failed runs once more (see tools/test.ts)
 *
 * Needs root, because clusters are made of kernel namespaces, and Debian or a relative, for its packages. Whatever else
 * is missing is fetched or built, into the cache: what most tests need before all of them, the rest meanwhile. The logs of
 * a file that fails are kept, and their path printed.
 */
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../src/ops/errors.ts';
import { ensureClusters } from '../test/support/clusters/clusters.ts';
import { startAhead } from './test-ahead.ts';
import { runTestFiles } from './test-files.ts';
import { farewell, seconds } from './test-report.ts';
import type { Outcome } from './test-report.ts';

/** A file that has not ended by then is stuck. The first run of a file may build for most of this. */
const FILE_TIMEOUT_MS = 40 * 60_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** What takes longest to build is only for these, so they come last: on a new machine it is built beside the others, which mostly wait. */
const BUILT_LATE = new Set([
  'test/e2e/expose/expose.test.ts',
  'test/e2e/one-cluster.test.ts',
  'test/e2e/proxy/ways-in.test.ts',
]);

/** Files whose clusters start clear what others left behind, which this one wants to do itself: none starts while it runs. */
const FIRST = 'test/e2e/testbed/leftovers.test.ts';

/** Clusters mostly wait: for images, leases, timers, and for one another. */
const AT_A_TIME = 2;

function filesOf(words: readonly string[]): string[] {
  const rank = (file: string) => (file === FIRST ? 0 : BUILT_LATE.has(file) ? 2 : 1);
  return globSync('test/e2e/**/*.test.ts')
    .toSorted()
    .toSorted((a, b) => rank(a) - rank(b))
    .filter((file) => words.every((word) => file.includes(word)));
}

/** Runs the files that were asked for. What they leave to be said is the caller's to say. */
export async function runE2e(args: readonly string[]): Promise<Outcome> {
  const words = args.filter((word) => !word.startsWith('--'));
  const files = filesOf(words);
  const started = performance.now();
  if (words.length === 0) startAhead('clusters');
  try {
    await ensureClusters(words.length === 0 ? ['isthmus', 'kafka'] : []);
  } catch (error) {
    process.stderr.write(`isthmus: ${messageOf(error)}\n`);
    return { green: false, results: [], unsteady: [] };
  }
  const again = args.includes('--again');
  const outcome = await runTestFiles(files, {
    concurrency: Math.min(AT_A_TIME, files.length),
    live: true,
    again,
    timeoutMs: FILE_TIMEOUT_MS,
  });
  say(`${files.length} files in ${seconds(performance.now() - started)}`);
  return outcome;
}

if (import.meta.main) {
  process.chdir(resolve(import.meta.dirname, '..'));
  const outcome = await runE2e(process.argv.slice(2));
  for (const line of farewell(outcome)) say(line);
  process.exitCode = outcome.green ? 0 : 1;
}
