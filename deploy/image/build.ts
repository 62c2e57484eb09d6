/**
 * Builds the isthmus image from dist/ (run `npm run build` first), and its bill of materials beside it (CycloneDX, .cdx.json):
 *   node tools/run.mjs deploy/image/build.ts [--name isthmus:0.1.0] [--archive isthmus.tar | --stage FOLDER]
 */
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { nodePackage } from '../../tools/install.mjs';
import { writeArchive } from './archive.ts';
import { isthmusImage, packages } from './contents.ts';
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
    archive: { type: 'string' },
    stage: { type: 'string' },
  },
});

const image = await isthmusImage(values.name);

function writeBill(beside: string): void {
  const [name = '', version = packageJson.version] = values.name.split(/:(?=[^:/]*$)/);
  const entries = treeOf(image.contents);
  const bill = billOfMaterials({ name, version, node: nodePackage(), packages: packages(), entries });
  writeFileSync(`${beside}.cdx.json`, `${JSON.stringify(bill, null, 2)}\n`);
}

if (values.stage !== undefined) {
  mkdirSync(values.stage, { recursive: true });
  for (const entry of treeOf(image.contents)) stage(entry, values.stage);
  writeBill(values.stage);
  process.stdout.write(`${resolve(values.stage)}: the files of ${image.name}\n`);
} else {
  const archive = values.archive ?? 'isthmus.tar';
  const size = await writeArchive(image, archive);
  writeBill(archive.replace(/\.tar$/, ''));
  process.stdout.write(`${resolve(archive)}: ${image.name}, ${(size / 1e6).toFixed(1)} MB\n`);
}
