import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { GENERATED_FOLDERS, generatedFiles } from './generated.ts';

const root = join(import.meta.dirname, '../..');

suite('generated files', () => {
  const files = generatedFiles();

  for (const [path, content] of files) {
    test(`${path} is up to date`, () => {
      const found = readFileSync(join(root, path), 'utf8');
      assert.ok(found === content, `${path} differs from the schemas: run \`npm run generate\``);
    });
  }

  test('nothing is left over from a kind that is gone', () => {
    const found = GENERATED_FOLDERS.flatMap((folder) =>
      readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
    );
    assert.deepEqual(
      found.filter((path) => !files.has(path)),
      [],
    );
  });
});
