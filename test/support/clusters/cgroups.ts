/**
 * The cgroups below which a run's kubelets put their pods: one folder named after the run in every hierarchy. Both
 * layouts of /sys/fs/cgroup are served: one hierarchy for each controller (v1), and one for all (v2).
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '../../../src/store/embedded/process.ts';

const ROOT = '/sys/fs/cgroup';
/** Hierarchies of v1 that kubelet and runc use; the unified one beside them has no controllers. */
const CONTROLLERS = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'systemd'];

const isUnified = () => existsSync(join(ROOT, 'cgroup.controllers'));

function hierarchies(): string[] {
  if (isUnified()) return [ROOT];
  return [...CONTROLLERS, 'unified'].map((name) => join(ROOT, name)).filter((path) => existsSync(path));
}

/** Names of top-level cgroups that match. */
export function cgroupsNamed(pattern: RegExp): string[] {
  return [...new Set(hierarchies().flatMap((path) => readdirSync(path)))].filter((name) =>
    pattern.test(name),
  );
}

/** A v1 cpuset starts without processors and memory, and nothing can run in it until it has both. */
async function giveProcessors(folder: string, from: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    await writeFile(join(folder, file), readFileSync(join(from, file)));
}

/** In v2 a cgroup has the controllers that its parent hands down. */
async function handDownControllers(folder: string): Promise<void> {
  const controllers = (await readFile(join(folder, 'cgroup.controllers'), 'utf8')).trim().split(' ');
  await writeFile(join(folder, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '));
}

/** Makes the cgroup `<run>/<name>` in every hierarchy and returns its path as kubelet spells it. */
export async function makeCgroup(run: string, name: string): Promise<string> {
  for (const hierarchy of hierarchies()) {
    let parent = hierarchy;
    for (const part of [run, name]) {
      const folder = join(parent, part);
      await mkdir(folder, { recursive: true });
      if (hierarchy.endsWith('/cpuset')) await giveProcessors(folder, parent);
      if (isUnified()) await handDownControllers(parent);
      parent = folder;
    }
  }
  return `/${run}/${name}`;
}

async function processes(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

/** Ends what still runs in the cgroup and removes it with all below it; false while something lives. */
async function tryRemove(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map((entry) => tryRemove(join(folder, entry.name))),
  );
  for (const pid of await processes(folder)) {
    try {
      process.kill(pid, 'SIGKILL'); // in a cgroup of ours, so it is one of ours
    } catch {
      // it has just ended
    }
  }
  if (below.includes(false)) return false;
  return rmdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}

/** Removes the cgroup of this path from every hierarchy, ending what still runs in it. */
export async function removeCgroup(path: string): Promise<void> {
  for (const hierarchy of hierarchies())
    await waitFor(`removal of the cgroup ${path}`, () => tryRemove(join(hierarchy, path)), {
      timeoutMs: 120_000,
    });
}
