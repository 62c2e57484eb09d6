/** Small C programs of the testbed's own, linked statically so that they run anywhere. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { install, step } from '../../../src/store/embedded/cache.ts';

/** The path of the program built from this source file. */
export async function ensureC(source: string): Promise<string> {
  const program = basename(source, '.c');
  const version = createHash('sha256')
    .update(await readFile(source))
    .digest('hex')
    .slice(0, 8);
  const home = await install({
    name: `${program}-${version}`,
    files: [program],
    doing: `compiling ${program} (a second, once)`,
    tools: { gcc: 'install a C compiler, e.g. `apt-get install gcc libc6-dev`' },
    make: async (into) => {
      await step('gcc', ['-O2', '-Wall', '-Wextra', '-Werror', '-static', '-o', join(into, program), source]);
    },
  });
  return join(home, program);
}
