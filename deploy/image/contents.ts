/**
 * The isthmus image: the one list of what is in it. `build.ts` turns it into an archive, or into the folder that the
 * Containerfile copies. Node as npm's platform package has it, the libraries it is linked with (glibc and the like, of the
 * machine that builds the image, or of Debian where the image is for another processor; `sbom.ts` says of which package each is), the
 * program as plain JavaScript, the packages it needs at run time, none of which has native code, and the metrics reporter for brokers; no shell, no package manager, nothing writable, nobody but an
 * unprivileged user. 168 MB, of which Node is 150; 62 MB as registries keep it, compressed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pinnedNode } from '../../tools/install.mjs';
import { ensureDebianLibraries } from './debian-libraries.ts';
import type { Image } from './image.ts';
import { ensureMetricsReporter } from './metrics-reporter.ts';
import { MACHINE, PLATFORMS, isMachine } from './platform.ts';
import type { Architecture } from './platform.ts';
import type { Content } from './tree.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The customary "nonroot" of images without a distribution. */
const USER = 65532;

/** Nobody reads these at run time. */
const NOT_NEEDED = /(\.d\.[cm]?ts|\.map|\.md|\.markdown|\.flow|\/(test|tests|docs|benchmarks?|examples))$/;

interface LockedPackage {
  version: string;
  integrity?: string;
  license?: string;
  dev?: boolean;
}

/** The packages that package.json's `dependencies` lead to, by their folders, as the lock file has them. */
export function packages(): [path: string, locked: LockedPackage][] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  return Object.entries(lock.packages).filter(
    ([path, { dev }]) => path !== '' && !dev && existsSync(join(ROOT, path)),
  );
}

/** What the program reads besides its code and packages, where the tree has it. */
const DATA = ['deploy/crds'];

/** Not the Node that runs this, which may be anybody's. */
async function nodeFor(architecture: Architecture): Promise<Content> {
  const program = pinnedNode('linux', PLATFORMS[architecture].cpu);
  const roots = isMachine(architecture) ? undefined : await ensureDebianLibraries(architecture);
  return { program, to: '/usr/local/bin/node', ...(roots && { roots }) };
}

function contents(node: Content, dist: string, metricsReporter: string): Content[] {
  return [
    node,
    { copy: dist, to: '/app/dist', except: /\.map$/ },
    { copy: join(ROOT, 'package.json'), to: '/app/package.json' },
    ...packages().map(([path]) => ({ copy: join(ROOT, path), to: `/app/${path}`, except: NOT_NEEDED })),
    ...DATA.filter((path) => existsSync(join(ROOT, path))).map((path) => ({
      copy: join(ROOT, path),
      to: `/app/${path}`,
    })),
    // For the brokers that the operator runs: a container of their pods copies it (control/brokers/objects/metrics.ts).
    { copy: metricsReporter, to: '/app/metrics-reporter' },
    { text: `isthmus:x:${USER}:${USER}::/:/none\n`, to: '/etc/passwd' },
    { text: `isthmus:x:${USER}:\n`, to: '/etc/group' },
    { text: 'hosts: files dns\n', to: '/etc/nsswitch.conf' },
    { directory: '/tmp', mode: 0o1777 },
  ];
}

/** The image under this name, from the JavaScript in `dist`. */
export async function isthmusImage(
  name: string,
  dist: string = join(ROOT, 'dist'),
  architecture: Architecture = MACHINE,
): Promise<Image> {
  return {
    name,
    architecture,
    contents: contents(await nodeFor(architecture), dist, await ensureMetricsReporter()),
    entrypoint: ['/usr/local/bin/node', '/app/dist/main.js'],
    environment: { NODE_ENV: 'production' },
    user: `${USER}:${USER}`,
    workdir: '/app',
  };
}
