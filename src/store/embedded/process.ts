/** Child processes: commands that end by themselves, and servers that are stopped. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  stdin?: string | undefined;
  env?: Record<string, string | undefined>;
  cwd?: string;
  timeoutMs?: number;
}

/** A server that was started: it runs until `stop`, or until it or this process dies. */
export interface Server {
  readonly name: string;
  readonly pid: number;
  readonly running: boolean;
  /** How it ended, once it has; 137 after a signal. */
  readonly exitCode: number | undefined;
  readonly logFile: string;
  /** Sends the signal and waits for the end; after `graceMs` it is killed. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
}

/**
 * The kernel ends a child when its parent dies, however it dies; a handler for 'exit' misses SIGKILL and SIGTERM.
 * The pid stays the child's own, because setpriv executes the command in its place.
 */
const TIE_TO_PARENT: readonly string[] =
  spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true'], { stdio: 'ignore' }).status === 0
    ? ['setpriv', '--pdeathsig', 'KILL']
    : [];

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

function start(command: string, args: readonly string[], options: Parameters<typeof spawn>[2]): ChildProcess {
  const [program, ...rest] = [...TIE_TO_PARENT, command, ...args];
  const child = spawn(program ?? command, rest, options);
  alive.add(child);
  child.once('exit', () => alive.delete(child));
  child.once('error', () => alive.delete(child));
  return child;
}

/** Runs a command to its end and returns what it said. A non-zero code is a result, not an exception. */
export async function run(
  command: string,
  args: readonly string[],
  { stdin, env, cwd, timeoutMs = 120_000 }: RunOptions = {},
): Promise<Finished> {
  const child = start(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin?.on('error', () => {}); // a command may end without reading its input
  child.stdin?.end(stdin ?? '');
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    const stderr =
      Buffer.concat(err).toString() + (late ? `\n${command}: no end within ${timeoutMs} ms` : '');
    return { code: code ?? 137, stdout: Buffer.concat(out).toString(), stderr };
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a server whose output goes (appended) to a file. */
export function startServer(
  name: string,
  command: string,
  args: readonly string[],
  { logFile, env, cwd }: { logFile: string; env?: Record<string, string | undefined>; cwd?: string },
): Server {
  const log = openSync(logFile, 'a');
  const child = start(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', log, log] });
  closeSync(log);
  child.once('error', () => {}); // reported as "not running" by whoever waits for it
  const ended = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  return {
    name,
    logFile,
    get pid() {
      return child.pid ?? 0;
    },
    get running() {
      return !ended();
    },
    get exitCode() {
      return ended() ? (child.exitCode ?? 137) : undefined;
    },
    async stop(signal = 'SIGTERM', graceMs = 20_000) {
      if (ended()) return;
      const exit = once(child, 'exit');
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exit;
      clearTimeout(timer);
    },
  };
}

/** Asks again until the answer is something; `abort` may say why waiting is pointless. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | undefined | false>,
  {
    timeoutMs = 120_000,
    everyMs = 50,
    abort,
  }: { timeoutMs?: number; everyMs?: number; abort?: () => string | undefined } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const reason = abort?.();
    if (reason !== undefined) throw new Error(`${what}: ${reason}`);
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await delay(everyMs);
  }
}

/** The first and last lines of a long complaint. */
export function excerpt(text: string): string {
  const lines = text.trim().split('\n');
  return lines.length <= 8 ? lines.join('\n') : [...lines.slice(0, 4), '…', ...lines.slice(-4)].join('\n');
}

/** Whether there is a process of this id, even a stranger's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Resident memory of a process. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
