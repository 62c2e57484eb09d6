/** What the design documents print is understood. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { parseResource } from '../../src/resources/parse.ts';
import { DOCUMENTS_FOLDER, FIXTURES_FOLDER, extractManifests } from '../../tools/extract-manifests.ts';
import { applyEdits, fill, leaveOut, placeholdersIn } from '../../tools/documents/edits.ts';
import { readCases } from '../crds/cases.ts';
import { readManifests } from '../fixtures/documents.ts';

const manifests = readManifests();

suite('documents', () => {
  for (const { name, yaml } of manifests) {
    test(`${name} is understood, and stays the same when it is read again`, () => {
      const parsed = parseResource(parse(yaml));
      if (!parsed.ok && parsed.unknownKind) {
        assert.match(name, /serviceaccount|role|secret|config/, 'a kind that should be known');
        return;
      }
      assert.ok(parsed.ok, JSON.stringify(parsed));
      assert.deepStrictEqual(parseResource(parsed.resource), parsed);
    });
  }

  test('the annotation that is printed as key=value counts', () => {
    const variation = manifests.find(({ yaml }) => yaml.includes('serving-cert-secret-name='));
    const parsed = parseResource(parse(variation!.yaml));
    assert.ok(parsed.ok && parsed.resource.kind === 'VirtualKafkaCluster');
    assert.deepEqual(parsed.resource.spec.ingresses[0]?.infrastructure.annotations, {
      'service.beta.openshift.io/serving-cert-secret-name': 'myservingcert',
    });
  });

  if (existsSync(DOCUMENTS_FOLDER)) {
    test('the fixtures are what the documents print', () => {
      const found = globSync('*/*.yaml', { cwd: FIXTURES_FOLDER });
      const files = new Map(found.map((path) => [path, readFileSync(join(FIXTURES_FOLDER, path), 'utf8')]));
      const printed = extractManifests(DOCUMENTS_FOLDER);
      assert.deepEqual([...files.keys()].toSorted(), [...printed.keys()].toSorted());
      for (const [path, content] of printed) assert.equal(files.get(path), content, path);
    });
  }
});

suite('valid cases', () => {
  for (const { name, yaml, expected } of readCases()) {
    if (expected !== undefined) continue;
    test(`${name} stays the same when it is read again`, () => {
      const parsed = parseResource(parse(yaml));
      assert.ok(parsed.ok);
      assert.deepStrictEqual(parseResource(parsed.resource), parsed);
    });
  }
});

suite('edits', () => {
  const printed = ['a:', '  ...', 'b:', '  ...', 'c: X|Y ', 'd: 1'];

  test('change the lines they are for, and say why', () => {
    const edited = applyEdits(printed, [
      fill('  ...', '  x: 1', 'first', 'a:'),
      leaveOut('b:', 'd: 1', 'not this time'),
    ]);
    assert.deepEqual(edited.lines, ['a:', '  x: 1', 'd: 1']);
    assert.deepEqual(edited.notes, ['# "..." → "x: 1": first', '# without "b:": not this time']);
  });

  test('refuse a document that does not print the line', () => {
    assert.throws(() => applyEdits(printed, [fill('e:', 'f:', 'why')]), /nothing printed is "e:"/);
  });

  test('placeholders are found, except in comments', () => {
    const lines = [...printed, 'n: <name>', '# e.g. <this>', 'k: v # or X|Y: ...'];
    assert.deepEqual(placeholdersIn(lines), ['  ...', '  ...', 'c: X|Y ', 'n: <name>']);
  });
});
