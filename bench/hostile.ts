/**
 * Our proxy and our DNS server under attack, while a well-behaved neighbour goes on with its work: what the neighbour notices, and
 * what the attack costs in memory. In a network namespace of its own, so that nothing of it reaches anybody else; every attack
 * ends by itself.
 */
import { join } from 'node:path';
import { ensureKafka } from '../test/support/install/kafka.ts';
import { ensureTestbed } from '../test/support/install/testbed.ts';
import type { BenchOptions, BenchResult } from './main.ts';
import { buildProgram } from './proxy/program.ts';
import { runInNamespace } from './support/namespace.ts';

const INSIDE = join(import.meta.dirname, 'hostile/inside.ts');

/** Runs the benchmark. What it needs is fetched first, since inside the namespace there is no network. */
export async function run({ quick, parts, log }: BenchOptions): Promise<BenchResult> {
  await ensureKafka();
  await ensureTestbed();
  log('building our program as it is shipped');
  return runInNamespace(INSIDE, [await buildProgram(), ...(quick ? ['--quick'] : []), ...parts], log);
}
