/** An image unpacked into a folder of the cache: the root file system of containers that are run without a container runtime. */
import { copyFile, chmod, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Image } from '../../../deploy/image/image.ts';
import { treeOf } from '../../../deploy/image/tree.ts';
import { install } from '../../../src/store/embedded/cache.ts';
import { fingerprint, removeFormer } from './images.ts';

/** A folder that must not be written to: all who run the image share it. */
export interface ImageRoot {
  folder: string;
  image: Image;
}

async function unpack({ contents }: Image, into: string): Promise<void> {
  await mkdir(into);
  for (const entry of treeOf(contents)) {
    const path = join(into, entry.path);
    if (entry.type === 'directory') await mkdir(path, { recursive: true });
    else if (entry.type === 'link') await symlink(entry.target, path);
    else if (entry.type === 'text') await writeFile(path, entry.text);
    else await copyFile(entry.source, path);
    if (entry.type !== 'link') await chmod(path, entry.mode);
  }
}

/** The image's root file system, unpacked first if it is not yet or its contents have changed. */
export async function ensureImageRoot(image: Image): Promise<ImageRoot> {
  const name = `root-${image.name.replaceAll(/[^A-Za-z0-9.]+/g, '-')}-${await fingerprint(image)}`;
  const home = await install({
    name,
    files: ['root'],
    doing: `unpacking the image ${image.name} (some seconds, once)`,
    tools: {},
    make: (into) => unpack(image, join(into, 'root')),
  });
  await utimes(home, new Date(), new Date()); // in use
  await removeFormer(name);
  return { folder: join(home, 'root'), image };
}
