/** Runs a benchmark's inner part in a network namespace with nothing else in it, which is gone when the run ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { requireTools } from '../../src/store/embedded/cache.ts';
import { run } from '../../src/store/embedded/process.ts';
import type { BenchResult } from '../main.ts';

/** Ports below the ones that outgoing connections take. */
const LOCAL_PORTS = '33000 60999';

/** Runs a script there; it prints its result as one line of JSON, and what it is at on standard error. */
export async function runInNamespace(
  script: string,
  args: readonly string[],
  log: (line: string) => void,
): Promise<BenchResult> {
  requireTools({
    unshare: 'install util-linux',
    chrt: 'install util-linux',
    ip: 'install iproute2',
  });
  const isolate = ['--net', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];
  const child = spawn('unshare', [...isolate, process.execPath, script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  createInterface({ input: child.stderr }).on('line', log);
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the benchmark failed with code ${code}; see above`);
  return JSON.parse(Buffer.concat(output).toString()) as BenchResult;
}

/** What the script does first. */
export async function prepareNetwork(): Promise<void> {
  const { code, stderr } = await run('ip', ['link', 'set', 'lo', 'up']);
  if (code !== 0) throw new Error(`the namespace has no loopback: ${stderr}`);
  writeFileSync('/proc/sys/net/ipv4/ip_local_port_range', LOCAL_PORTS);
}
