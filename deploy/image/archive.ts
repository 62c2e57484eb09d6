/**
 * Writes a container image as a docker-archive, which every engine and containerd can load, without an engine: the
 * format is a tar with one tar a layer, a config and a manifest. The same contents give the same bytes.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { treeOf } from './tree.ts';
import type { Content, Entry } from './tree.ts';

/** An image: what is in it and how it runs. */
export interface Image {
  /** Reference with a tag, e.g. `isthmus:0.1.0`. */
  name: string;
  contents: readonly Content[];
  entrypoint: readonly string[];
  command?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** Numeric `uid:gid`, because an image without a shell has no one to look names up. */
  user?: string;
  workdir?: string;
}

const BLOCK = 512;
const TYPES = { file: '0', text: '0', link: '2', directory: '5', pax: 'x' } as const;

interface Header {
  path: string;
  type: keyof typeof TYPES;
  mode: number;
  size: number;
  target?: string;
}

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`;
const padding = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** Splits a path at a slash so that it fits the 155 + 100 bytes of a header, if it can. */
function split(path: string): { prefix: string; name: string } | undefined {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { prefix, name };
  }
  return undefined;
}

/** A record `length key=value\n` of an extended header; the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (String(length).length + Buffer.byteLength(rest) !== length)
    length = String(length).length + Buffer.byteLength(rest);
  return `${length}${rest}`;
}

/** The header block of an entry, after an extended header where a name is too long for it. */
export function header({ path, type, mode, size, target = '' }: Header): Buffer {
  const place = split(path);
  const longTarget = Buffer.byteLength(target) > 100;
  if (!place || longTarget) {
    const records = Buffer.from(paxRecord('path', path) + (longTarget ? paxRecord('linkpath', target) : ''));
    const before = header({ path: 'pax', type: 'pax', mode: 0o644, size: records.length });
    const short = { path: path.slice(-90), type, mode, size, target: target.slice(0, 90) };
    return Buffer.concat([before, records, padding(records.length), header(short)]);
  }
  const block = Buffer.alloc(BLOCK);
  block.write(place.name, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108); // owned by root
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136); // from 1970
  block.write(' '.repeat(8), 148);
  block.write(TYPES[type], 156);
  block.write(target, 157);
  block.write('ustar\x0000', 257);
  block.write(place.prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)} `, 148);
  return block;
}

async function* tarEntry(entry: Entry): AsyncGenerator<Buffer> {
  if (entry.type === 'file') {
    yield header(entry);
    yield* createReadStream(entry.source) as AsyncIterable<Buffer>;
    yield padding(entry.size);
  } else if (entry.type === 'text') {
    const data = Buffer.from(entry.text);
    yield Buffer.concat([header({ ...entry, size: data.length }), data, padding(data.length)]);
  } else if (entry.type === 'directory') {
    yield header({ ...entry, path: `${entry.path}/`, size: 0 });
  } else {
    yield header({ ...entry, size: 0 });
  }
}

async function* tar(entries: readonly Entry[]): AsyncGenerator<Buffer> {
  for (const entry of entries) yield* tarEntry(entry);
  yield Buffer.alloc(2 * BLOCK);
}

const hex = (data: string) => createHash('sha256').update(data).digest('hex');

function configOf(image: Image, layer: string): string {
  const environment = { PATH: '/usr/local/bin:/usr/bin:/bin', ...image.environment };
  return JSON.stringify({
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: {
      User: image.user ?? '0:0',
      Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
      Entrypoint: image.entrypoint,
      Cmd: image.command ?? [],
      WorkingDir: image.workdir ?? '/',
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'isthmus deploy/image' }],
  });
}

async function writeLayer(entries: readonly Entry[], path: string): Promise<string> {
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const chunk of tar(entries)) {
      hash.update(chunk);
      yield chunk;
    }
  }
  await pipeline(hashed, createWriteStream(path));
  return hash.digest('hex');
}

/** Writes the image's archive, whole or not at all. Returns its size in bytes. */
export async function writeArchive(image: Image, path: string): Promise<number> {
  const layerFile = `${path}.${process.pid}.layer`;
  const fresh = `${path}.${process.pid}.new`;
  try {
    const layer = await writeLayer(treeOf(image.contents), layerFile);
    const config = configOf(image, layer);
    const manifest = [{ Config: `${hex(config)}.json`, RepoTags: [image.name], Layers: [`${layer}.tar`] }];
    const outer: Entry[] = [
      { path: `${hex(config)}.json`, type: 'text', mode: 0o644, text: config },
      {
        path: `${layer}.tar`,
        type: 'file',
        mode: 0o644,
        source: layerFile,
        size: (await stat(layerFile)).size,
      },
      { path: 'manifest.json', type: 'text', mode: 0o644, text: JSON.stringify(manifest) },
    ];
    await pipeline(tar(outer), createWriteStream(fresh));
    await rename(fresh, path);
    return (await stat(path)).size;
  } finally {
    await rm(layerFile, { force: true });
    await rm(fresh, { force: true });
  }
}
