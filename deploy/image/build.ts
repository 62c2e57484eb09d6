/**
 * Builds the isthmus image from dist/ (run `npm run build` first), and its bill of materials beside it (CycloneDX, .cdx.json):
 *   node tools/run.mjs deploy/image/build.ts [--name isthmus:0.1.0] [--arch amd64,arm64] [--archive isthmus.tar | --stage FOLDER]
 */
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { nodePackage } from '../../tools/install.mjs';
import { writeArchive, writeIndexArchive } from './archive.ts';
import { isthmusImage, packages } from './contents.ts';
import { architectureOf } from './image.ts';
import type { Image } from './image.ts';
import { ARCHITECTURES, MACHINE, PLATFORMS } from './platform.ts';
import type { Architecture } from './platform.ts';
import { billOfMaterials } from './sbom.ts';
import { treeOf } from './tree.ts';
import type { Entry } from './tree.ts';

function stage(entry: Entry, folder: string): void {
  const path = join(folder, entry.path);
  if (entry.type === 'directory') mkdirSync(path, { recursive: true });
  else if (entry.type === 'link') symlinkSync(entry.target, path);
  else if (entry.type === 'text') writeFileSync(path, entry.text);
  else copyFileSync(entry.source, path);
  if (entry.type !== 'link') chmodSync(path, entry.mode);
}

const { values } = parseArgs({
  options: {
    name: { type: 'string', default: `isthmus:${packageJson.version}` },
    arch: { type: 'string', default: MACHINE },
    archive: { type: 'string', default: 'isthmus.tar' },
    stage: { type: 'string' },
  },
});

function architecturesOf(list: string): Architecture[] {
  const words = [...new Set(list.split(','))];
  const known = ARCHITECTURES.filter((one) => words.includes(one));
  if (known.length < words.length) throw new Error(`--arch takes ${ARCHITECTURES.join(', ')}, not ${list}`);
  return known;
}

function writeBill(image: Image, beside: string): void {
  const [name = '', version = packageJson.version] = values.name.split(/:(?=[^:/]*$)/);
  const architecture = architectureOf(image);
  const bill = billOfMaterials({
    name,
    version,
    architecture,
    node: nodePackage('linux', PLATFORMS[architecture].cpu),
    packages: packages(),
    entries: treeOf(image.contents),
  });
  writeFileSync(`${beside}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`);
}

const images: Image[] = [];
for (const architecture of architecturesOf(values.arch))
  images.push(await isthmusImage(values.name, undefined, architecture));
const [first, ...others] = images as [Image, ...Image[]];

if (values.stage !== undefined) {
  if (others.length > 0) throw new Error('--stage is for one architecture: call it once for each');
  mkdirSync(values.stage, { recursive: true });
  for (const entry of treeOf(first.contents)) stage(entry, values.stage);
  writeBill(first, values.stage);
  process.stdout.write(`${resolve(values.stage)}: the files of ${first.name}\n`);
} else {
  const { archive } = values;
  const isOne = others.length === 0;
  const size = await (isOne ? writeArchive(first, archive) : writeIndexArchive([first, ...others], archive));
  const beside = archive.replace(/\.tar$/, '');
  for (const image of images) writeBill(image, isOne ? beside : `${beside}.${architectureOf(image)}`);
  const platforms = images.map(architectureOf).join(' and ');
  process.stdout.write(
    `${resolve(archive)}: ${first.name} for ${platforms}, ${(size / 1e6).toFixed(1)} MB\n`,
  );
}
