/**
 * `npm test`: everything that must be green, in the order in which it fails soonest: format, lint, types, unit, integration.
 *
 *   npm test                       all of it
 *   npm test -- unit               one step (format, lint, types, unit, integration)
 *   npm test -- integration kube   only the files whose path contains a word
 *   npm test -- --again            a file of the integration tests that failed runs once more by itself at the end, and is
 *                                  named as unsteady if it passes then: two files share the cores with real servers, and
 *                                  a change should not be refused for its neighbour's race
 *   npm run format                 writes the formatting instead of checking it
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf } from '../src/ops/errors.ts';
import { runTestFiles } from './test-files.ts';

const root = resolve(import.meta.dirname, '..');
process.chdir(root);

const STEPS = ['format', 'lint', 'types', 'unit', 'integration'] as const;
type Step = (typeof STEPS)[number];

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const fix = process.argv.includes('--fix');
const chosen = fix ? (['format'] as const) : STEPS.filter((step) => words.includes(step));
const steps = chosen.length > 0 ? chosen : STEPS;
const filter = words.filter((word) => !STEPS.includes(word as Step));

function tool(path: string, args: string[]): boolean {
  const done = spawnSync(process.execPath, [join(root, 'node_modules', path), ...args], {
    stdio: 'inherit',
  });
  return done.status === 0;
}

const filesOf = (pattern: string) =>
  globSync(pattern)
    .toSorted()
    .filter((file) => filter.every((word) => file.includes(word)));

async function integration(): Promise<boolean> {
  // The testbed's own tests come first: if they fail no other means anything, and being long they leave no core idle at the end.
  const files = filesOf('test/integration/**/*.test.ts').toReversed();
  if (files.length > 0) {
    const { ensureTestbed } = await import('../test/support/install/testbed.ts');
    await ensureTestbed();
  }
  // Tests wait for servers as often as they compute, so one file a core keeps the cores busy.
  const again = process.argv.includes('--again');
  return runTestFiles(files, { concurrency: availableParallelism(), again });
}

const run: Record<Step, () => boolean | Promise<boolean>> = {
  format: () => tool('oxfmt/bin/oxfmt', fix ? ['.'] : ['--check', '.']),
  lint: () => tool('oxlint/bin/oxlint', ['--type-aware']),
  types: () => tool('typescript/bin/tsc', ['-p', '.']),
  unit: () =>
    runTestFiles(filesOf('{src,test/unit,bench}/**/*.test.ts'), {
      concurrency: availableParallelism(),
    }),
  integration,
};

async function passes(step: Step): Promise<boolean> {
  try {
    return await run[step]();
  } catch (error) {
    process.stdout.write(`${messageOf(error)}\n`);
    return false;
  }
}

for (const step of steps) {
  const started = performance.now();
  process.stdout.write(`\n▶ ${step}\n`);
  if (!(await passes(step))) {
    process.stdout.write(`\n✖ ${step} failed\n`);
    process.exit(1);
  }
  process.stdout.write(`✔ ${step} (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
}
