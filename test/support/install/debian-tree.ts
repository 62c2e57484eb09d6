/** Several Debian packages unpacked into one tree of the cache, and the environment in which its programs run. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DEBIAN_TOOLS, unpackDebian } from './debian.ts';
import { MACHINE, PLATFORMS } from '../../../deploy/image/platform.ts';
import { install } from '../../../src/store/embedded/cache.ts';

/** The tree into which these packages, and what they need beyond the system, are unpacked. */
export async function ensureDebianTree(name: string, packages: readonly string[]): Promise<string> {
  const wanted = createHash('sha256').update(packages.toSorted().join(' ')).digest('hex').slice(0, 8);
  const home = await install({
    name: `debian-${name}-${wanted}`,
    files: ['root'],
    doing: `fetching the Debian packages ${packages.join(', ')} (about 20 s, once)`,
    tools: DEBIAN_TOOLS,
    async make(into) {
      for (const each of packages) await unpackDebian(each, join(into, 'root'));
    },
  });
  return join(home, 'root');
}

/** Environment in which the programs of the trees find one another and their libraries. */
export function debianEnvironment(...trees: string[]): Record<string, string> {
  const folders = ['usr/sbin', 'usr/bin', 'sbin', 'bin'];
  const programs = trees.flatMap((tree) => folders.map((folder) => join(tree, folder)));
  const libraries = trees.flatMap((tree) => [
    join(tree, 'usr/lib', PLATFORMS[MACHINE].libraries),
    join(tree, 'lib', PLATFORMS[MACHINE].libraries),
  ]);
  return {
    PATH: [...programs, process.env['PATH'] ?? ''].join(':'),
    LD_LIBRARY_PATH: libraries.join(':'),
    XTABLES_LIBDIR: libraries.map((folder) => join(folder, 'xtables')).join(':'),
  };
}
