/**
 * Temporary directories of a test process. All are below one directory, which goes when the process ends well and stays,
 * with its path printed, when a test failed: the servers' logs are in it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

let root: string | undefined;
let made = 0;

function rootDirectory(): string {
  if (root !== undefined) return root;
  const script = basename(process.argv[1] ?? 'repl').replace(/\.[a-z.]+$/, '');
  const directory = mkdtempSync(join(tmpdir(), `isthmus-${script}-`));
  process.once('exit', (code) => {
    // Again where a server that has just been killed wrote its last file meanwhile.
    if (code === 0 && !process.env['ISTHMUS_KEEP'])
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    else process.stderr.write(`isthmus: logs kept in ${directory}\n`);
  });
  root = directory;
  return directory;
}

/** A new empty directory. `ISTHMUS_KEEP=1` keeps it even when all went well. */
export function workspace(name: string): string {
  made += 1;
  const directory = join(rootDirectory(), `${name}-${made}`);
  mkdirSync(directory, { recursive: true });
  return directory;
}
