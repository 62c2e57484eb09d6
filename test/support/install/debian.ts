/** Debian packages, unpacked into a directory instead of installed: no root needed, the system stays as it is. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../src/store/embedded/process.ts';
import { cached, step } from '../../../src/store/embedded/cache.ts';

export const DEBIAN_TOOLS = {
  'apt-get': 'this part of the testbed is for Debian and its relatives',
  dpkg: 'this part of the testbed is for Debian and its relatives',
};

/** The package and those of its dependencies that the system lacks, downloaded into the directory. */
async function download(name: string, into: string, options: readonly string[]): Promise<boolean> {
  const plan = await run('apt-get', [...options, '-s', '--no-install-recommends', 'install', name], {
    cwd: into,
  });
  if (plan.code !== 0) return false;
  const lacking = [...plan.stdout.matchAll(/^Inst (\S+)/gm)].map(([, each]) => each ?? '');
  const packages = lacking.length > 0 ? lacking : [name];
  return (
    (await run('apt-get', [...options, 'download', ...packages], { cwd: into, timeoutMs: 300_000 })).code ===
    0
  );
}

/** Unpacks a package with what it needs. The system's package lists serve if they do; else fresh ones, kept apart from them. */
export async function unpackDebian(name: string, into: string): Promise<void> {
  const debs = join(into, 'debs');
  await mkdir(debs, { recursive: true });
  const sandbox = ['-o', 'APT::Sandbox::User=root'];
  if (!(await download(name, debs, sandbox))) {
    const lists = cached('apt', 'lists');
    const caches = cached('apt', 'cache');
    await mkdir(join(lists, 'partial'), { recursive: true });
    await mkdir(join(caches, 'archives', 'partial'), { recursive: true });
    const own = [...sandbox, '-o', `Dir::State::Lists=${lists}`, '-o', `Dir::Cache=${caches}`];
    await step('apt-get', [...own, 'update'], { timeoutMs: 300_000 });
    if (!(await download(name, debs, own)))
      throw new Error(`the Debian package ${name} cannot be downloaded`);
  }
  for (const deb of await readdir(debs)) await step('dpkg', ['-x', join(debs, deb), into]);
  await rm(debs, { recursive: true });
}
