/** `npm run build`: the program as plain JavaScript in dist/, because Node does not strip types under node_modules. */
import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
rmSync(join(root, 'dist'), { recursive: true, force: true });
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (status === 0) chmodSync(join(root, 'dist/main.js'), 0o755);
process.exitCode = status ?? 1;
