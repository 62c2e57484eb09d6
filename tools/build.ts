/** `npm run build`: the program as plain JavaScript in dist/, because Node does not strip types under node_modules. */
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildPages } from './console-pages.ts';

const root = resolve(import.meta.dirname, '..');
rmSync(join(root, 'dist'), { recursive: true, force: true });
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const run = (...args: string[]) =>
  spawnSync(process.execPath, [tsc, ...args], { cwd: root, stdio: 'inherit' }).status;
// The types of the filter API, for packages with filters in them, and of nothing else.
const status = run('-p', 'tsconfig.build.json') || run('-p', 'tsconfig.filter.json');
if (status === 0) {
  chmodSync(join(root, 'dist/main.js'), 0o755);
  await buildPages(join(root, 'dist/console/pages'));
}
process.exitCode = status ?? 1;
