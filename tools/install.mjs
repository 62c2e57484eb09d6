// Installs what this project needs, pinned: Node from the platform packages of npm, and the packages of the lock file. Install
// scripts never run. Plain JavaScript without dependencies, because it must start on any Node that npm itself runs on.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const root = resolve(here, '..');

/** Where everything is kept that is fetched or built once. */
export const cache =
  process.env.ISTHMUS_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'isthmus');

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

function fail(message) {
  process.stderr.write(`isthmus: ${message}\n`);
  process.exit(1);
}

function npm(args, cwd) {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const done = spawnSync('npm', [...args, ...options], { cwd, stdio: ['ignore', 2, 2] });
  if (done.error?.code === 'ENOENT') fail('npm is not on the PATH. Install it, e.g. `apt-get install npm`.');
  if (done.status !== 0) fail(`npm ${args.join(' ')} failed (see above). Is the npm registry reachable?`);
}

/** The npm package that has Node for this platform, with its version and integrity, as tools/node/package-lock.json pins it. */
export function nodePackage(platform = process.platform, arch = process.arch) {
  const { packages } = read(join(here, 'node/package-lock.json'));
  const found = Object.entries(packages).find(([, { os, cpu }]) => os === platform && cpu === arch);
  if (!found) fail(`npm has no package with Node for ${platform} on ${arch}; install Node 26 yourself`);
  const [path, { version, integrity, bin }] = found;
  return { name: path.slice('node_modules/'.length), version, integrity, binary: join(path, bin.node) };
}

/** The path of the pinned Node, fetched into the cache first if it is not there: that of this machine if not told otherwise. */
export function pinnedNode(platform = process.platform, arch = process.arch) {
  const { name, version, binary } = nodePackage(platform, arch);
  const home = join(cache, `${name}-${version}`);
  const path = join(home, binary);
  if (existsSync(path)) return path;
  process.stderr.write(`isthmus: installing Node ${version} into ${home} (once, about 15 s) …\n`);
  const fresh = `${home}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(here, 'node', file), join(fresh, file));
  const isForeign = platform !== process.platform || arch !== process.arch;
  npm(['ci', ...(isForeign ? [`--os=${platform}`, `--cpu=${arch}`] : [])], fresh);
  try {
    renameSync(fresh, home);
  } catch {
    rmSync(fresh, { recursive: true, force: true }); // another run was quicker
  }
  return existsSync(path) ? path : fail(`the npm package ${name}@${version} brought no binary`);
}

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/**
 * Why a lock file does not fit, as `npm ci` would find it: what package.json asks for is not what is locked, or what was
 * installed is not. Optional packages of other platforms may be missing from the lock, as in one that was written where the
 * registry has none of them; that is why `npm ci` itself cannot be used.
 */
export function lockProblems(packageJson, lock, installed) {
  const locked = lock.packages[''] ?? {};
  const asked = KINDS.filter((kind) => canonical(packageJson[kind]) !== canonical(locked[kind])).map(
    (kind) => `package-lock.json has other ${kind} than package.json`,
  );
  const differing = Object.entries(installed?.packages ?? {}).flatMap(([path, { version, integrity }]) => {
    const wanted = lock.packages[path];
    if (!wanted) return [`${path} is installed, but not in package-lock.json`];
    if (wanted.version !== version || wanted.integrity !== integrity)
      return [`${path} is not what package-lock.json says`];
    return wanted.integrity || wanted.link ? [] : [`${path} has no integrity in package-lock.json`];
  });
  const missing = installed
    ? Object.entries(lock.packages).flatMap(([path, { optional, peer }]) =>
        path === '' || optional || peer || installed.packages[path] ? [] : [`${path} was not installed`],
      )
    : [];
  return [...asked, ...differing, ...missing];
}

function canonical(dependencies = {}) {
  const entries = Object.entries(dependencies);
  // oxlint-disable-next-line unicorn/no-array-sort -- not every Node that this has to start on has toSorted
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Installs the packages of package-lock.json unless exactly these are installed already. */
export function ensurePackages() {
  const text = readFileSync(join(root, 'package-lock.json'));
  const wanted = createHash('sha256').update(text).digest('hex');
  const packageJson = read(join(root, 'package.json'));
  const check = (installed) => {
    const problems = lockProblems(packageJson, JSON.parse(text), installed);
    if (problems.length > 0)
      fail(`${problems.join('; ')}. Run \`npm install --ignore-scripts\` and look at what it changes.`);
  };
  check();
  const stamp = join(root, 'node_modules/.isthmus-lock');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('isthmus: installing npm packages (about 40 s) …\n');
  npm(['install', '--no-save'], root);
  check(read(join(root, 'node_modules/.package-lock.json')));
  writeFileSync(stamp, wanted);
}
