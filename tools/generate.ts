/** Writes every generated file: `npm run generate`. A test fails where one of them is out of date. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CODES_PAGE } from '../src/ops/codes/codes.ts';
import { CHART_FOLDERS, chartFiles } from './chart/chart.ts';
import { codesPage } from './codes-page.ts';
import { monitoringFiles } from './monitoring/monitoring.ts';
import { GENERATED_FOLDERS, generatedFiles } from '../src/resources/generated.ts';

const root = join(import.meta.dirname, '..');
const files = new Map([...generatedFiles(), ...chartFiles(), ...monitoringFiles(root)]).set(
  CODES_PAGE,
  codesPage(),
);

for (const folder of [...GENERATED_FOLDERS, ...CHART_FOLDERS]) {
  await mkdir(join(root, folder), { recursive: true });
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    if (entry.isFile() && !files.has(`${folder}/${entry.name}`)) await rm(join(root, folder, entry.name));
  }
}
for (const [path, content] of files) {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}
process.stdout.write(`wrote ${files.size} files\n`);
