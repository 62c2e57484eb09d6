/** Writes every generated file: `npm run generate`. A test fails where one of them is out of date. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CODES_PAGE } from '../src/ops/codes/codes.ts';
import { codesPage } from './codes-page.ts';
import { GENERATED_FOLDERS, generatedFiles } from '../src/resources/generated.ts';

const root = join(import.meta.dirname, '..');
const files = generatedFiles().set(CODES_PAGE, codesPage());

for (const folder of GENERATED_FOLDERS) {
  await mkdir(join(root, folder), { recursive: true });
  for (const name of await readdir(join(root, folder))) {
    if (!files.has(`${folder}/${name}`)) await rm(join(root, folder, name));
  }
}
for (const [path, content] of files) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}
process.stdout.write(`wrote ${files.size} files\n`);
