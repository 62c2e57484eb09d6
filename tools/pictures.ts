/** `npm run pictures`: the pictures of the console in the documentation, made anew by the test that looks at every view in a real browser. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const pictures = join(root, 'docs/pictures');
mkdirSync(pictures, { recursive: true });
const test = [join(root, 'tools/test.ts'), 'integration', 'console/console'];
const { status } = spawnSync(process.execPath, test, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ISTHMUS_PICTURES: pictures },
});
process.exitCode = status ?? 1;
