/**
 * `.ci/run`: all tests, as `npm test` and then `npm run test:e2e` run them, with a second look at what failed and the names of
 * all unsteady files in the last lines. On a machine that has never seen the project the builds for later steps go on
 * beside the earlier ones.
 */
import { resolve } from 'node:path';
import { runE2e } from './test-e2e.ts';
import { runSteps } from './test.ts';
import { deadlineOf, farewell, together } from './test-report.ts';
import type { Outcome } from './test-report.ts';

/** A run has 90 minutes. Nothing is repeated that would end later than this after its start: what comes next needs its time, too. */
const LAST_MINUTE = { steps: 55, e2e: 85 };

process.chdir(resolve(import.meta.dirname, '..'));
const startedMs = Date.now() - process.uptime() * 1000;
const givenMs = deadlineOf(process.env['ISTHMUS_TEST_DEADLINE']);

function repeatUntil(minute: number): void {
  const at = Math.min(givenMs, startedMs + minute * 60_000);
  process.env['ISTHMUS_TEST_DEADLINE'] = String(Math.floor(at / 1000));
}

// A change must not fail here by a draw that it never met on its author's machine: there, each run draws anew.
process.env['ISTHMUS_TEST_SEED'] ??= '1';

async function all(): Promise<Outcome> {
  repeatUntil(LAST_MINUTE.steps);
  const steps = await runSteps(['--again', '--e2e-next']);
  if (!steps.green) return steps;
  repeatUntil(LAST_MINUTE.e2e);
  process.stdout.write('\n▶ e2e\n');
  return together([steps, await runE2e(['--again'])]);
}

const outcome = await all();
for (const line of farewell(outcome)) process.stdout.write(`${line}\n`);
process.exit(outcome.green ? 0 : 1);
