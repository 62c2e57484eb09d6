/**
 * `npm test`: everything that must be green, in the order in which it fails soonest: format, lint, types, unit, integration.
 *
 *   npm test                       all of it
 *   npm test -- unit               one step (format, lint, types, unit, integration)
 *   npm test -- integration kube   only the files whose path contains a word
 *   npm test -- --again            a file of the integration tests that failed runs once more by itself at the end, and is
 *                                  named as `unsteady: FILE` in the last lines if it passes then: two files share the cores
 *                                  with real servers, and a change should not be refused for its neighbour's race
 *   npm test -- --e2e-next         gets ready, beside all this, what `npm run test:e2e` needs
 *   npm run format                 writes the formatting instead of checking it
 *
 * `ISTHMUS_TEST_DEADLINE` (seconds since 1970): nothing is run again that would not end by then.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf } from '../src/ops/errors.ts';
import { startAhead } from './test-ahead.ts';
import { runTestFiles } from './test-files.ts';
import { farewell, longestFirst, seconds, together } from './test-report.ts';
import type { Outcome } from './test-report.ts';
import { readTimes, writeTimes } from './test-times.ts';

const ROOT = resolve(import.meta.dirname, '..');
const STEPS = ['format', 'lint', 'types', 'unit', 'integration'] as const;
type Step = (typeof STEPS)[number];

const say = (line: string) => process.stdout.write(`${line}\n`);
const isStep = (word: string): word is Step => STEPS.some((step) => step === word);

/** What was asked for on the command line. */
interface Request {
  steps: readonly Step[];
  /** Words that the path of a test file must have. */
  words: readonly string[];
  fix: boolean;
  again: boolean;
}

function requestOf(args: readonly string[]): Request {
  const words = args.filter((word) => !word.startsWith('--'));
  const fix = args.includes('--fix');
  const chosen = fix ? (['format'] as const) : STEPS.filter((step) => words.includes(step));
  return {
    steps: chosen.length > 0 ? chosen : STEPS,
    words: words.filter((word) => !isStep(word)),
    fix,
    again: args.includes('--again'),
  };
}

function tool(path: string, args: string[]): Outcome {
  const done = spawnSync(process.execPath, [join(ROOT, 'node_modules', path), ...args], { stdio: 'inherit' });
  return { green: done.status === 0, results: [], unsteady: [] };
}

const filesOf = (pattern: string, words: readonly string[]) =>
  globSync(pattern)
    .toSorted()
    .filter((file) => words.every((word) => file.includes(word)));

async function integration({ words, again }: Request): Promise<Outcome> {
  const files = filesOf('test/integration/**/*.test.ts', words);
  const { ensureTestbed } = await import('../test/support/install/testbed.ts');
  if (files.length > 0) await ensureTestbed();
  // The testbed's own tests come first: if they fail no other means anything.
  const isTestbed = (file: string) => file.startsWith('test/integration/testbed/');
  const known = await readTimes();
  const order = longestFirst(files, known).toSorted((a, b) => Number(isTestbed(b)) - Number(isTestbed(a)));
  const { startKeeper } = await import('../test/support/shared/keeper.ts');
  await using keeper = await startKeeper();
  // Tests wait for servers and their timers more often than they compute: one file more than there are cores keeps these busy.
  const outcome = await runTestFiles(order, {
    concurrency: availableParallelism() + 1,
    again,
    alone: () => keeper.leave(),
  });
  await writeTimes(known, outcome.results);
  return outcome;
}

const RUN: Record<Step, (request: Request) => Outcome | Promise<Outcome>> = {
  format: ({ fix }) => tool('oxfmt/bin/oxfmt', fix ? ['.'] : ['--check', '.']),
  lint: () => tool('oxlint/bin/oxlint', ['--type-aware']),
  // The console's pages run in a browser, which has other types.
  types: () =>
    together(['.', 'src/console/web'].map((project) => tool('typescript/bin/tsc', ['-p', project]))),
  unit: ({ words, again }) =>
    runTestFiles(filesOf('{src,test/unit,test/support,bench,tools}/**/*.test.ts', words), {
      concurrency: availableParallelism(),
      again,
    }),
  integration,
};

async function runStep(step: Step, request: Request): Promise<Outcome> {
  const started = performance.now();
  say(`\n▶ ${step}`);
  const outcome = await Promise.resolve(RUN[step](request)).catch((error: unknown): Outcome => {
    say(messageOf(error));
    return { green: false, results: [], unsteady: [] };
  });
  say(outcome.green ? `✔ ${step} (${seconds(performance.now() - started)})` : `\n✖ ${step} failed`);
  return outcome;
}

/** Runs the steps that were asked for, up to the first that fails. What they leave to be said is the caller's to say. */
export async function runSteps(args: readonly string[]): Promise<Outcome> {
  const request = requestOf(args);
  // What integration tests need is made while the steps before them run.
  const [first] = request.steps;
  if (first !== 'integration' && request.steps.includes('integration'))
    startAhead(args.includes('--e2e-next') ? 'clusters' : 'testbed');
  const outcomes: Outcome[] = [];
  for (const step of request.steps) {
    outcomes.push(await runStep(step, request));
    if (!outcomes.at(-1)!.green) break;
  }
  return together(outcomes);
}

if (import.meta.main) {
  process.chdir(ROOT);
  const outcome = await runSteps(process.argv.slice(2));
  for (const line of farewell(outcome)) say(line);
  process.exit(outcome.green ? 0 : 1);
}
