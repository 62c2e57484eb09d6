/** What a container image is, and the parts that it has in every format: its one layer and its config. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { MACHINE } from './platform.ts';
import type { Architecture } from './platform.ts';
import { tar } from './tar.ts';
import { treeOf } from './tree.ts';
import type { Content } from './tree.ts';

/** An image: what is in it and how it runs. */
export interface Image {
  /** Reference with a tag, e.g. `isthmus:0.1.0`. */
  name: string;
  /** That of this machine if left out. */
  architecture?: Architecture;
  contents: readonly Content[];
  entrypoint: readonly string[];
  command?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** Numeric `uid:gid`, because an image without a shell has no one to look names up. */
  user?: string;
  workdir?: string;
}

export const architectureOf = ({ architecture = MACHINE }: Image): Architecture => architecture;

/** A layer that was written to a file. */
export interface Layer {
  /** SHA-256 of the file, and of the tar that is in it. */
  digest: string;
  diffId: string;
  size: number;
}

export const sha256 = (data: string) => createHash('sha256').update(data).digest('hex');

/** Writes all of the image's files as one layer, compressed if it is not to be loaded but pushed. */
export async function writeLayer(image: Image, path: string, compressed: boolean): Promise<Layer> {
  const [plain, written] = [createHash('sha256'), createHash('sha256')];
  const hashing = (hash: typeof plain) =>
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
  const packing = compressed ? createGzip() : new PassThrough();
  await pipeline(
    tar(treeOf(image.contents)),
    hashing(plain),
    packing,
    hashing(written),
    createWriteStream(path),
  );
  return { digest: written.digest('hex'), diffId: plain.digest('hex'), size: (await stat(path)).size };
}

/** How it runs, as JSON. Without a time of its own, so that the same image has the same config. */
export function configOf(image: Image, layer: Layer): string {
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', ...image.environment };
  return JSON.stringify({
    architecture: architectureOf(image),
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: {
      User: image.user ?? '0:0',
      Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
      Entrypoint: image.entrypoint,
      Cmd: image.command ?? [],
      WorkingDir: image.workdir ?? '/',
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer.diffId}`] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'isthmus deploy/image' }],
  });
}
