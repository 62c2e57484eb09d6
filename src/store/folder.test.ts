import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { emptyContents, readFolder } from './folder.ts';

suite('a folder of YAML', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'isthmus-folder-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  test('documents are read in order, with the line of every field', () => {
    writeFileSync(join(folder, 'b.yaml'), 'kind: B\n');
    writeFileSync(join(folder, 'a.yml'), '# first\nkind: A\nspec:\n  list:\n    - x: 1\n---\nkind: A2\n');
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'sub/c.yaml'), 'kind: C\n');
    const { documents, problems } = readFolder(folder);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      documents.map(({ value }) => (value as { kind: string }).kind),
      ['A', 'A2', 'B', 'C'],
    );
    assert.equal(documents[0]!.line, 2);
    assert.equal(documents[0]!.lineOf(['spec', 'list', 0, 'x']), 5);
    assert.equal(documents[0]!.lineOf(['spec', 'list', 0, 'missing']), 5);
    assert.equal(documents[1]!.line, 7);
  });

  test('a broken file is a problem with its line, and hides no other file', () => {
    writeFileSync(join(folder, 'bad.yaml'), 'kind: A\nspec: [1\n');
    writeFileSync(join(folder, 'good.yaml'), 'kind: B\n');
    const { documents, problems } = readFolder(folder);
    assert.equal(documents.length, 1);
    assert.equal(basename(problems[0]!.file), 'bad.yaml');
    assert.ok(problems[0]!.line >= 2);
  });

  test('hidden files, other files and empty documents are passed over', () => {
    mkdirSync(join(folder, '.isthmus'));
    writeFileSync(join(folder, '.isthmus/state.yaml'), 'kind: A\n');
    writeFileSync(join(folder, 'README.md'), 'kind: A\n');
    writeFileSync(join(folder, 'empty.yaml'), '---\n---\n');
    assert.deepEqual(readFolder(folder), emptyContents());
  });

  test('a file by itself, with whatever the editors of this snapshot put into it', () => {
    const file = join(folder, 'one.txt');
    writeFileSync(
      file,
      '\uFEFFkind: A\r\nspec: &s\r\n  x: 1\r\n---\r\n---\r\nkind: B\r\nspec:\r\n  <<: { y: 2 }\r\n  x: 3\r\n',
    );
    const { documents, problems } = readFolder(file);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      documents.map(({ value }) => value),
      [
        { kind: 'A', spec: { x: 1 } },
        { kind: 'B', spec: { y: 2, x: 3 } },
      ],
    );
    assert.equal(documents[1]!.lineOf(['spec', 'x']), 9);
  });

  test('a List is what is in it, each with its line', () => {
    writeFileSync(
      join(folder, 'l.yaml'),
      'apiVersion: v1\nkind: List\nitems:\n- kind: A\n- kind: B\n  spec: 1\n',
    );
    const { documents } = readFolder(folder);
    assert.deepEqual(
      documents.map(({ value, line }) => [(value as { kind: string }).kind, line]),
      [
        ['A', 4],
        ['B', 5],
      ],
    );
    assert.equal(documents[1]!.lineOf(['spec']), 6);
  });

  test('what is wrong is said once where, and not in the words of the parser’s code', () => {
    writeFileSync(join(folder, 'd.yaml'), 'kind: A\nkind: B\n');
    const [problem] = readFolder(folder).problems;
    assert.deepEqual([problem!.line, problem!.message], [2, 'Map keys must be unique']);
  });

  test('a file too large to be a resource is refused unread', () => {
    writeFileSync(join(folder, 'big.yaml'), `a: ${'x'.repeat(1 << 20)}\n`);
    assert.match(readFolder(folder).problems[0]!.message, /at most 1048576 are read/);
  });
});
