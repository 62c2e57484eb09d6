// Runs `node ARGS…` on the Node that this project wants, with its npm packages installed: whatever is missing is
// fetched first. Plain JavaScript without dependencies, because it must start on any Node that npm itself runs on.
import { spawn } from 'node:child_process';
import { cache, ensurePackages, pinnedNode } from './install.mjs';

const isNewEnough = Number(process.versions.node.split('.')[0]) >= 26;
const node = isNewEnough ? process.execPath : pinnedNode();
ensurePackages();
const child = spawn(node, ['--disable-warning=ExperimentalWarning', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ISTHMUS_CACHE: cache },
});
process.on('SIGINT', () => {}); // the terminal sends it to the child too; wait for its tidy end
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
