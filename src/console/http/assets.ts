/** The pages, as they were built. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export interface Asset {
  type: string;
  body: Buffer;
  gzipped: Buffer;
  /** Its name has a hash of what is in it. */
  isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Beside the program where it is built; in a clone, where `npm run up` puts them (`tools/console-pages.ts`). */
export function pagesFolder(): string {
  const here = fileURLToPath(new URL('.', import.meta.url));
  return import.meta.url.endsWith('.ts') ? join(here, '../../../.tmp/console-pages') : join(here, '../pages');
}

/** All files by their path; none where nothing was built. */
export function readAssets(folder: string): ReadonlyMap<string, Asset> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return new Map(
    files.flatMap(({ parentPath, name }): [string, Asset][] => {
      const type = TYPES[extname(name)];
      if (type === undefined) return [];
      const file = join(parentPath, name);
      const path = `/${file.slice(folder.length + 1).replaceAll('\\', '/')}`;
      const body = readFileSync(file);
      return [[path, { type, body, gzipped: gzipSync(body), isImmutable: path.startsWith('/assets/') }]];
    }),
  );
}
