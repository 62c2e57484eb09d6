/**
 * Our proxy beside a direct connection, Kroxylicious 0.12.0 and haproxy, in one run, rounds interleaved, in a network
 * namespace of its own: nothing of it can be reached from outside, and it is gone when the run ends.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { ensureKafka } from '../test/support/install/kafka.ts';
import { ensureKroxylicious } from '../test/support/install/kroxylicious.ts';
import { requireTools } from '../src/store/embedded/cache.ts';
import type { BenchOptions, BenchResult } from './main.ts';
import { ensureHaproxy } from './proxy/haproxy.ts';
import { buildProgram } from './proxy/program.ts';

const INSIDE = join(import.meta.dirname, 'proxy/inside.ts');

/** Runs the benchmark. What it needs is fetched first, since inside the namespace there is no network. */
export async function run({ quick, log }: BenchOptions): Promise<BenchResult> {
  requireTools({
    unshare: 'install util-linux',
    ip: 'install iproute2',
  });
  await ensureKafka();
  await ensureKroxylicious();
  await ensureHaproxy();
  log('building our program as it is shipped');
  const program = await buildProgram();
  const isolate = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];
  const command = [...isolate, process.execPath, INSIDE, program, ...(quick ? ['--quick'] : [])];
  const child = spawn('unshare', command, { stdio: ['ignore', 'pipe', 'pipe'] });
  createInterface({ input: child.stderr }).on('line', log);
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the benchmark failed with code ${code}; see above`);
  return JSON.parse(Buffer.concat(output).toString()) as BenchResult;
}
