/**
 * Our proxy beside a direct connection, Kroxylicious 0.12.0 and haproxy, in one run, rounds interleaved, in a network
 * namespace of its own: nothing of it can be reached from outside, and it is gone when the run ends.
 */
import { join } from 'node:path';
import { ensureKafka } from '../test/support/install/kafka.ts';
import { ensureKroxylicious } from '../test/support/install/kroxylicious.ts';
import type { BenchOptions, BenchResult } from './main.ts';
import { ensureHaproxy } from './proxy/haproxy.ts';
import { buildProgram } from './proxy/program.ts';
import { runInNamespace } from './support/namespace.ts';

const INSIDE = join(import.meta.dirname, 'proxy/inside.ts');

/** Runs the benchmark. What it needs is fetched first, since inside the namespace there is no network. */
export async function run({ quick, log }: BenchOptions): Promise<BenchResult> {
  await ensureKafka();
  await ensureKroxylicious();
  await ensureHaproxy();
  log('building our program as it is shipped');
  return runInNamespace(INSIDE, [await buildProgram(), ...(quick ? ['--quick'] : [])], log);
}
