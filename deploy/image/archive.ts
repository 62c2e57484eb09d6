/**
 * Writes container images without an engine, whole or not at all, the same bytes for the same contents. For one platform a
 * docker-archive, which every engine and containerd can load: a tar with one tar a layer, a config and a manifest. For several an
 * OCI layout with an image index: https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { architectureOf, configOf, sha256, writeLayer } from './image.ts';
import type { Image, Layer } from './image.ts';
import { tar } from './tar.ts';
import type { Entry } from './tree.ts';

/** Writes the archive of an image for one platform. Returns its size in bytes. */
export function writeArchive(image: Image, path: string): Promise<number> {
  return writeWhole(path, async (folder) => {
    const layerFile = join(folder, 'layer');
    const layer = await writeLayer(image, layerFile, false);
    const config = configOf(image, layer);
    const configName = `${sha256(config)}.json`;
    const layerName = `${layer.digest}.tar`;
    const manifest = [{ Config: configName, RepoTags: [image.name], Layers: [layerName] }];
    return [
      textEntry(configName, config),
      fileEntry(layerName, layerFile, layer),
      textEntry('manifest.json', JSON.stringify(manifest)),
    ];
  });
}

/** Writes one archive of an image for several platforms: all have one name. Returns its size in bytes. */
export function writeIndexArchive(images: readonly [Image, ...Image[]], path: string): Promise<number> {
  return writeWhole(path, async (folder) => {
    const blobs = new Map<string, Entry>();
    const manifests: Descriptor[] = [];
    for (const image of images) {
      const layerFile = join(folder, architectureOf(image));
      const layer = await writeLayer(image, layerFile, true);
      blobs.set(layer.digest, fileEntry(`${BLOBS}/${layer.digest}`, layerFile, layer));
      const platform = { os: 'linux', architecture: architectureOf(image) };
      manifests.push({ ...manifestOf(image, layer, blobs), platform });
    }
    const index = blobOf({ schemaVersion: 2, mediaType: INDEX, manifests }, INDEX, blobs);
    // By the one name containerd knows it, by the other everyone who reads OCI layouts.
    const { name } = images[0];
    const tag = name.split(':').at(-1);
    const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': tag };
    const top = { schemaVersion: 2, mediaType: INDEX, manifests: [{ ...index, annotations }] };
    return [
      textEntry('oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' })),
      textEntry('index.json', JSON.stringify(top)),
      ...blobs.values(),
    ];
  });
}

const BLOBS = 'blobs/sha256';
const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** How one part of an OCI image names another. */
interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { os: string; architecture: string };
}

function manifestOf(image: Image, layer: Layer, blobs: Map<string, Entry>): Descriptor {
  const config = blobOf(configOf(image, layer), CONFIG, blobs);
  const layers = [{ mediaType: LAYER, digest: `sha256:${layer.digest}`, size: layer.size }];
  return blobOf({ schemaVersion: 2, mediaType: MANIFEST, config, layers }, MANIFEST, blobs);
}

/** Puts a document among the blobs. */
function blobOf(document: object | string, mediaType: string, blobs: Map<string, Entry>): Descriptor {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const digest = sha256(text);
  blobs.set(digest, textEntry(`${BLOBS}/${digest}`, text));
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
}

const textEntry = (path: string, text: string): Entry => ({ path, type: 'text', mode: 0o644, text });
const fileEntry = (path: string, source: string, { size }: Layer): Entry => ({
  path,
  type: 'file',
  mode: 0o644,
  source,
  size,
});

/** Writes the archive of what `make` returns, which may leave files in a folder until then. */
async function writeWhole(path: string, make: (folder: string) => Promise<Entry[]>): Promise<number> {
  const folder = await mkdtemp(join(dirname(path), '.image-'));
  try {
    const fresh = join(folder, 'archive');
    await pipeline(tar(await make(folder)), createWriteStream(fresh));
    await rename(fresh, path);
    return (await stat(path)).size;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
