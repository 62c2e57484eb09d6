/** Every filter has a page and an example: the examples load, and the pages name metrics and files that are there. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { checkProxyConfig } from '../../src/proxy/config/load.ts';
import { checkFilter, FILTER_TYPES } from '../../src/proxy/filters/registry.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const examples = globSync('deploy/examples/filters/*.yaml', { cwd: root });
const pages = globSync('src/proxy/filters/*/README.md', { cwd: root });
const nameOf = (path: string) => basename(path, '.yaml');

interface Example {
  filterDefinitions: { name: string; type: string; config: unknown }[];
}

suite('filters', () => {
  test('each has a folder, a page in it and an example, and there are no others', () => {
    const types = new Set(FILTER_TYPES.map(([first]) => first));
    const folders = globSync('src/proxy/filters/*/', { cwd: root });
    assert.deepEqual(new Set(folders.map((folder) => basename(folder))), types, 'folders');
    assert.deepEqual(new Set(pages.map((page) => basename(dirname(page)))), types, 'pages');
    assert.deepEqual(new Set(examples.map(nameOf)), types, 'examples');
  });

  for (const example of examples)
    test(`the example of ${nameOf(example)} is a configuration that is taken, filters and all`, async () => {
      const document = parse(read(example)) as Example;
      checkProxyConfig(document, example);
      for (const definition of document.filterDefinitions) await checkFilter(definition, definition.name);
      assert.equal(document.filterDefinitions[0]!.type, nameOf(example));
    });

  test('pages name metrics that the filter has, and link to files that are there', () => {
    for (const page of pages) {
      const text = read(page);
      const folder = dirname(page);
      const sources = globSync(`${folder}/*.ts`, { cwd: root }).map(read).join('\n');
      for (const [metric] of text.matchAll(/isthmus_filter_\w+/g))
        assert.ok(
          sources.includes(metric) ||
            sources.includes(metric.replace(/^isthmus_filter_record_encryption_/, '')),
          `${page}: ${metric}`,
        );
      for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)\)/g))
        assert.ok(existsSync(resolve(root, folder, target)), `${page} links to ${target}`);
    }
  });
});
