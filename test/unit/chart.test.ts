/** The chart is what the code says, and has every choice that `isthmus install` has. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { suite, test } from 'node:test';
import { createProgram } from '../../src/cli/program.ts';
import { chartFiles } from '../../tools/chart/chart.ts';
import { VALUES } from '../../tools/chart/values.ts';

const root = resolve(import.meta.dirname, '../..');

suite('chart', () => {
  test('its files are those that are generated', () => {
    const files = chartFiles();
    const found = globSync(['deploy/chart/**/*.*', 'deploy/kustomize/*'], { cwd: root });
    assert.deepEqual(found.toSorted(), [...files.keys()].toSorted());
    for (const [path, content] of files)
      assert.ok(readFileSync(join(root, path), 'utf8') === content, `${path}: run \`npm run generate\``);
  });

  test('has a value for every option of install', () => {
    const silent = { out: () => {}, err: () => {}, exitCode: 0 as const };
    const install = createProgram(silent).commands.find((command) => command.name() === 'install')!;
    // The namespace is that of the release, and Helm prints in its own way.
    const elsewhere = new Set(['namespace', 'output']);
    const names = install.options.map((option) =>
      option.attributeName() === 'kafkaImage' ? 'kafkaImages' : option.attributeName(),
    );
    const lacking = names.filter((name) => !elsewhere.has(name) && !(name in VALUES));
    assert.deepEqual(lacking, []);
    assert.deepEqual(
      Object.keys(VALUES).filter((name) => !names.includes(name)),
      [],
    );
  });
});
