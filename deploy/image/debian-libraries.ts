/**
 * The libraries that Node is linked with, for another processor than this machine's: from the packages of the same Debian, each
 * unpacked into a folder of its own. apt fetches them by the sources of this machine and checks them (signed lists, a hash for each
 * package), with a state of its own: what is installed here has no part in it, and stays as it is.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, install, step } from '../../src/store/embedded/cache.ts';
import { run } from '../../src/store/embedded/process.ts';
import type { Architecture } from './platform.ts';

const PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6', 'libatomic1'];
const ADVICE = 'images for another processor than this machine’s are built on Debian and its relatives';

/** The folders that the packages are unpacked into, fetched if they are not there yet. */
export async function ensureDebianLibraries(architecture: Architecture): Promise<string[]> {
  const home = await install({
    name: `libraries-${architecture}-${await installedVersions()}`,
    files: ['packages'],
    doing: `fetching the libraries of Node for ${architecture} from Debian (about 20 s, once)`,
    tools: { 'apt-get': ADVICE, dpkg: ADVICE },
    make: (into) => fetchPackages(architecture, into),
  });
  const folder = join(home, 'packages');
  return (await readdir(folder)).map((name) => join(folder, name));
}

/** Changes when this machine's own are upgraded, so that those of its images do not grow old apart from them. */
async function installedVersions(): Promise<string> {
  const told = await run('dpkg-query', ['-W', '-f', '${Package} ${Version}\n', ...PACKAGES]).catch(
    () => undefined,
  );
  return createHash('sha256')
    .update(told?.stdout ?? '')
    .digest('hex')
    .slice(0, 12);
}

async function fetchPackages(architecture: Architecture, into: string): Promise<void> {
  const apt = await aptFor(architecture, into);
  const debs = join(into, 'debs');
  await mkdir(debs);
  await step('apt-get', [...apt, 'update'], { timeoutMs: 300_000 });
  await step('apt-get', [...apt, 'download', ...PACKAGES], { cwd: debs, timeoutMs: 300_000 });
  for (const deb of await readdir(debs))
    await step('dpkg', ['-x', join(debs, deb), join(into, 'packages', deb.replace(/\.deb$/, ''))]);
  for (const each of ['apt', 'debs']) await rm(join(into, each), { recursive: true });
}

/** The options by which apt is of another processor and keeps what it knows in this folder. */
async function aptFor(architecture: Architecture, folder: string): Promise<string[]> {
  const [lists, archives] = [join(folder, 'apt/lists'), join(folder, 'apt/cache/archives')];
  for (const each of [lists, archives]) await mkdir(join(each, 'partial'), { recursive: true });
  await mkdir(join(folder, 'packages'));
  const status = join(folder, 'apt/status');
  await writeFile(status, '');
  const options = {
    'APT::Sandbox::User': 'root',
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'Dir::State': join(folder, 'apt'),
    'Dir::State::Lists': lists,
    'Dir::State::status': status,
    'Dir::Cache': join(folder, 'apt/cache'),
  };
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** The package that a file was unpacked from; undefined for others. */
export function unpackedOrigin(file: string): string | undefined {
  if (!file.startsWith(cached('libraries-'))) return undefined;
  // The name of a .deb file is that of the package, its version and its architecture.
  const [, name, version, architecture] = /\/packages\/([^/_]+)_([^/_]+)_([^/_]+)\//.exec(file) ?? [];
  return name && `pkg:deb/${name}@${version}?arch=${architecture}`;
}
