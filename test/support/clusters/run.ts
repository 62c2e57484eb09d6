/**
 * One run of the testbed on this machine, and what is left of runs that crashed. Everything a run makes outside its own
 * folder carries its name, and the name says who owns it (process id and start time): whether a leftover may be cleared
 * can be told from its name alone, without a record that could be lost or wrong.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cached } from '../../../src/store/embedded/cache.ts';
import { run as command } from '../../../src/store/embedded/process.ts';
import { messageOf } from '../../../src/ops/errors.ts';
import { cgroupsNamed, removeCgroup } from './cgroups.ts';

export interface Run {
  readonly name: string;
  /** Everything on disk that the run needs, but for the logs. */
  readonly directory: string;
}

const NAME = /^isthmus-(\d+)-(\d+)-\d+$/;
let opened = 0;

/**
 * When a process started, in clock ticks since boot: together with its id it names a process for good. Undefined if it
 * has ended, be it that its parent has not noticed yet.
 */
async function startTime(pid: number | 'self'): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the program's name in parentheses and may hold spaces. Then the state; the start is the 22nd.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields?.[19];
}

async function isOwned(name: string): Promise<boolean> {
  const [, pid, started] = NAME.exec(name) ?? [];
  return pid === undefined || (await startTime(Number(pid))) === started;
}

/** Files on which namespaces are mounted, of any run. */
async function pinnedNamespaces(): Promise<string[]> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const nsfs = mounts.split('\n').filter((line) => line.startsWith('nsfs '));
  return nsfs.map((line) => line.split(' ')[1] ?? '').filter((path) => NAME.test(runOf(path)));
}

/** `…/isthmus-1-2-3/namespaces/hub` belongs to the run isthmus-1-2-3. */
const runOf = (namespaceFile: string) => basename(dirname(dirname(namespaceFile)));

async function leftovers(): Promise<string[]> {
  const folders = await readdir(cached('clusters')).catch(() => []);
  const pins = (await pinnedNamespaces()).map(runOf);
  const names = new Set([...folders, ...pins, ...cgroupsNamed(NAME)].filter((name) => NAME.test(name)));
  const owned = await Promise.all([...names].map(isOwned));
  return [...names].filter((_, i) => !owned[i]);
}

/** Removes everything of a run. Its processes must have ended, or end with their namespaces. */
async function clear(name: string, directory: string): Promise<void> {
  await removeCgroup(name);
  for (const path of await pinnedNamespaces())
    if (runOf(path) === name) await command('umount', ['--lazy', path]);
  await rm(directory, { recursive: true, force: true, maxRetries: 10 });
}

/** Clears what crashed runs left, and nothing of runs that are alive. Returns their names. */
export async function clearLeftovers(): Promise<string[]> {
  const cleared: string[] = [];
  for (const name of await leftovers())
    try {
      await clear(name, cached('clusters', name));
      cleared.push(name);
    } catch (error) {
      // Names and networks of a new run are its own: this is untidy, and in nobody's way.
      process.stderr.write(`isthmus: ${name} cannot be cleared: ${messageOf(error)}\n`);
    }
  return cleared;
}

/** A new run of this process. */
export async function openRun(): Promise<Run> {
  opened += 1;
  const name = `isthmus-${process.pid}-${await startTime('self')}-${opened}`;
  const directory = cached('clusters', name);
  await mkdir(join(directory, 'namespaces'), { recursive: true });
  return { name, directory };
}

/** Ends a run whose processes have been stopped. */
export async function closeRun({ name, directory }: Run): Promise<void> {
  await clear(name, directory);
  if (existsSync(directory)) throw new Error(`the run's folder ${directory} cannot be removed`);
}
