/** kcat, the C client's command line: the one on the PATH, or Debian's. */
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../../src/store/embedded/process.ts';
import { DEBIAN_TOOLS, unpackDebian } from './debian.ts';
import { install } from '../../../src/store/embedded/cache.ts';

export interface Kcat {
  program: string;
  env: Record<string, string>;
}

/** How to run kcat. */
export async function ensureKcat(): Promise<Kcat> {
  if ((await run('kcat', ['-V']).catch(() => undefined))?.code === 0) return { program: 'kcat', env: {} };
  const home = await install({
    name: 'kcat-debian',
    files: ['usr'],
    doing: 'fetching kcat (some seconds, once)',
    tools: DEBIAN_TOOLS,
    make: (into) => unpackDebian('kcat', into),
  });
  const libraries = globSync(join(home, 'usr/lib/*-linux-*')).filter((path) => existsSync(path));
  return { program: join(home, 'usr/bin/kcat'), env: { LD_LIBRARY_PATH: libraries.join(':') } };
}
