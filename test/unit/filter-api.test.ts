/** `isthmus/filter` is what packages of others are compiled against: a change of its declarations is seen, and meant. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { workspace } from '../support/workspace.ts';

const root = resolve(import.meta.dirname, '../..');
const GOLDEN = join(root, 'test/fixtures/filter-api.txt');

/** What Kafka's messages are like is Kafka's to change; the API promises nothing about it. */
const OF_KAFKA = /^kafka\/(schemas\/|apis|errors)/;

const HINT = `
What isthmus/filter exports has changed, and packages of others are compiled against it.
 - Nothing that a filter of today does or has may stop compiling or come to mean something else, unless that is the next major version
   (before 1.0, the next minor one): see "Versions" in docs/own-filters.md. What is new is optional where filters make it.
 - Say it in CHANGELOG.md, and in docs/own-filters.md if authors of filters should know.
 - Then: ISTHMUS_GOLDEN=write npm test -- unit filter-api
`;

/** The declarations of each file, as `npm run build` emits them but without comments. */
function emit(): string {
  const folder = workspace('filter-api');
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = ['-p', 'tsconfig.filter.json', '--outDir', folder, '--removeComments'];
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...args], { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  return folder;
}

interface Declarations {
  /** By name; overloads of a function are one. */
  own: Map<string, string>;
  /** By name: the file that it comes from, without its ending. */
  imported: Map<string, string>;
}

function read(folder: string, file: string): Declarations {
  const own = new Map<string, string>();
  const imported = new Map<string, string>();
  // A statement begins at the start of a line, and what belongs to it is indented or a closing bracket.
  for (const statement of readFileSync(join(folder, `${file}.d.ts`), 'utf8').split(/^(?=[a-z])/m)) {
    const from = /^(?:import|export)(?: type)? \{([^}]*)\} from '(\..*)\.ts';/.exec(statement);
    const name = /^(?:export )?(?:declare )?(?:interface|type|const|function) (\w+)/.exec(statement)?.[1];
    if (from) {
      for (const each of from[1]!.split(',')) imported.set(each.trim(), join(file, '..', from[2]!));
      if (statement.startsWith('export')) own.set(statement, statement);
    } else if (name !== undefined) own.set(name, `${own.get(name) ?? ''}${statement}`);
  }
  return { own, imported };
}

/** What a filter can come to know of: everything that the entry exports, and all that is named in it. */
function reachable(folder: string, entry: string): string {
  const files = new Map<string, Declarations>();
  const found = new Map<string, string>();
  const visit = (file: string, name: string) => {
    if (OF_KAFKA.test(file) || found.has(`${file} ${name}`)) return;
    const { own, imported } = files.get(file) ?? read(folder, file);
    files.set(file, { own, imported });
    const text = own.get(name);
    if (text === undefined) return;
    found.set(`${file} ${name}`, text);
    for (const [word] of text.matchAll(/\b[A-Za-z]\w*/g))
      if (imported.has(word)) visit(imported.get(word)!, word);
      else visit(file, word);
  };
  for (const name of read(folder, entry).own.keys()) visit(entry, name);
  const byFile = Map.groupBy(found, ([key]) => key.split(' ')[0]!);
  return [...byFile]
    .map(([file, texts]) => `// ${file}\n${texts.map(([, text]) => text).join('')}`)
    .join('\n');
}

test('what packages with filters are compiled against changes only when that is meant', () => {
  const api = reachable(emit(), 'proxy/filter');
  for (const name of [
    'interface FilterType<Config>',
    'interface Peers',
    'interface Outbound',
    'type Draft<T>',
  ])
    assert.ok(api.includes(name), name);
  if (process.env['ISTHMUS_GOLDEN'] === 'write') writeFileSync(GOLDEN, api);
  assert.equal(api, readFileSync(GOLDEN, 'utf8'), HINT);
});
