/** Builds the console's pages; does nothing where they are built of the same sources already. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const sources = join(root, 'src/console/web');

/** Where a program that runs from a clone finds them (`src/console/http/assets.ts`). */
export const CLONE_PAGES = join(root, '.tmp/console-pages');

export async function buildPages(into = CLONE_PAGES): Promise<void> {
  const wanted = fingerprint();
  const stamp = join(into, '.sources');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const { build } = await import('vite');
  // Beside it first: whoever serves them meanwhile has the old ones whole, and of two builds one wins.
  const fresh = `${into}.${process.pid}`;
  await build({
    root: sources,
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: { outDir: fresh, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: false, target: 'es2024' },
  });
  writeFileSync(join(fresh, '.sources'), wanted);
  rmSync(into, { recursive: true, force: true });
  renameSync(fresh, into);
}

function fingerprint(): string {
  const hash = createHash('sha256');
  const files = globSync('**/*.{ts,tsx,css,html,svg}', { cwd: sources }).map((file) => join(sources, file));
  for (const file of [...files.toSorted(), join(root, 'package-lock.json')])
    hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}
