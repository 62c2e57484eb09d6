/**
 * What filters cost: record encryption in both formats beside Kroxylicious with the same filter, key and records, and
 * each filter of ours beside none, in one run, rounds interleaved, in a network namespace of its own.
 */
import { join } from 'node:path';
import { ensureKafka } from '../test/support/install/kafka.ts';
import { ensureKroxylicious } from '../test/support/install/kroxylicious.ts';
import { buildProgram } from './proxy/program.ts';
import { runInNamespace } from './support/namespace.ts';
import type { BenchOptions, BenchResult } from './main.ts';

const INSIDE = join(import.meta.dirname, 'filters/inside.ts');

/** Runs the benchmark. What it needs is fetched first, since inside the namespace there is no network. */
export async function run({ quick, log }: BenchOptions): Promise<BenchResult> {
  await ensureKafka();
  await ensureKroxylicious();
  log('building our program as it is shipped');
  return runInNamespace(INSIDE, [await buildProgram(), ...(quick ? ['--quick'] : [])], log);
}
