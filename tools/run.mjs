// Runs `node ARGS…` on the Node that this project wants, with its npm packages installed: whatever is missing is
// fetched first. Plain JavaScript without dependencies, because it must start on any Node that npm itself runs on.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const NODE_VERSION = '26.10.0';
const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const cache =
  process.env.ISTHMUS_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'isthmus');

function npm(args, cwd) {
  const done = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    stdio: ['ignore', 2, 2],
  });
  if (done.error?.code === 'ENOENT') fail('npm is not on the PATH. Install it, e.g. `apt-get install npm`.');
  if (done.status !== 0) fail(`npm ${args.join(' ')} failed (see above). Is the npm registry reachable?`);
}

function fail(message) {
  process.stderr.write(`isthmus: ${message}\n`);
  process.exit(1);
}

/** The path of a Node that is new enough: this one, or one from the npm package `node`, kept in the cache. */
function ensureNode() {
  if (Number(process.versions.node.split('.')[0]) >= 26) return process.execPath;
  const home = join(cache, `node-${NODE_VERSION}`);
  const binary = join(home, 'node_modules/node/bin/node');
  if (existsSync(binary)) return binary;
  process.stderr.write(`isthmus: installing Node ${NODE_VERSION} into ${home} (once, about 15 s) …\n`);
  const fresh = `${home}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  npm(['install', '--prefix', fresh, '--no-save', `node@${NODE_VERSION}`], fresh);
  try {
    renameSync(fresh, home);
  } catch {
    rmSync(fresh, { recursive: true, force: true }); // another run was quicker
  }
  return existsSync(binary)
    ? binary
    : fail(`the npm package node@${NODE_VERSION} brought no binary for this platform`);
}

/** Installs the packages of package-lock.json unless exactly these are installed already. */
function ensurePackages() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const stamp = join(root, 'node_modules/.isthmus-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('isthmus: installing npm packages (about 40 s) …\n');
  // Not `npm ci`: it refuses a lock file that lacks the optional packages of other platforms, as one written where the
  // registry has no such packages does. This installs the locked versions just the same and leaves the lock file alone.
  npm(['install', '--no-save'], root);
  writeFileSync(stamp, wanted);
}

const node = ensureNode();
ensurePackages();
const child = spawn(node, ['--disable-warning=ExperimentalWarning', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ISTHMUS_CACHE: cache },
});
process.on('SIGINT', () => {}); // the terminal sends it to the child too; wait for its tidy end
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
