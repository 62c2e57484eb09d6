/** The cache of installed programs, shared by all clones and processes of a user: `ISTHMUS_CACHE`. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { IsthmusError } from '../../ops/errors.ts';
import { lock } from './mutex.ts';
import { isAlive, run } from './process.ts';

const HEARTBEAT_MS = 20_000;

/** Something that is built or fetched once and then stays in the cache. */
export interface Installation {
  /** Its directory in the cache, with the version in the name. */
  name: string;
  /** What must be in the directory for it to be complete. */
  files: readonly string[];
  /** For the progress line: "building etcd 3.6.16 (about 1 min, once)". */
  doing: string;
  /** Programs that `make` runs, each with what to install when it is missing. */
  tools: Readonly<Record<string, string>>;
  /** Makes the missing `files` in an empty directory. */
  make: (into: string, missing: readonly string[]) => Promise<void>;
}

/** A path inside the cache. */
export function cached(...parts: string[]): string {
  const cache =
    process.env['ISTHMUS_CACHE'] ||
    join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'isthmus');
  return join(cache, ...parts);
}

function say(line: string): void {
  process.stderr.write(`isthmus: ${line}\n`);
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((directory) => existsSync(join(directory, program)));
}

/** Refuses with one line that says what to install. */
export function requireTools(tools: Readonly<Record<string, string>>): void {
  for (const [program, advice] of Object.entries(tools)) {
    if (!isOnPath(program))
      throw new IsthmusError('TOOL_MISSING', `${program} is not on the PATH; ${advice}`);
  }
}

async function withHeartbeat<T>(doing: string, work: () => Promise<T>): Promise<T> {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  say(`${doing} …`);
  const beat = setInterval(() => say(`${doing} … ${seconds()} s`), HEARTBEAT_MS);
  try {
    const result = await work();
    say(`${doing}: done in ${seconds()} s`);
    return result;
  } finally {
    clearInterval(beat);
  }
}

/** What processes that were killed had begun. */
async function removeLeftovers(home: string): Promise<void> {
  for (const entry of await readdir(dirname(home)).catch(() => [])) {
    const pid = entry.startsWith(`${basename(home)}.`)
      ? Number(entry.slice(basename(home).length + 1))
      : Number.NaN;
    if (pid > 0 && !isAlive(pid)) await rm(join(dirname(home), entry), { recursive: true, force: true });
  }
}

/** The directory of an installation, made first if anything of it is missing. Safe in several processes at once. */
export async function install(installation: Installation): Promise<string> {
  const { name, files, doing, tools, make } = installation;
  const home = cached(name);
  const missing = () => files.filter((file) => !existsSync(join(home, file)));
  if (missing().length === 0) return home;
  requireTools(tools);
  const held = await lock(`install ${home}`, () => say(`another process is ${doing}; waiting for it …`));
  const fresh = `${home}.${process.pid}`;
  try {
    const wanted = missing();
    if (wanted.length === 0) return home;
    await removeLeftovers(home);
    await mkdir(fresh, { recursive: true });
    await withHeartbeat(doing, () => make(fresh, wanted));
    await mkdir(home, { recursive: true });
    // A rename is whole or not at all, so that nobody ever sees half an installation.
    for (const entry of await readdir(fresh)) await rename(join(fresh, entry), join(home, entry));
    return home;
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await held.release();
  }
}

/** Runs one step of an installation and fails with the end of what it said. */
export async function step(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string | undefined>; timeoutMs?: number } = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { timeoutMs: 30 * 60_000, ...options });
  if (code === 0) return stdout;
  const end = `${stdout}\n${stderr}`.trim().split('\n').slice(-15).join('\n');
  const named = `${command} ${args.slice(0, 4).join(' ')}`;
  throw new IsthmusError('TOOL_FAILED', `${named} failed with code ${code}:\n${end}`);
}
