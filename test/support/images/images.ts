/** The images that pods of the testbed run, each made once and kept in the cache as an archive to import. */
import { createHash } from 'node:crypto';
import { readFile, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writeArchive } from '../../../deploy/image/archive.ts';
import type { Image } from '../../../deploy/image/image.ts';
import { isthmusImage } from '../../../deploy/image/contents.ts';
import { treeOf } from '../../../deploy/image/tree.ts';
import { cached, install, step } from '../../../src/store/embedded/cache.ts';
import { workspace } from '../workspace.ts';
import { KAFKA_IMAGE, kafkaImage } from './kafka.ts';
import { REFERENCES, SMALL_IMAGES } from './small.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const IN_USE_MS = 15 * 60_000;
/** Digits with which the name of what is made of an image ends. */
const FINGERPRINT = 12;

/** What a pod's `image` says for each. */
export const IMAGES = {
  ...REFERENCES,
  kafka: KAFKA_IMAGE,
  isthmus: 'registry.test/isthmus:test',
} as const;

export type ImageName = keyof typeof IMAGES;

/** Changes when anything in the image does. */
export async function fingerprint(image: Image): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify({ ...image, contents: [] }));
  for (const entry of treeOf(image.contents)) {
    hash.update(JSON.stringify({ ...entry, source: undefined }));
    // Large files are binaries and jars: place and size tell their versions apart.
    if (entry.type === 'file' && entry.size < 1_000_000) hash.update(await readFile(entry.source));
  }
  return hash.digest('hex').slice(0, FINGERPRINT);
}

/** The program as JavaScript, unchecked: whether the types are right is for `npm test` to say. */
async function emit(): Promise<string> {
  const dist = workspace('dist');
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const project = ['-p', join(ROOT, 'tsconfig.build.json')];
  await step(process.execPath, [compiler, ...project, '--noCheck', '--outDir', dist]);
  return dist;
}

async function describe(name: ImageName): Promise<Image> {
  if (name === 'kafka') return kafkaImage();
  if (name === 'isthmus') return isthmusImage(IMAGES.isthmus, await emit());
  return SMALL_IMAGES[name]();
}

/** Removes what was made of former contents, each as heavy as its image, once nobody can be using it any more. */
export async function removeFormer(current: string): Promise<void> {
  const common = current.slice(0, -FINGERPRINT);
  const isFormer = (entry: string) =>
    entry !== current && entry.startsWith(common) && /^[0-9a-f]{12}$/.test(entry.slice(common.length));
  const former = (await readdir(cached())).filter(isFormer);
  for (const entry of former) {
    const found = await stat(cached(entry)).catch(() => undefined); // somebody else removes them, too
    if (found && Date.now() - found.mtimeMs > IN_USE_MS)
      await rm(cached(entry), { recursive: true, force: true });
  }
}

/** The path of the image's archive, made first if it is missing or its contents have changed. */
export async function ensureImage(name: ImageName): Promise<string> {
  const image = await describe(name);
  const directory = `image-${name}-${await fingerprint(image)}`;
  const home = await install({
    name: directory,
    files: ['image.tar'],
    doing: `building the image ${image.name} (some seconds, once)`,
    tools: {},
    make: async (into) => {
      await writeArchive(image, join(into, 'image.tar'));
    },
  });
  await utimes(home, new Date(), new Date()); // in use
  await removeFormer(directory);
  return join(home, 'image.tar');
}
