/** dnsperf as the source of queries, and what they cost the server. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspace } from '../../test/support/workspace.ts';
import type { DnsTools } from '../../test/integration/dns/tools.ts';
import type { Subject } from './servers.ts';

export type Kind = 'hit' | 'nodata' | 'nxdomain';

export interface Load {
  names: number;
  kind: Kind;
  seconds: number;
  /** Queries a second; as many as the server takes if absent. */
  rate?: number;
  /** Send a client cookie with every query. */
  cookie?: boolean;
  /** Note each query's latency. */
  latencies?: boolean;
}

export interface Outcome {
  completed: number;
  lost: number;
  perSecond: number;
  cpuMicros: number;
  p99Ms: number;
}

const folder = workspace('queries');
const LINES = 50_000;
const files = new Map<string, string>();

/** A file of questions in a random order that is the same in every run. */
function queryFile(names: number, kind: Kind): string {
  const known = files.get(`${names} ${kind}`);
  if (known !== undefined) return known;
  const file = join(folder, `${names}-${kind}`);
  let state = 1;
  const lines = Array.from({ length: LINES }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const host = `${kind === 'nxdomain' ? 'x' : 'h'}${(state >>> 4) % names}.example.test`;
    return `${host} ${kind === 'nodata' ? 'AAAA' : 'A'}\n`;
  });
  writeFileSync(file, lines.join(''));
  files.set(`${names} ${kind}`, file);
  return file;
}

/** CPU time of all threads of a process, in nanoseconds. */
export function cpuNanos(pid: number): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // the thread has just ended
    }
  }
  return sum;
}

/** Puts one load on one server. */
export async function measure(tools: DnsTools, subject: Subject, load: Load): Promise<Outcome> {
  const args = ['-s', '127.0.0.1', '-p', String(subject.port), '-d', queryFile(load.names, load.kind)];
  args.push('-l', String(load.seconds), '-e', '-c', '4', '-b', '2048', '-t', '2');
  if (load.rate !== undefined) args.push('-Q', String(load.rate));
  if (load.cookie) args.push('-E', '10:0102030405060708');
  if (load.latencies) args.push('-v');
  const before = cpuNanos(subject.pid);
  // Into a file: a pipe that is read late would hold dnsperf up, and latencies with it.
  const output = join(folder, 'output');
  const first = load.latencies ? await putFirst(tools, subject.pid) : [];
  const shell = ['-c', 'file=$1; shift; exec "$@" >"$file"', 'sh', output];
  const { stderr, code } = await tools.run('sh', [...shell, ...first, 'dnsperf', ...args]);
  const cpu = cpuNanos(subject.pid) - before;
  if (first.length > 0)
    await tools.run('chrt', ['--all-tasks', '--other', '--pid', '0', String(subject.pid)]);
  if (code !== 0) throw new Error(`dnsperf: ${stderr}`);
  const stdout = readFileSync(output, 'utf8');
  const figure = (name: string) =>
    Number(new RegExp(`${name}:\\s+([\\d.]+)`).exec(stdout)?.[1] ?? Number.NaN);
  const completed = figure('Queries completed');
  return {
    completed,
    lost: figure('Queries lost'),
    perSecond: figure('Queries per second'),
    cpuMicros: cpu / 1000 / completed,
    p99Ms: load.latencies ? percentile99(stdout) : Number.NaN,
  };
}

/**
 * Latency on a machine that has other work is that of its scheduler. Where it is allowed, the server (all its threads)
 * and dnsperf go before everything else; at the fixed rate both need little. Returns what to put before dnsperf.
 */
async function putFirst(tools: DnsTools, pid: number): Promise<string[]> {
  const { code } = await tools.run('chrt', ['--all-tasks', '--rr', '--pid', '1', String(pid)]);
  return code === 0 ? ['chrt', '--rr', '1'] : [];
}

/** dnsperf -v writes `> NOERROR name type seconds` for each answer. */
function percentile99(output: string): number {
  const latencies = Float64Array.from(
    [...output.matchAll(/^> \S+ \S+ \S+ ([\d.]+)/gm)].map(([, text]) => Number(text)),
  );
  latencies.sort();
  return (latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN) * 1000;
}
